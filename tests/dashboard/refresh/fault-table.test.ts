/**
 * What the board, the API and the request log say about each fault of a forge, and that known rows stay.
 * `FORGE_FAULTS=write` writes the table in docs/forge-faults.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { FORGE_ERROR_MESSAGES, type ForgeErrorKind } from '../../../src/dashboard/forges/forge-error.js';
import { FORGE_PRODUCT_NAMES, type ForgeName } from '../../../src/dashboard/forges/forge.js';
import type { TestFault, TestResponse } from '../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openStage, type Stage } from './fixtures.js';
import { settingsFor } from './forges.js';

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

const swagger = { url: 'https://code.example.org/api/swagger' };

const toRepositories = (nodes: unknown): TestResponse => ({
  body: { data: { viewer: { repositories: { nodes, pageInfo: { hasNextPage: false, endCursor: null } } } } },
});

/** Faults of every server, or of a proxy in front of it. */
const COMMON: readonly Fault[] = [
  ['the connection is reset', () => 'reset', 'unreachable'],
  ['the connection ends within the body', () => 'cut', 'unreachable'],
  ['500', { status: 500, body: { message: 'Server Error' } }, 'unreachable'],
  ['502 with the page of a proxy', { status: 502, headers: html, body: '<title>Bad gateway</title>' }, 'unreachable'],
  ['403 with the page of a proxy', { status: 403, headers: html, body: '<title>Forbidden</title>' }, 'unauthorized'],
  ['503 with `Retry-After`', { status: 503, headers: { 'Retry-After': '30' }, body: {} }, 'unreachable'],
  ['504', { status: 504, body: {} }, 'unreachable'],
  ['a body of more than 16 MiB', { body: 'x'.repeat(17 * 1024 * 1024) }, 'unreachable'],
  ['a redirect without end', (seen) => ({ status: 307, headers: { Location: seen.path }, body: '' }), 'unreachable'],
  ['a redirect without an address', { status: 302, body: '' }, 'unknown'],
  ['429 without `Retry-After`', { status: 429, body: {} }, 'rate_limited'],
  ['a page instead of JSON', { headers: html, body: '<!doctype html>' }, 'unknown'],
  ['JSON that ends early', { body: '{"data":{"viewer":' }, 'unknown'],
  ['an empty body', { body: '' }, 'unknown'],
  ['`null`', { body: 'null' }, 'unknown'],
];

const GITHUB: readonly Fault[] = [
  ...COMMON,
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
  ['`RATE_LIMITED` with status 200', graphqlError('RATE_LIMITED', 'API rate limit exceeded.'), 'rate_limited'],
  ['404', { status: 404, body: { message: 'Not Found' } }, 'not_found'],
  ['a list instead of an object', { body: [] }, 'unknown'],
  ['data that is null, without an error', { body: { data: null } }, 'unknown'],
  ['an error without a type and without data', { body: { errors: [{ message: 'Something went wrong' }] } }, 'unknown'],
  ['repositories that are no list', toRepositories(3), 'unknown', 'success'],
  ['repositories of which none is valid', toRepositories([{}]), 'unknown', 'success'],
];

/** The bodies are those of the API (Grape), of its OAuth guard and of Rack::Attack. */
const GITLAB: readonly Fault[] = [
  ...COMMON,
  ['401, a revoked token', { status: 401, body: { errors: [{ message: 'Invalid token' }] } }, 'unauthorized'],
  [
    '403, a missing scope',
    {
      status: 403,
      body: {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'api read_api',
      },
    },
    'unauthorized',
  ],
  [
    '403, a blocked user',
    { status: 403, body: { message: '403 Forbidden - Your account has been blocked.' } },
    'unauthorized',
  ],
  ['404', { status: 404, body: { message: '404 Not Found' } }, 'not_found'],
  ['429 with `Retry-After`', { status: 429, headers: { 'Retry-After': '60' }, body: 'Retry later\n' }, 'rate_limited'],
  [
    '429 with `RateLimit-Reset`',
    { status: 429, headers: { 'RateLimit-Remaining': '0', 'RateLimit-Reset': inAnHour }, body: 'Retry later\n' },
    'rate_limited',
  ],
  [
    'a query that is too complex',
    { body: { errors: [{ message: 'Query has complexity of 300, which exceeds max complexity of 250' }] } },
    'unknown',
  ],
  ['a timeout of a query', { body: { data: null, errors: [{ message: 'Timeout on Query.projects' }] } }, 'unknown'],
  ['data that is null, without an error', { body: { data: null } }, 'unknown'],
];

/** The bodies are those of `APIError` in Forgejo's and Gitea's API. */
const FORGEJO: readonly Fault[] = [
  ...COMMON.filter(([name]) => name !== '`null`'),
  ['`null`', { body: 'null' }, 'unknown', 'success'],
  [
    '401, a revoked token',
    { status: 401, body: { message: 'invalid username, password or token', ...swagger } },
    'unauthorized',
  ],
  [
    '403, a missing scope',
    {
      status: 403,
      body: { message: 'token does not have at least one of required scope(s): [read:user]', ...swagger },
    },
    'unauthorized',
  ],
  ['404', { status: 404, body: { message: 'The target could not be found.', errors: [], ...swagger } }, 'not_found'],
  ['429 with `Retry-After`', { status: 429, headers: { 'Retry-After': '60' }, body: {} }, 'rate_limited'],
  ['an object instead of a list', { body: {} }, 'unknown', 'success'],
  ['repositories of which none is valid', { body: [{}] }, 'unknown', 'success'],
];

