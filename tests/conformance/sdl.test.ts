import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ContractError } from '@trellis/codegen/documents';
import { deriveFullSchema, getDerivation } from '@trellis/codegen/site/load-schema';
import { createGraphqlEndpoint } from '@trellis/server/graphql/endpoint';
import type { RecordContext } from '@trellis/site/graphql/context';
import { RecordAccess } from '@trellis/site/graphql/record-access';
import { createSchemaEngine, listCodecs } from '@trellis/site/graphql/site-schema';
import { createFormatDate } from '@trellis/site/query/dates';
import { openSite, type Site } from '@trellis/site/site';
import type { Exchange, RefusedRow, Row, SupportedRow } from './row.js';

const FOLDER = new URL('./sdl/', import.meta.url);
const SCHEMA = new URL('../../schema/', import.meta.url);

/** The documents of every project. The document of a row is added to them. */
const COMMON = ['directives.graphql', 'file.graphql', 'image.graphql', 'node.graphql', 'site.graphql'];
const OWN = 'schema/own.graphql';

const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts'));
const modules = await Promise.all(files.map((file) => import(new URL(file, FOLDER).href) as Promise<{ rows: Row[] }>));
const rows = modules.flatMap((module) => module.rows);
const common = await Promise.all(
  COMMON.map(async (file) => [`schema/${file}`, await readFile(new URL(file, SCHEMA), 'utf8')] as const),
);

const isRefused = (row: Row): row is RefusedRow => row.outcome === 'refused';
const isSupported = (row: Row): row is SupportedRow => row.outcome === 'supported';
const titleOf = ({ section, feature }: Row): string => `${section}: ${feature}`;

test('every row of the table of SDL features has a title of its own', () => {
  const titles = rows.map(titleOf);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

describe('SDL is refused at the right place', () => {
  test.each(rows.filter(isRefused).map((row) => [titleOf(row), row] as const))('%s', (_title, { contract, errors }) => {
    expect(listErrors(contract)).toEqual(errors);
  });
});

/** Lists the errors in a document as `line:column message`; those in other documents have the path as a prefix. */
function listErrors(contract: string): string[] {
  try {
    deriveFullSchema(new Map([...common, [OWN, contract]]));
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.diagnostics.map(({ file, line, column, message }) =>
      [...(file === OWN ? [] : [file]), line, `${column} ${message}`].join(':'),
    );
  }
}

describe('SDL is served', () => {
  test.each(rows.filter(isSupported).map((row) => [titleOf(row), row] as const))('%s', async (_title, row) => {
    const served = await serve(row);
    try {
      for (const text of row.published ?? []) expect(served.sdl).toContain(text);
      for (const text of row.unpublished ?? []) expect(served.sdl).not.toContain(text);
      for (const exchange of row.exchanges) await send(exchange, served);
    } finally {
      await served.close();
    }
  });
});

interface Served {
  readonly origin: string;
  readonly sdl: string;
  /** The errors that the server logged. */
  readonly defects: readonly unknown[];
  close(): Promise<void>;
}

async function serve({ contract, files: content = {}, resolvers = {} }: SupportedRow): Promise<Served> {
  const { sdl, contract: read } = getDerivation(deriveFullSchema(new Map([...common, [OWN, contract]])));
  const tables = Object.fromEntries(read.tables.map((table) => [table.kind, table]));
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  const [directory, stateDirectory] = [path.join(folder, 'site'), path.join(folder, 'state')];
  await mkdir(directory);
  for (const [name, text] of Object.entries(content)) await write(path.join(directory, name), text);
  const warnings: string[] = [];
  const onWarnings = (messages: readonly string[]): unknown => warnings.push(...messages);
  const site = await openSite({ directory, stateDirectory, tables, codecs: listCodecs(resolvers), onWarnings });
  expect(warnings).toEqual([]);
  const defects: unknown[] = [];
  const server = await listen(site, { tables, typeDefs: sdl, resolvers }, (defect) => defects.push(defect));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    sdl,
    defects,
    async close() {
      await new Promise((resolve) => server.close(resolve));
      site.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function listen(
  site: Site,
  options: Parameters<typeof createSchemaEngine>[0],
  report: (defect: unknown) => void,
): Promise<Server> {
  const formatDate = createFormatDate();
  const endpoint = createGraphqlEndpoint({
    ...createSchemaEngine(options),
    introspection: true,
    limits: { values: 10_000, workMs: 5000, timeoutMs: 30_000 },
    createContext: (budget) => {
      const context: RecordContext = { records: site.store, formatDate, budget };
      return { ...context, query: new RecordAccess(context) };
    },
    report,
  });
  const server = createServer((request, response) => endpoint(request, response, 'request'));
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function send({ request, headers, body, status, response }: Exchange, { origin, defects }: Served) {
  const [method = '', target = ''] = request.split(' ');
  const answer = await fetch(origin + target, { method, headers, body });
  const received: unknown = await answer.json();
  expect({ defects, received }).toMatchObject({ received: response });
  expect(answer.status).toBe(status);
  if (!('errors' in (received as object))) expect(defects).toEqual([]);
}
