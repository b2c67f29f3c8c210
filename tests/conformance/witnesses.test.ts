/**
 * Documents that others wrote: which of them are accepted, and why the others are not. The accepted ones are served with
 * mocked answers, made from their examples and schemas, to requests of the generated client.
 *
 * `WITNESSES=all` adds the description of GitHub.
 * `WITNESSES=update` writes refusals.json.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { ContractError } from '@trellis/codegen/documents';
import type { HandlerResponse, OperationSpec } from '@trellis/server/rest/operation';
import { installTool } from '../../tools/install.js';
import { compile } from './compile.js';
import {
  type GeneratedRow,
  generateRow,
  type ServedRow,
  type ServeOptions,
  serveRow,
  writeRow,
} from './openapi-service.js';
import type { SupportedRow } from './row.js';
import { HIDDEN, isObject, type Json, resolve, sample } from './sample.js';

const REFUSALS = new URL('refusals.json', import.meta.url);
const EXAMPLES = 'tools/witnesses/node_modules/@readme/oas-examples';
const GITHUB = 'tools/github-description/node_modules/@octokit/openapi/generated/api.github.com.json';
const isLong = process.env.WITNESSES === 'all';

installTool('tools/witnesses');
if (isLong) installTool('tools/github-description');

/** A document with the name of its test. */
interface Witness {
  readonly name: string;
  readonly text: string;
}

const examples = await Promise.all(['3.0', '3.1'].map(readExamples));
const witnesses = [...examples.flat(), ...(isLong ? [await readGitHub()] : [])];

async function readExamples(version: string): Promise<Witness[]> {
  const names = (await readdir(`${EXAMPLES}/${version}/yaml`)).filter((name) => name.endsWith('.yaml'));
  const read = (name: string) => readFile(`${EXAMPLES}/${version}/yaml/${name}`, 'utf8');
  return Promise.all(
    names.sort().map(async (name) => ({ name: `${version}/${path.parse(name).name}`, text: await read(name) })),
  );
}

/**
 * Reads the whole description of GitHub, without those of its paths that differ from another one only in the names of their
 * parameters. OpenAPI forbids them, and no router can tell them apart.
 */
async function readGitHub(): Promise<Witness> {
  const { paths, ...document } = JSON.parse(await readFile(GITHUB, 'utf8')) as { readonly paths: Json };
  const byShape = new Map(Object.entries(paths).map((entry) => [entry[0].replaceAll(/\{[^{}]*\}/gu, '{}'), entry]));
  return {
    name: 'github',
    text: JSON.stringify({ ...document, paths: Object.fromEntries(byShape.values()) }, null, 1),
  };
}

type Outcome = { readonly generated: GeneratedRow } | { readonly refusals: readonly string[] };

async function generateWitness({ text }: Witness): Promise<Outcome> {
  try {
    return { generated: await generateRow({ contract: text }) };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const seen = new Map(
      error.diagnostics.map(({ line, column, message }) => [message, `${line}:${column} ${message}`]),
    );
    return { refusals: [...seen.values()] };
  }
}

/** Below the repository, so that the generated modules find their packages. */
let temporary: string;
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  temporary = await mkdtemp(path.resolve('.cache/witnesses-'));
  for (const witness of witnesses) outcomes.set(witness.name, await generateWitness(witness));
});

afterAll(() => rm(temporary, { recursive: true, force: true }));

test('the refused documents are those of refusals.json, for its reasons', async () => {
  const found = Object.fromEntries(
    [...outcomes].flatMap(([name, outcome]) => ('refusals' in outcome ? [[name, outcome.refusals]] : [])),
  );
  if (process.env.WITNESSES === 'update') await writeFile(REFUSALS, `${JSON.stringify(found, null, 2)}\n`);
  expect(found).toEqual(JSON.parse(await readFile(REFUSALS, 'utf8')));
});

test.each(['3.0/petstore', '3.1/petstore', '3.1/train-travel', ...(isLong ? ['github'] : [])])(
  '%s is accepted',
  (name) => {
    expect(outcomes.get(name)).toHaveProperty('generated');
  },
);

test.each(witnesses)('$name answers the requests of its client, if it is accepted', async ({ name, text }) => {
  const outcome = outcomes.get(name);
  if (outcome === undefined || !('generated' in outcome)) return;
  const folder = path.join(temporary, name.replace('/', '-'));
  const row: SupportedRow = { section: '', feature: name, outcome: 'supported', contract: text, exchanges: [] };
  await writeRow(folder, row, outcome.generated);
  const document = JSON.parse(outcome.generated.files.get('openapi.json') ?? '') as Json;
  const served = await serveRow(folder, row, {
    implement: (operations) => createMocks(document, operations),
    authenticate: acceptAll(document),
  });
  const failed: string[] = [];
  try {
    for (const operation of served.operations) {
      // No handler can send an interim response alone.
      // fetch() rejects the status 407.
      if (Object.keys(operation.responses).every((status) => status.startsWith('1') || status === '407')) continue;
      const answer = await callOperation(served, document, operation);
      if (answer === undefined || answer.status === toMock(document, operation).status) continue;
      if ([400, 422].includes(answer.status) && !answer.isValid()) continue;
      const mock = toMock(document, operation);
      if (answer.status === 500 && !isValid(document, mock.schema, mock.body)) continue;
      failed.push(`${operation.id} ${answer.status} ${answer.text}`);
    }
  } finally {
    served.close();
  }
  expect(failed).toEqual([]);
});

