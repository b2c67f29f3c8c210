/** Generates the contract of a row of the OpenAPI tables, and serves it. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic } from '@trellis/codegen/documents';
import { generateService } from '@trellis/codegen/openapi/preset';
import { requestBounds } from '@trellis/server/http/admission';
import type { AnyAuthenticators, BasicCredential, IdentifiedCaller } from '@trellis/server/http/credentials';
import { createLog, requestContext } from '@trellis/server/http/request';
import { errorHandler, notFoundHandler } from '@trellis/server/http/responses';
import type { SchemeSpec } from '@trellis/server/http/security';
import { createHttpServer } from '@trellis/server/http/server';
import type { HandlerRequest, HandlerResponse, OperationSpec } from '@trellis/server/rest/operation';
import { contractRouter } from '@trellis/server/rest/router';
import express from 'express';
import type { Row } from './row.js';

/** The document that the contract of every row may refer to. */
const COMMON = `openapi: 3.1.0
info: { title: Common, version: 1.0.0 }
components:
  securitySchemes:
    session: { type: apiKey, in: cookie, name: sid, x-caller: session }
    token: { type: http, scheme: bearer, x-caller: token }
  responses:
    Echo:
      description: The input of the handler.
      content:
        application/json: { schema: { type: object, additionalProperties: true } }
    Refused:
      description: Refused.
      content:
        application/json: { schema: { $ref: '#/components/schemas/Error' } }
  schemas:
    Error:
      type: object
      required: [error, code, requestId]
      properties:
        error: { type: string }
        code: { type: string }
        field: { type: string }
        requestId: { type: string }
`;

/** What a row leaves out, by its first key. It follows the contract, so that the lines of the row stay the same. */
const SURROUNDINGS = [
  'openapi: 3.1.0',
  'info: { title: Example, version: 1.0.0, license: { name: MIT, identifier: MIT } }',
  'servers: [{ url: /api }]',
  'tags: [{ name: Items, description: Examples. }]',
  'security: []',
  'paths: {}',
];

const FILE = 'openapi/example.yaml';

function toDocument(contract: string): string {
  if (contract.startsWith('{')) return contract;
  const missing = SURROUNDINGS.filter((line) => !new RegExp(`^${line.split(':')[0] ?? ''}:`, 'mu').test(contract));
  return [contract.trimEnd(), ...missing, ''].join('\n');
}

const CALLERS = `export type SessionCaller = { readonly kind: 'session'; readonly personId: string; readonly isAdmin: boolean };
export type TokenCaller = { readonly kind: 'token'; readonly tokenId: string; readonly scopes?: readonly string[] };
export type Caller = SessionCaller | TokenCaller;
`;

/** The generated files of a row. */
export interface GeneratedRow {
  readonly files: ReadonlyMap<string, string>;
  readonly warnings: readonly Diagnostic[];
}

type GeneratedParts = Pick<Row, 'contract' | 'documents'>;

/** Generates the contract of a row. @throws ContractError */
export async function generateRow({ contract, documents: others = {} }: GeneratedParts): Promise<GeneratedRow> {
  const config = {
    service: 'example',
    tokenVariable: 'EXAMPLE_TOKEN',
    modules: {
      callers: './callers.js',
      client: '@trellis/client/create-client',
      clientCall: '@trellis/client/call',
      clientErrors: '@trellis/client/errors',
      clientEvents: '@trellis/client/events',
      clientOptions: '@trellis/client/create-client',
      clientPaging: '@trellis/client/paging',
      clientPaths: '@trellis/client/paths',
      clientRetry: '@trellis/client/retry',
      operation: '@trellis/server/rest/operation',
    },
  };
  const documents = new Map([[FILE, toDocument(contract)], ['openapi/common.yaml', COMMON], ...Object.entries(others)]);
  const { files, warnings = [] } = await generateService(config, documents);
  return { files, warnings };
}

/** Formats a diagnostic as the rows contain it. */
export function formatDiagnostic({ file, line, column, message }: Diagnostic): string {
  return `${file === FILE ? '' : `${file}:`}${line}:${column} ${message}`;
}

/** Writes the generated files of a row to a folder, with its handlers and its program. */
export async function writeRow(folder: string, row: Row, { files }: GeneratedRow): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { handlers, program } = row.outcome === 'supported' ? row : {};
  const own = new Map([...files, ['callers.ts', CALLERS]]);
  if (handlers !== undefined) {
    const text = `import type { ExampleHandlers } from './operations.js';\nexport const handlers: ExampleHandlers = {\n${handlers}\n};\n`;
    own.set('handlers.ts', text);
  }
  if (program !== undefined) {
    const imports = `import assert from 'node:assert/strict';\nimport type { ExampleClient } from './client.js';\n`;
    own.set(
      'program.ts',
      `${imports}export default async (client: ExampleClient): Promise<void> => {\nvoid client;\n${program}\n};\nvoid assert;\n`,
    );
  }
  for (const [name, text] of own) await writeFile(path.join(folder, name), text);
}

