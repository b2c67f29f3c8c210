import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from '@trellis/codegen/documents';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The hand-written sources of the product and of the packages. */
const SOURCES = /^(?:src\/(?!generated\/)|packages\/[^/]+\/src\/).*\.tsx?$/u;

/** The names that several files export, with the reason why they mean the same thing in each. */
const SHARED_NAMES: readonly (readonly [reason: string, names: readonly string[]])[] = [
  [
    'each forge has an implementation of the same function',
    ['belongsOnBoard', 'toRepository', 'toForgePullRequest', 'toForgeIssue'],
  ],
  [
    'each forge has its form of the same response or query',
    ['IssueNode', 'RepositoryNode', 'PullRequestNode', 'JobNode', 'DISCOVER', 'MORE_ISSUES'],
  ],
  ['both services have handlers for a tag of this name', ['authHandlers', 'credentialsHandlers', 'tokensHandlers']],
  [
    'pages and command line use the type of the contract, and the server that of its domain',
    [
      'PullRequest',
      'Issue',
      'Board',
      'ForgeName',
      'ApiQuota',
      'Throughput',
      'ReviewInsights',
      'Settings',
      'SettingsRequest',
      'ObjectMetadata',
    ],
  ],
  ['the server cannot import the generator, which reads the same values', ['HttpMethod']],
  ['the server declares what it needs of these', ['Caller', 'CredentialSource', 'IdempotencyStore']],
  ['a service and the migration of its tables have one name', ['dashboard', 'secrets']],
  ['GraphQL Code Generator loads presets by this name', ['preset']],
];

const listBelow = async (folder: string): Promise<string[]> =>
  (await listFiles(path.join(root, folder))).map((file) => `${folder}/${file}`);

test('exports: a name is declared in one file, or means the same in all of them', async () => {
  const files = (await Promise.all(['src', 'packages'].map(listBelow))).flat().filter((file) => SOURCES.test(file));
  const declarations = new Map<string, string[]>();
  for (const file of files) {
    for (const name of readExports(await readFile(path.join(root, file), 'utf8'))) {
      declarations.set(name, [...(declarations.get(name) ?? []), file]);
    }
  }
  const repeated = [...declarations].filter(([, declaredIn]) => declaredIn.length > 1).map(([name]) => name);
  expect(repeated.sort()).toEqual(SHARED_NAMES.flatMap(([, names]) => names).sort());
});

/** Lists the names that a file declares and exports, once each. Re-exports do not declare a name. */
function readExports(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest).statements) {
    if (!ts.canHaveModifiers(statement)) continue;
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const { name } of declared as readonly { readonly name?: ts.Node }[]) {
      if (name && ts.isIdentifier(name)) names.add(name.text);
    }
  }
  return names;
}