test('the generated code of all accepted documents compiles', async () => {
  expect(await compile(temporary)).toEqual([]);
});

/** Accepts every credential, with all scopes that the document knows. */
function acceptAll(document: Json): ServeOptions['authenticate'] {
  const schemes = Object.entries(pick(pick(document, 'components'), 'securitySchemes'));
  const items = Object.values(pick(document, 'paths')).flatMap((item) => Object.values(isObject(item) ? item : {}));
  const lists = [document, ...items].map((owner) => (isObject(owner) ? owner.security : undefined));
  const requirements = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  const scopes = requirements.flatMap((one) => (isObject(one) ? (Object.values(one).flat() as string[]) : []));
  return Object.fromEntries(schemes.map(([name]) => [name, async () => ({ id: '1', scopes })]));
}

/** Returns the headers, query parameters and cookies with the credentials of the first alternative of an operation. */
function credentialsFor(
  { security }: OperationSpec,
  schemes: ServedRow['schemes'],
): Record<string, Record<string, string>> {
  const [first] = security;
  const params: Record<string, Record<string, string>> = { header: {}, query: {} };
  for (const { scheme } of first === undefined ? [] : [first, ...(first.and ?? [])]) {
    const spec = schemes[scheme];
    const place = params[spec?.in ?? 'header'] ?? {};
    if (spec?.in === 'cookie') params.header = { ...params.header, Cookie: `${spec.name ?? ''}=key` };
    else if (spec?.type === 'apiKey') place[spec.name ?? ''] = 'key';
    else place.Authorization = spec?.scheme === 'basic' ? `Basic ${btoa('user:password')}` : 'Bearer token';
  }
  return params;
}

function createMocks(document: Json, operations: readonly OperationSpec[]): object {
  return Object.fromEntries(operations.map((operation) => [operation.id, async () => toMock(document, operation)]));
}

const findOperation = (document: Json, { path: key, method }: OperationSpec): Json =>
  pick(pick(pick(document, 'paths'), key), method);

/** Returns the first response of an operation, with a body that matches its schema. */
function toMock(document: Json, operation: OperationSpec): HandlerResponse & { readonly schema?: unknown } {
  const [key = '200', spec] =
    Object.entries(operation.responses).find(([status]) => /^[23]|^default$/.test(status)) ??
    Object.entries(operation.responses).find(([status]) => !status.startsWith('1')) ??
    [];
  const status = key === 'default' ? 200 : Number(key.replace('XX', '00'));
  const [type] = spec?.contentTypes ?? [];
  if (type === undefined) return { status };
  const headers = type.includes('*') ? { headers: { 'Content-Type': 'application/octet-stream' } } : {};
  if (!/\bjson\b/.test(type)) return { status, body: 'text', ...headers };
  const responses = follow(document, pick(findOperation(document, operation), 'responses'));
  const media = pick(pick(follow(document, responses[key]), 'content'), type);
  return { status, body: sampleMedia(document, media, 'writeOnly'), schema: media.schema };
}

const pick = (value: unknown, key: string): Json => (isObject(value) && isObject(value[key]) ? value[key] : {});

const follow = (document: Json, value: unknown): Json =>
  isObject(value) && typeof value.$ref === 'string' ? resolve(document, value.$ref) : isObject(value) ? value : {};

const sampleMedia = (document: Json, { schema }: Json, hidden: 'readOnly' | 'writeOnly'): unknown =>
  sample({ ...document, [HIDDEN]: hidden }, schema);

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Whether another validator accepts the body. Some samples match several schemas of oneOf, or need themselves. */
  readonly isValid: () => boolean;
}

function isValid(document: Json, schema: unknown, body: unknown): boolean {
  if (body === undefined || schema === undefined) return true;
  const { schemas } = pick(document, 'components');
  return new Validator({ components: { schemas }, allOf: [schema as object] }, '2020-12').validate(body).valid;
}

/** Calls an operation with sampled parameters. Returns nothing if its body is not JSON. */
async function callOperation(served: ServedRow, document: Json, operation: OperationSpec): Promise<Answer | undefined> {
  const own = findOperation(document, operation);
  const item = pick(pick(document, 'paths'), operation.path);
  const lists = [item.parameters, own.parameters].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  const { header, ...others } = credentialsFor(operation, served.schemes);
  const params: Record<string, Record<string, unknown>> = { path: {}, header: {}, cookie: {}, ...others };
  for (const parameter of lists.map((mention) => follow(document, mention))) {
    if (parameter.required !== true) continue;
    const place = params[String(parameter.in)];
    if (place !== undefined) place[String(parameter.name)] = sample(document, parameter.schema);
  }
  const content = pick(follow(document, own.requestBody), 'content');
  const type = Object.keys(content).find((name) => /\bjson\b/.test(name));
  if (type === undefined && own.requestBody !== undefined) return undefined;
  const body: { readonly body?: unknown } =
    type === undefined ? {} : { body: sampleMedia(document, pick(content, type), 'readOnly') };
  const method = operation.method.toUpperCase() as 'GET';
  const headers = { ...header, ...(type === undefined ? {} : { 'content-type': type }) };
  const init = { params, ...body, headers, parseAs: 'text', redirect: 'manual' };
  const { data, error, response } = await served.client[method](operation.path, init);
  const { schema = true } = pick(content, type ?? '');
  return {
    status: response.status,
    text: JSON.stringify(error ?? data),
    isValid: () => isValid(document, schema, body.body),
  };
}