/** The parts of the generated modules that serving needs. */
interface GeneratedModules {
  readonly operations: {
    readonly basePath: string;
    readonly revision: string;
    readonly schemes: Readonly<Record<string, SchemeSpec>>;
    readonly operations: readonly OperationSpec[];
  };
  readonly client: { readonly createExampleClient: (baseUrl: string, options: object) => GenericClient };
  readonly handlers: { readonly handlers: object } | undefined;
  readonly program: { readonly default: (client: GenericClient) => Promise<void> } | undefined;
}

type GenericCall = (path: string, init: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
export type GenericClient = Readonly<
  Record<'DELETE' | 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH' | 'POST' | 'PUT', GenericCall>
>;

export interface ServedRow {
  readonly port: number;
  readonly operations: readonly OperationSpec[];
  readonly schemes: Readonly<Record<string, SchemeSpec>>;
  readonly client: GenericClient;
  readonly program: (() => Promise<void>) | undefined;
  close(): void;
}

export interface ServeOptions {
  readonly implement?: (operations: readonly OperationSpec[]) => object;
  readonly authenticate?: Parameters<typeof contractRouter>[0]['authenticate'];
}

/** Serves a written row on a free port of the loopback interface, with all the checks of the contract. */
export async function serveRow(
  folder: string,
  row: Row,
  { implement = createEchoHandlers, authenticate }: ServeOptions = {},
): Promise<ServedRow> {
  const modules = await importModules(folder, row);
  const { basePath, operations, revision, schemes } = modules.operations;
  const log = createLog({ level: 'silent' });
  const app = express().use(requestContext({ log }), requestBounds());
  const router = contractRouter({
    basePath,
    operations,
    revision,
    schemes,
    handlers: { ...implement(operations), ...modules.handlers?.handlers },
    authenticate: authenticate ?? createAuthenticators(schemes),
    replays: { answerOnce: (_request, answer) => answer() },
    validateResponses: true,
  });
  app.use(router, notFoundHandler(), errorHandler({ log }));
  const server = createHttpServer(app, { log }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const options = { token: '', retry: { maxRetries: 0 } };
  const client = modules.client.createExampleClient(`http://127.0.0.1:${port}${basePath}`, options);
  const run = modules.program?.default;
  return {
    port,
    operations,
    schemes,
    client,
    program: run && (() => run(client)),
    close: () => server.close().closeAllConnections(),
  };
}

async function importModules(folder: string, row: Row): Promise<GeneratedModules> {
  const load = (name: string): Promise<unknown> => import(pathToFileURL(path.join(folder, name)).href);
  const isSupported = row.outcome === 'supported';
  return {
    operations: await load('operations.ts'),
    client: await load('client.ts'),
    handlers: isSupported && row.handlers !== undefined ? await load('handlers.ts') : undefined,
    program: isSupported && row.program !== undefined ? await load('program.ts') : undefined,
  } as GeneratedModules;
}

/**
 * Creates a function for each scheme, which accepts the key `good`, tokens such as `read-token`, which have a scope, and
 * the password `pass:word` of every user.
 */
function createAuthenticators(schemes: Readonly<Record<string, SchemeSpec>>): AnyAuthenticators {
  const accept = async (credential: BasicCredential | string): Promise<IdentifiedCaller | undefined> => {
    if (typeof credential !== 'string') {
      return credential.password === 'pass:word' ? { id: credential.username } : undefined;
    }
    const scope = /^(.+)-token$/.exec(credential)?.[1];
    if (scope !== undefined) return { id: credential, scopes: [scope] };
    return credential === 'good' ? { id: credential } : undefined;
  };
  return Object.fromEntries(Object.keys(schemes).map((name) => [name, accept]));
}

/** Creates handlers that return their input in the first successful response of their operation. */
function createEchoHandlers(operations: readonly OperationSpec[]): object {
  return Object.fromEntries(operations.map((operation) => [operation.id, createEcho(operation)]));
}

function createEcho({ responses }: OperationSpec): (input: HandlerRequest) => Promise<HandlerResponse> {
  const [status = '200', spec] = Object.entries(responses).find(([key]) => key.startsWith('2')) ?? [];
  return async ({ params, query, headers, cookies, contentType, body, caller, callers }) => {
    const echo = { params, query, headers, cookies, contentType, body, caller, callers };
    return { status: Number(status.replace('XX', '00')), ...(spec?.contentTypes.length === 0 ? {} : { body: echo }) };
  };
}
