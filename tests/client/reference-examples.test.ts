import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import type { ReferenceContract } from '../../packages/server/src/pages/browser/globals.d.ts';

const NO_CLIENT = { create: 'create', from: '', calls: '' };

const SERVICES = [
  ['dashboard', { create: 'createDashboardClient', from: 'trellis-client', calls: 'trellis-client/calls' }],
  ['secrets', { create: 'createSecretsClient', from: 'trellis-client/secrets', calls: 'trellis-client/secrets/calls' }],
] as const;

const ORIGIN = 'http://localhost:4000';

/** The modules of the package by the files that they are built from. */
const MODULES = {
  'trellis-client': ['./src/generated/dashboard/client.ts'],
  'trellis-client/calls': ['./src/generated/dashboard/calls.ts'],
  'trellis-client/secrets': ['./src/generated/secrets/client.ts'],
  'trellis-client/secrets/calls': ['./src/generated/secrets/calls.ts'],
};

/** A script of the page, which has no types of its own. */
const SCRIPT = new URL('../../packages/server/src/pages/browser/reference-examples.js', import.meta.url).href;

beforeAll(() => import(SCRIPT));

/** Returns the operations of a contract, each with its path and method. */
function listOperations(service: string): {
  contract: ReferenceContract;
  operations: [id: string, path: string, method: string][];
} {
  const contract = JSON.parse(readFileSync(`src/generated/${service}/openapi.json`, 'utf8')) as ReferenceContract;
  const operations = Object.entries(contract.paths).flatMap(([address, item]) =>
    Object.entries(item).flatMap(([method, operation]): [string, string, string][] =>
      operation?.operationId === undefined ? [] : [[operation.operationId, address, method]],
    ),
  );
  return { contract, operations };
}

describe('examples of the API reference', () => {
  test('compile against the generated clients, one for each operation except deliveries of webhooks', () => {
    const files = new Map<string, string>();
    const without: string[] = [];
    for (const [service, client] of SERVICES) {
      const { contract, operations } = listOperations(service);
      expect(operations.length).toBeGreaterThan(30);
      for (const [id, address, method] of operations) {
        const text = operationExamples.toClientCall(ORIGIN, client, contract, address, method);
        if (text === '') without.push(id);
        else files.set(path.resolve(`${service}-${id}.mts`), text);
      }
    }
    expect(without.sort()).toEqual(['deliverForgejo', 'deliverGithub', 'deliverGitlab']);
    expect(compile(files)).toEqual([]);
  }, 60_000);

  test('a command fills path and body, and names the token', () => {
    const { contract } = listOperations('secrets');
    const command = operationExamples.toCommand(ORIGIN, contract, '/objects/{slug}', 'patch');
    expect(command.split(' \\\n  ')).toEqual([
      `curl -X PATCH '${ORIGIN}/secrets/objects/db-password'`,
      '-H "Authorization: Bearer $TOKEN"',
      "-H 'Content-Type: application/json'",
      `--data-raw '{"slug":"shop-db-password"}'`,
    ]);
  });

  test('an unknown operation has no example', () => {
    const { contract } = listOperations('secrets');
    expect(operationExamples.toCommand(ORIGIN, contract, '/nothing', 'get')).toBe('');
    expect(operationExamples.toClientCall(ORIGIN, NO_CLIENT, contract, '/nothing', 'get')).toBe('');
  });
});

/** Compiles files that exist in memory only. Returns the errors. */
function compile(files: ReadonlyMap<string, string>): string[] {
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true },
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, customConditions: ['trellis-source'] },
    ...{ lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: ['node'], paths: MODULES },
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const program = ts.createProgram([...files.keys()], options, {
    ...host,
    fileExists: (file) => files.has(file) || host.fileExists(file),
    readFile: (file) => files.get(file) ?? host.readFile(file),
    getSourceFile(file, ...rest) {
      const text = files.get(file);
      return text === undefined ? host.getSourceFile(file, ...rest) : ts.createSourceFile(file, text, rest[0]);
    },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${path.basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}
