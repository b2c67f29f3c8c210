import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import ts from 'typescript';

/** Bundles a module that imports from the generated functions of the dashboard, as a browser application does. */
async function bundle(text: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: text, resolveDir: 'src/generated/dashboard', loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['trellis-source'],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

const client =
  "import { createDashboardClient } from './client.js';\nexport const client = createDashboardClient('/');\n";

test('a program contains the functions that it imports, and no others', async () => {
  const text = await bundle(
    `${client}import { getVersion } from './calls.js';\nexport const version = getVersion(client);`,
  );
  expect(text).toContain('/api/version');
  expect(text).not.toContain('/api/dashboard');
  expect(text).not.toContain('text/event-stream');
});

test('a function adds at most 100 bytes to a program that has one already', async () => {
  const size = async (names: string) =>
    gzipSync(await bundle(`${client}import { ${names} } from './calls.js';\nexport const calls = [${names}];`)).length;
  const [one, two] = [await size('getVersion'), await size('getVersion, getDashboard')];
  expect(two - one).toBeLessThan(100);
});

/** Returns the documentation that an editor shows for a function. */
function readDocumentation(name: string): string {
  const file = 'src/generated/dashboard/calls.ts';
  const source = ts.createSourceFile(file, ts.sys.readFile(file) ?? '', ts.ScriptTarget.Latest, true);
  const statement = source.statements.find(
    (one) => ts.isVariableStatement(one) && one.declarationList.declarations[0]?.name.getText() === name,
  );
  const [comment] = statement === undefined ? [] : ts.getJSDocCommentsAndTags(statement);
  return comment?.getText() ?? '';
}

test('a function has the description and the errors of its operation', () => {
  const text = readDocumentation('getVersion');
  expect(text).toContain('Get the running release');
  expect(text).toContain('so that clients can detect which version they are connected to');
  expect(text).toContain('429 `rate_limited`');
});

test.each(['dashboard', 'secrets'])('the functions of %s have declarations that need no other file', (service) => {
  const compilerOptions = { declaration: true, isolatedDeclarations: true, target: ts.ScriptTarget.ES2023 };
  for (const name of ['calls', 'client', 'operations', 'revision']) {
    const fileName = `src/generated/${service}/${name}.ts`;
    const { diagnostics = [] } = ts.transpileDeclaration(ts.sys.readFile(fileName) ?? '', {
      compilerOptions,
      fileName,
    });
    expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
  }
});
