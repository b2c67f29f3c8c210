import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { EMPTY_BOARD_SNAPSHOT, type BoardSnapshot } from '../../src/dashboard/boards/board.js';
import { createDashboardClient } from '../../src/generated/dashboard/client.js';
import { pullRequest } from '../dashboard/pull-request.js';
import { settingsFor, startForges } from '../dashboard/refresh/forges.js';
import { forgejoPullRequest, forgejoRepository } from '../forges/forgejo-state.js';
import { githubPullRequest, githubRepository, githubRun } from '../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../forges/gitlab-state.js';
import { type TrellisServer, serveTrellis } from './trellis-server.js';

let folder: string;
/** The script, compiled once to make each run faster. It is inside the repository, so that it finds packages. */
let script: string;
let server: TrellisServer;
let personId: string;
let token: string;

beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(join('.cache', 'script-'));
  script = join(folder, 'list-pull-requests.mjs');
  const entryPoints = ['scripts/list-pull-requests.ts'];
  await build({ entryPoints, outfile: script, bundle: true, packages: 'external', platform: 'node', format: 'esm' });
  server = await serveTrellis({ flags: { rateLimit: '0' } });
  const ada = await server.signIn('ada');
  personId = ada.personId;
  const body = { label: 'script', expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
  const { data } = await createDashboardClient(server.url).POST('/api/tokens', { body, headers: ada.headers });
  token = data!.token;
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const save = (...pullRequests: BoardSnapshot['pullRequests']) =>
  server.services.dashboard.boards.save(personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });

function start(args: readonly string[], env: Record<string, string> = {}) {
  const settings = { TRELLIS_URL: server.url, TRELLIS_TOKEN: token, NO_COLOR: '', COLUMNS: '', ...env };
  return spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...settings },
  });
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = start(args, env);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: child.exitCode };
}

const receipts = pullRequest({ repo: 'acme/shop', number: 17, title: 'Send receipts as PDF', ci: 'success' });
const broken = pullRequest({ repo: 'acme/warehouse', number: 1042, title: 'Count again', ci: 'failure' });
const draft = pullRequest({ number: 3, draft: true });

test('pull-requests script: prints a table and exits with 0 when no CI fails', async () => {
  await save(receipts, draft, pullRequest({ repo: 'acme/warehouse', number: 2, title: 'Move', ci: 'none' }));
  const { stdout, stderr, code } = await run([]);
  expect(stdout.split('\n')).toEqual([
    'Repository      Number  Title                 CI',
    'acme/shop          #17  Send receipts as PDF  success',
    'acme/warehouse      #2  Move                  none',
    expect.stringMatching(/^2 pull requests, 0 failing, as of 20.*Z\.$/) as string,
    '1 draft hidden; --drafts shows them.',
    '',
  ]);
  expect([stderr, code]).toEqual(['', 0]);
});

test('pull-requests script: prints a board with data of three forges', async () => {
  const forges = await startForges();
  const { github, forgejo, gitlab } = forges;
  const red = githubRun({ conclusion: 'FAILURE' });
  github.repositories.push(
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(1, { checks: [red] }), githubPullRequest(2)] }),
  );
  forgejo.repositories.push(
    forgejoRepository('acme/depot', { pullRequests: [forgejoPullRequest(30, { status: 'pending' })] }),
  );
  gitlab.projects.push(gitlabProject('acme/till', { mergeRequests: [gitlabMergeRequest(4, { pipeline: null })] }));
  const mona = await server.signIn('mona');
  const client = createDashboardClient(server.url);
  const body = { label: 'script', expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
  const { data } = await client.POST('/api/tokens', { body, headers: mona.headers });
  await client.PUT('/api/settings', { body: settingsFor(forges), headers: mona.headers });
  await client.POST('/api/dashboard/refresh', { headers: mona.headers });
  const { stdout, stderr, code } = await run([], { TRELLIS_TOKEN: data!.token });
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toBe('Repository  Number  Title      CI');
  expect(lines.slice(0, -1).sort()).toEqual([
    'acme/depot     #30  Change 30  pending',
    'acme/shop       #1  Change 1   failure',
    'acme/shop       #2  Change 2   success',
    'acme/till       #4  Change 4   none',
  ]);
  expect(lines.at(-1)).toMatch(/^4 pull requests, 1 failing, as of /);
  expect([stderr, code]).toEqual(['', 1]);
  for (const forge of [github, forgejo, gitlab]) await forge.close();
});

