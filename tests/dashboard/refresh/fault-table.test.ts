/**
 * What the board, the API and the request log say about each fault of a forge, and that known rows stay.
 * `FORGE_FAULTS=write` writes the table in docs/forge-faults.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { FORGE_ERROR_MESSAGES, type ForgeErrorKind } from '../../../src/dashboard/forges/forge-error.js';
import type { TestFault, TestResponse } from '../../forges/forge-server.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { openStage, type Stage } from './fixtures.js';

/** The outcome in the request log is the kind of the error, unless the response only turns out to be invalid later. */
type Fault = readonly [name: string, fault: TestFault | TestResponse, kind: ForgeErrorKind, outcome?: 'success'];

const DOCUMENT = 'docs/forge-faults.md';
const HOUR_MS = 3_600_000;
const inAnHour = String(Math.ceil((Date.now() + HOUR_MS) / 1000));
const html = { 'Content-Type': 'text/html' };
const SECONDARY = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' };
const spent = { 'X-RateLimit-Limit': '5000', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': inAnHour };
const graphqlError = (type: string, message: string): TestResponse => ({
  body: { data: null, errors: [{ type, message, path: ['viewer'] }] },
});

const toRepositories = (nodes: unknown): TestResponse => ({
  body: { data: { viewer: { repositories: { nodes, pageInfo: { hasNextPage: false, endCursor: null } } } } },
});

const FAULTS: readonly Fault[] = [
  ['the connection is reset', () => 'reset', 'unreachable'],
  ['the connection ends within the body', () => 'cut', 'unreachable'],
  ['500', { status: 500, body: { message: 'Server Error' } }, 'unreachable'],
  ['502 with the page of a proxy', { status: 502, headers: html, body: '<title>Bad gateway</title>' }, 'unreachable'],
  ['503 with `Retry-After`', { status: 503, headers: { 'Retry-After': '30' }, body: {} }, 'unreachable'],
  ['504', { status: 504, body: {} }, 'unreachable'],
  ['a body of more than 16 MiB', { body: 'x'.repeat(17 * 1024 * 1024) }, 'unreachable'],
  ['a redirect without end', (seen) => ({ status: 307, headers: { Location: seen.path }, body: '' }), 'unreachable'],
  ['a redirect without an address', { status: 302, body: '' }, 'unknown'],
  ['`RESOURCE_LIMITS_EXCEEDED`', graphqlError('RESOURCE_LIMITS_EXCEEDED', 'Resource limits exceeded.'), 'unreachable'],
  ['401, a revoked token', { status: 401, body: { message: 'Bad credentials' } }, 'unauthorized'],
  ['403, a missing permission', { status: 403, body: { message: 'Resource not accessible' } }, 'unauthorized'],
  [
    '403, single sign-on is required',
    { status: 403, headers: { 'X-GitHub-SSO': 'required; url=https://github.com/orgs/acme/sso' }, body: {} },
    'unauthorized',
  ],
  [
    '`INSUFFICIENT_SCOPES` without data',
    graphqlError('INSUFFICIENT_SCOPES', 'Your token lacks scopes.'),
    'unauthorized',
  ],
  [
    '403, a secondary limit with `Retry-After`',
    { status: 403, headers: { 'Retry-After': '90' }, body: SECONDARY },
    'rate_limited',
  ],
  ['403, a secondary limit without `Retry-After`', { status: 403, body: SECONDARY }, 'rate_limited'],
  [
    '403, the hourly quota is exceeded',
    { status: 403, headers: spent, body: { message: 'API rate limit exceeded' } },
    'rate_limited',
  ],
  ['429 with `Retry-After`', { status: 429, headers: { 'Retry-After': '90' }, body: {} }, 'rate_limited'],
  ['429 without `Retry-After`', { status: 429, body: {} }, 'rate_limited'],
  ['`RATE_LIMITED` with status 200', graphqlError('RATE_LIMITED', 'API rate limit exceeded.'), 'rate_limited'],
  ['404', { status: 404, body: { message: 'Not Found' } }, 'not_found'],
  ['a page instead of JSON', { headers: html, body: '<!doctype html>' }, 'unknown'],
  ['JSON that ends early', { body: '{"data":{"viewer":' }, 'unknown'],
  ['an empty body', { body: '' }, 'unknown'],
  ['`null`', { body: 'null' }, 'unknown'],
  ['a list instead of an object', { body: [] }, 'unknown'],
  ['data that is null, without an error', { body: { data: null } }, 'unknown'],
  ['an error without a type and without data', { body: { errors: [{ message: 'Something went wrong' }] } }, 'unknown'],
  ['repositories that are no list', toRepositories(3), 'unknown', 'success'],
  ['repositories of which none is valid', toRepositories([{}]), 'unknown', 'success'],
];

let stage: Stage;
let current: TestFault | undefined;
/** The statuses in the request log, by the name of the fault. */
const logged = new Map<string, string>();

beforeAll(async () => {
  stage = await openStage();
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  stage.github.failNext((seen) => current?.(seen), { times: Infinity });
});
afterAll(() => stage.close());

const stateOf = async () => (await stage.board()).forges.find(({ forge }) => forge === 'github');

const CASES = FAULTS.map(([name, fault, kind, outcome = kind]) => ({ name, fault, kind, outcome }));

test.each(CASES)('refresh: $name', async ({ name, fault, kind, outcome }) => {
  current = undefined;
  // Every pause has ended by then.
  stage.wait(2 * HOUR_MS);
  await stage.refresh();
  expect(await stateOf()).not.toHaveProperty('errorKind');
  current = typeof fault === 'function' ? fault : () => fault;
  const board = await stage.refresh();
  expect(await stateOf()).toMatchObject({
    reachable: false,
    errorKind: kind,
    error: FORGE_ERROR_MESSAGES[kind],
    repoCount: 1,
  });
  expect((await stateOf())?.staleSince).toBeDefined();
  expect(board.pullRequests.map(({ repo, number }) => `${repo}#${number}`)).toEqual(['acme/shop#1']);
  const entry = await stage.database
    .selectFrom('request_log')
    .selectAll()
    .where('forge', '=', 'github')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  expect(entry.outcome).toBe(outcome);
  logged.set(name, String(entry.status_code ?? 'none'));
});

test('the documentation lists the faults', async () => {
  const table = await format(toDocument(), { ...(await resolveConfig(DOCUMENT)), parser: 'markdown' });
  if (process.env.FORGE_FAULTS === 'write') await writeFile(DOCUMENT, table);
  await expect(readFile(DOCUMENT, 'utf8')).resolves.toBe(table);
});

function toDocument(): string {
  const rows = FAULTS.map(([name, , kind, outcome = kind]) => [
    name,
    `\`${kind}\``,
    logged.get(name) ?? '',
    `\`${outcome}\``,
  ]);
  const head = ['Response of the forge', '`errorKind`', 'Status in the log', 'Outcome in the log'];
  const kinds = [...new Set(FAULTS.map(([, , kind]) => kind))];
  return [
    '# Faults of forges',
    'The tests let a test GitHub fail in each of these ways while a board is read again. Each time the known rows stay, and `forges[]` has `reachable: false`, the `errorKind`, its message and the age of the rows in `staleSince`. The next refresh that succeeds removes the error.',
    toTable(head, rows),
    'The messages, which contain nothing of the forge:',
    toTable(
      ['`errorKind`', 'Message'],
      kinds.map((kind) => [`\`${kind}\``, FORGE_ERROR_MESSAGES[kind]]),
    ),
    'This file is generated by `tests/dashboard/refresh/fault-table.test.ts`; the environment variable `FORGE_FAULTS=write` writes it.',
    '',
  ].join('\n\n');
}

const toTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