const FAULTS: Readonly<Record<ForgeName, readonly Fault[]>> = { github: GITHUB, gitlab: GITLAB, forgejo: FORGEJO };

/** The user of each stage reads one forge. */
let stages: ReadonlyMap<ForgeName, Stage>;
let current: TestFault | undefined;
/** The statuses in the request log, by forge and name of the fault. */
const logged = new Map<string, string>();

/** The messages of the settings test, by the kind of the error. */
const tested = new Map<ForgeErrorKind, string>();

const FORGES = ['github', 'gitlab', 'forgejo'] as const;

beforeAll(async () => {
  stages = new Map(await Promise.all(FORGES.map(async (forge) => [forge, await openStageOf(forge)] as const)));
});
afterAll(() => Promise.all([...stages.values()].map((stage) => stage.close())));

async function openStageOf(forge: ForgeName): Promise<Stage> {
  const stage = await openStage({}, (forges) => {
    const own = Object.entries(settingsFor(forges)).filter(([name]) => name.startsWith(forge));
    return Object.fromEntries(own);
  });
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  stage.gitlab.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1)] }));
  stage.forgejo.repositories.push(forgejoRepository('acme/shop', { pullRequests: [forgejoPullRequest(1)] }));
  stage[forge].failNext((seen) => current?.(seen), { times: Infinity });
  return stage;
}

const CASES = FORGES.flatMap((forge) =>
  FAULTS[forge].map(([name, fault, kind, outcome = kind]) => ({ forge, name, fault, kind, outcome })),
);

test.each(CASES)('refresh: $forge, $name', async ({ forge, name, fault, kind, outcome }) => {
  const stage = stages.get(forge)!;
  const stateOf = async () => (await stage.board()).forges.find((one) => one.forge === forge);
  current = undefined;
  // Every pause has ended by then.
  stage.wait(2 * HOUR_MS);
  await stage.refresh();
  expect(await stateOf()).not.toHaveProperty('errorKind');
  current = typeof fault === 'function' ? fault : () => fault;
  await stage.refresh();
  const error = FORGE_ERROR_MESSAGES[kind];
  expect(await stateOf()).toMatchObject({ reachable: false, errorKind: kind, error, repoCount: 1 });
  expect((await stateOf())?.staleSince).toBeDefined();
  const { pullRequests } = await stage.board();
  expect(pullRequests.map((row) => `${row.forge} ${row.repo}#${row.number}`)).toEqual([`${forge} acme/shop#1`]);
  const entry = await stage.database
    .selectFrom('request_log')
    .selectAll()
    .where('forge', '=', forge)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  expect(entry.outcome).toBe(outcome);
  logged.set(`${forge} ${name}`, String(entry.status_code ?? 'none'));
  // The test of the settings asks the forge again.
  const settings = settingsFor(stage);
  const found = await stage.dashboard.testForgeConnection(stage.ada, { forge, settings });
  expect(found).toMatchObject({ forge, works: false });
  // A forge that also refuses single permissions gets a list of them instead.
  if (found.missing.length === 0) expect(found.errorKind).toBe(kind);
  if (found.missing.length === 0)
    tested.set(kind, (found.error ?? '').replaceAll(FORGE_PRODUCT_NAMES[forge], 'the forge'));
});

test('the documentation lists the faults', async () => {
  const table = await format(toDocument(), { ...(await resolveConfig(DOCUMENT)), parser: 'markdown' });
  if (process.env.FORGE_FAULTS === 'write') await writeFile(DOCUMENT, table);
  await expect(readFile(DOCUMENT, 'utf8')).resolves.toBe(table);
});

function toDocument(): string {
  const head = ['Response of the forge', '`errorKind`', 'Status in the log', 'Outcome in the log'];
  const toRows = (forge: ForgeName) =>
    FAULTS[forge].map(([name, , kind, outcome = kind]) => [
      name,
      `\`${kind}\``,
      logged.get(`${forge} ${name}`) ?? '',
      `\`${outcome}\``,
    ]);
  const kinds = [...new Set(FORGES.flatMap((forge) => FAULTS[forge].map(([, , kind]) => kind)))];
  return [
    '# Faults of forges',
    'The tests let the test forges fail in each of these ways while a board is read again. Each time the known rows stay, and `forges[]` has `reachable: false`, the `errorKind`, its message in `error`, and the age of the rows in `staleSince`. The board shows the message, and the settings page shows it for further credentials. `POST /api/settings/test` returns `works: false` with the same `errorKind` and a message of its own. The next refresh that succeeds removes the error.',
    ...FORGES.flatMap((forge) => [`## ${FORGE_PRODUCT_NAMES[forge]}`, toTable(head, toRows(forge))]),
    '## Messages',
    'They contain nothing of the forge. Beside these, the test names an invalid certificate, a host name that does not exist, and the server to which an address redirects:',
    toTable(
      ['`errorKind`', 'Board, API, further credentials', 'Test of the settings'],
      kinds.map((kind) => [`\`${kind}\``, FORGE_ERROR_MESSAGES[kind], tested.get(kind) ?? '']),
    ),
    'This file is generated by `tests/dashboard/refresh/fault-table.test.ts`; the environment variable `FORGE_FAULTS=write` writes it.',
    '',
  ].join('\n\n');
}

const toTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