test('pull-requests script: exits with 1 when a CI fails', async () => {
  await save(receipts, broken);
  const { stdout, code } = await run([]);
  expect(stdout).toContain('2 pull requests, 1 failing, as of ');
  expect(code).toBe(1);
});

test('pull-requests script: prints JSON with --json, and drafts with --drafts', async () => {
  await save(pullRequest({ number: 1, title: 'a\u009bb' }), draft);
  const { stdout, code } = await run(['--json', '--drafts']);
  const printed = JSON.parse(stdout) as BoardSnapshot['pullRequests'];
  expect(printed.map(({ number }) => number).sort()).toEqual([1, 3]);
  expect(printed.map(({ title }) => title)).toContain('a\u009bb');
  expect(stdout).not.toContain('\u009b');
  expect(code).toBe(0);
});

test('pull-requests script: cuts titles to the width and removes control characters', async () => {
  const title = '\u001b[2J\u001b]0;owned\u0007Fix\r\nthe \u202egate and everything that is behind it';
  await save(pullRequest({ repo: 'acme/shop', number: 1, title, ci: 'pending' }));
  const { stdout } = await run([], { COLUMNS: '50' });
  const [, row = ''] = stdout.split('\n');
  expect(row).toMatch(/^acme\/shop +#1 +Fix the gate and .*… +pending$/);
  expect(row.length).toBeLessThanOrEqual(50);
});

test('pull-requests script: prints an empty board', async () => {
  await save();
  expect((await run([])).stdout).toMatch(/^0 pull requests, 0 failing, as of /);
});

test('pull-requests script: prints the error of a forge on the board', async () => {
  const forge = {
    forge: 'github',
    reachable: false,
    repoCount: 0,
    truncated: false,
    error: 'GitHub is unavailable.',
  } as const;
  await server.services.dashboard.boards.save(personId, { ...EMPTY_BOARD_SNAPSHOT, forges: [forge] });
  expect((await run([])).stderr).toBe('github: GitHub is unavailable.\n');
});

test.each<[string, string[], Record<string, string>, RegExp]>([
  ['no token', [], { TRELLIS_TOKEN: '' }, /^No token: set TRELLIS_TOKEN to a personal API token/],
  ['a wrong token', [], { TRELLIS_TOKEN: 'trl_no' }, /refused with 401: .*Is TRELLIS_TOKEN a token of this server/],
  ['an unknown owner', ['--owner', 'unknown'], {}, /refused with 404: /],
  ['an unreachable server', ['--url', 'http://127.0.0.1:9'], {}, /^No answer from http:\/\/127.0.0.1:9: /],
  ['an invalid address', ['--url', 'localhost:4000'], {}, /expected an address such as http:\/\/localhost:4000/],
  ['an interval of 0', ['--watch', '0'], {}, /Expected a whole number of seconds from 1 to 86400\./],
  ['an unknown option', ['--jsn'], {}, /unknown option '--jsn'/],
  ['an argument', ['acme/shop'], {}, /too many arguments/],
])('pull-requests script: exits with 2 and a reason for %s', async (_reason, args, env, reason) => {
  const { stdout, stderr, code } = await run(args, env);
  expect([stdout, code]).toEqual(['', 2]);
  expect(stderr).toMatch(reason);
  expect(stderr).not.toContain(token);
});

test('pull-requests script: prints its usage', async () => {
  const { stdout, code } = await run(['--help'], { TRELLIS_TOKEN: '' });
  expect(stdout).toMatch(/^Usage: list-pull-requests \[options\]\n/);
  expect(code).toBe(0);
});

test('pull-requests script: ends without a stack when the reader of its output has read enough', async () => {
  await save(receipts);
  const child = start([]);
  child.stdout.destroy();
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([child.exitCode, stderr]).toEqual([2, '']);
});

test('pull-requests script: --watch prints changes, survives an error, and exits by the last board', async () => {
  await save(receipts);
  const child = start(['--watch', '1', '--json']);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const untilPrinted = async (lines: number) => {
    while (printed.split('\n').length <= lines) await sleep(20);
  };
  await untilPrinted(1);
  // The server doesn't send data that violates the contract.
  await save(pullRequest({ ci: 'odd' as 'none' }));
  while (!errors.includes('refused with 500: ')) await sleep(20);
  await save(broken);
  await untilPrinted(2);
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number | null];
  const boards = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as BoardSnapshot['pullRequests']);
  expect(boards.map((board) => board.map(({ number }) => number))).toEqual([[17], [1042]]);
  expect(code).toBe(1);
});
