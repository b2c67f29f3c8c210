import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { ContractError } from '@trellis/codegen/documents';
import type { HandlerRequest, OperationSpec } from '@trellis/server/rest/operation';
import { createRouteMatcher } from '@trellis/server/rest/router';
import { compile } from './compile.js';
import {
  formatDiagnostic,
  type GeneratedRow,
  generateRow,
  type ServedRow,
  serveRow,
  writeRow,
} from './openapi-service.js';
import type { Exchange, RefusedRow, Row, SupportedRow } from './row.js';

const FOLDER = new URL('openapi/', import.meta.url);
const modules = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts')).sort();
const loaded = await Promise.all(
  modules.map(async (name) => (await import(new URL(name, FOLDER).href)) as { readonly rows: readonly Row[] }),
);
const rows = loaded.flatMap((module) => module.rows);
const title = ({ section, feature }: Row) => `${section}: ${feature}`;
const supported = rows
  .filter((row): row is SupportedRow => row.outcome === 'supported')
  .map((row, index) => ({ title: title(row), row, name: `row-${index}` }));
const refused = rows
  .filter((row): row is RefusedRow => row.outcome === 'refused')
  .map((row) => ({ title: title(row), row }));

/** Warnings that most rows would have, as they leave out what their feature does not need. */
const USUAL_WARNINGS = [/does not declare these statuses/, /has no (?:operationId|tag|summary)\b/];

/** Below the repository, so that the generated modules find their packages. */
let temporary: string;

beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  temporary = await mkdtemp(path.resolve('.cache/conformance-'));
});

afterAll(() => rm(temporary, { recursive: true, force: true }));

test('every feature is in one row', () => {
  const titles = rows.map(title);
  expect(titles.filter((text, index) => titles.indexOf(text) !== index)).toEqual([]);
});

test.each(refused)('$title is refused', async ({ row }) => {
  expect(await listErrors(row)).toEqual(row.errors);
});

async function listErrors(row: Row): Promise<readonly string[]> {
  try {
    await generateRow(row);
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.diagnostics.map(formatDiagnostic);
    throw error;
  }
}

describe.each(supported)('$title', ({ row, name }) => {
  let generated: GeneratedRow;
  let served: ServedRow | undefined;

  beforeAll(async () => {
    generated = await generateRow(row);
    const folder = path.join(temporary, name);
    await writeRow(folder, row, generated);
    served = await serveRow(folder, row);
  });

  afterAll(() => served?.close());

  test('has the warnings of the row', () => {
    const all = generated.warnings.map(formatDiagnostic);
    const unusual = all.filter((text) => !USUAL_WARNINGS.some((usual) => usual.test(text)));
    expect(row.warnings === undefined ? unusual : all).toEqual(row.warnings ?? []);
  });

  test.each([...row.exchanges])('answers $request with $status', async (exchange) => {
    if (served === undefined) throw new Error('The contract is not served.');
    const response = await send(served.port, exchange);
    expect(response).toMatchObject(toExpected(exchange));
    if (isRepeated(row, exchange)) await repeat(served, exchange, response.body as Echo);
  });

  if (row.program !== undefined) test('runs the program of the row', async () => served?.program?.());
});

function toExpected({ status, response, responseHeaders }: Exchange): object {
  return {
    status,
    ...(response === undefined ? {} : { body: response }),
    ...(responseHeaders === undefined ? {} : { headers: responseHeaders }),
  };
}

interface RawResponse {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  /** JSON if the response says so, otherwise text. */
  readonly body: unknown;
}

/** Sends a request without changing a byte of its path, as a client library would. */
function send(port: number, { request, headers, body }: Exchange): Promise<RawResponse> {
  const [method, target] = request.split(' ');
  return new Promise((resolve, reject) => {
    const call = http.request({ port, host: '127.0.0.1', method, path: `/api${target ?? ''}`, headers, agent: false });
    call.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '') && text !== '';
        resolve({ status: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(text) : text });
      });
    });
    call.end(body);
  });
}

type Echo = Pick<HandlerRequest, 'body' | 'cookies' | 'headers' | 'params' | 'query'>;

function isRepeated(row: SupportedRow, { status, isRepeated: wanted }: Exchange): boolean {
  return wanted ?? (row.handlers === undefined && status >= 200 && status < 300 && status !== 204);
}

/** Sends the echoed input of a handler by the generated client, which must arrive as the same input. */
async function repeat({ operations, client }: ServedRow, exchange: Exchange, echo: Echo): Promise<void> {
  const [method = 'GET', target = ''] = exchange.request.split(' ');
  const operation = findOperation(operations, method, target);
  const { params: path, query, headers: header, cookies: cookie, body } = echo;
  const params = { path, query, header, cookie };
  const { data, error } = await client[method as 'GET'](operation.path, { params, body });
  expect(error).toBeUndefined();
  expect(data).toEqual(JSON.parse(JSON.stringify(echo)));
}

function findOperation(operations: readonly OperationSpec[], method: string, target: string): OperationSpec {
  const found = createRouteMatcher(operations)(method, target.split('?')[0] ?? '');
  if (found.kind === 'operation') return found.operation;
  throw new Error(`No operation for ${method} ${target}.`);
}

test('the generated code, handlers and programs of all rows compile', async () => {
  expect(await compile(temporary)).toEqual([]);
});
