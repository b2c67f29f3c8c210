/** Follows docs/secrets-ci.md with the built command line and an OpenID provider of others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { createAccounts } from '../../../src/accounts/accounts.js';
import type { DatabaseTarget } from '../../../src/storage/database.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { type RunningServer, startServer } from '../../running-server.js';
import { type OidcProvider, startOidcProvider } from '../../secrets/oidc-provider.js';
import { createDatabaseTarget, engine } from '../../storage/engine.js';

const ROOT = path.join(import.meta.dirname, '../../..');
const GITHUB = 'https://token.actions.githubusercontent.com';
const GITLAB = 'https://gitlab.com';
const SERVICE = 'https://trellis.example.org/secrets';

/** The token of the runner, by which a job requests those of the issuer. */
const RUNNER_TOKEN = 'runner-token';

let folder: string;
let place: DatabaseTarget;
let provider: OidcProvider;
let server: RunningServer;
let runner: Server;
/** The blocks of the page by their heading and language, in order. */
let blocks: readonly { readonly heading: string; readonly language: string; readonly content: string }[];
let writeToken: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-ci-'));
  place = engine === 'PostgreSQL' ? await createDatabaseTarget() : { file: path.join(folder, 'trellis.db') };
  provider = await startOidcProvider();
  server = await startServer([
    ...['--services', 'secrets', '--state', folder, '--issuer-allow', LOOPBACK.join(',')],
    ...('url' in place ? ['--database-url', place.url] : []),
  ]);
  const database = await openDatabase(place);
  await createAccounts(database, { origin: () => server.origin }).users.add({ username: 'ada', displayName: 'Ada' });
  await database.destroy();
  runner = await startRunner();
  const page = (await readFile(path.join(ROOT, 'docs/secrets-ci.md'), 'utf8'))
    .replaceAll(SERVICE, `${server.origin}/secrets`)
    .replaceAll(GITHUB, provider.issuer)
    .replaceAll(GITLAB, provider.issuer);
  blocks = page.split(/^## /m).flatMap((section) =>
    [...section.matchAll(/^( *)```(\w+)\n([^]*?)^ *```$/gm)].map(([, indent = '', language = '', content = '']) => ({
      ...{ heading: section.split('\n')[0] ?? '', language },
      content: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    })),
  );
  await writePrograms();
  const created = await shell('trellis tokens create --kind write --label ada --days 1', onServer());
  writeToken = created.out.trim();
});
afterAll(async () => {
  await server.stop();
  await provider.close();
  runner.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

/** The part of a runner that issues tokens: it adds the claims of the job to the requested audience. */
async function startRunner(): Promise<Server> {
  const service = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://runner');
    if (request.headers.authorization !== `Bearer ${RUNNER_TOKEN}`) return void response.writeHead(401).end();
    void provider
      .issue({ claims: { aud: searchParams.get('audience'), ref: searchParams.get('ref') } })
      .then((value) => response.setHeader('content-type', 'application/json').end(JSON.stringify({ value })));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  return service;
}

/** `trellis` is the built command line; `gh` stores the secret of a repository; `deploy.sh` is the deploy. */
async function writePrograms(): Promise<void> {
  const programs = {
    'bin/trellis': `exec '${process.execPath}' '${ROOT}/dist/cli.js' "$@"`,
    'bin/gh': `test "$1 $2" = 'secret set' && cat > '${folder}/repository-'"$3"`,
    'deploy.sh': 'printf "deployed with %s" "$DB_PASSWORD"; test -z "$TRELLIS_SECRETS_ID_TOKEN"',
  };
  await mkdir(path.join(folder, 'bin'));
  for (const [name, content] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), `#!/bin/sh\n${content}\n`);
    await chmod(path.join(folder, name), 0o755);
  }
}

type Environment = Readonly<Record<string, string>>;

/** Runs a script, which stops at the first failure, with these variables only. */
async function shell(script: string, env: Environment) {
  const PATH = `${path.join(folder, 'bin')}:${process.env.PATH ?? ''}`;
  const child = spawn('sh', ['-ec', script], { cwd: folder, env: { HOME: folder, ...env, PATH } });
  child.stdin.end();
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out: await out, err: await err };
}

/** The variables of a shell on the server's machine. */
const onServer = (): Environment => ({
  TRELLIS_STATE: folder,
  ...('url' in place && { DATABASE_URL: place.url }),
});

/** The variables of the machine of the owner, after `trellis secrets init`. */
const onLaptop = (): Environment => ({
  TRELLIS_SECRETS_SERVER: `${server.origin}/secrets`,
  TRELLIS_SECRETS_TOKEN: writeToken,
  PASSWORD: 'hunter2',
});

/** The variables that the runner sets for a job with the permission `id-token: write`. */
const onRunner = (ref: string): Environment => {
  const { port } = runner.address() as AddressInfo;
  return {
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0&ref=${encodeURIComponent(ref)}`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: RUNNER_TOKEN,
  };
};

const findBlocks = (heading: string, language: string): string[] =>
  blocks
    .filter((block) => block.heading.startsWith(heading) && block.language === language)
    .map(({ content }) => content);

interface Workflow {
  readonly jobs: {
    readonly deploy: {
      readonly permissions: Readonly<Record<string, string>>;
      readonly env: Environment;
      readonly steps: readonly { readonly run?: string }[];
    };
  };
}

/** Runs the steps of the documented workflow as a runner would. */
async function runWorkflow(ref: string, more: Environment = {}) {
  const [content = ''] = findBlocks('GitHub', 'yaml');
  const { deploy } = (parse(content) as Workflow).jobs;
  const secret = await readFile(path.join(folder, 'repository-TRELLIS_SECRETS_IDENTITY'), 'utf8');
  const env = Object.fromEntries(
    Object.entries(deploy.env).map(([name, value]) => [
      name,
      value.replace('${{ secrets.TRELLIS_SECRETS_IDENTITY }}', secret),
    ]),
  );
  const granted = deploy.permissions['id-token'] === 'write' ? onRunner(ref) : {};
  const script = deploy.steps.map(({ run = '' }) => run).join('\n');
  return shell(script, { ...env, ...granted, ...more });
}

test('a job of GitHub Actions deploys with a secret after the documented steps', async () => {
  const [keys = '', put = '', rule = ''] = findBlocks('GitHub', 'sh');
  for (const [script, env] of [
    [keys, onLaptop()],
    [put, onLaptop()],
    [rule, onServer()],
  ] as const) {
    expect(await shell(script, env)).toMatchObject({ code: 0 });
  }
  expect(await runWorkflow('refs/heads/main')).toMatchObject({ code: 0, out: 'deployed with hunter2' });
  const listed = await shell('trellis workload-rules list', onServer());
  expect(listed.out).toMatch(/shop-deploy.*acme\/shop.*15 min/);
});

test('the action masks the values of a job, and sets variables for its following steps', async () => {
  const value = 'first 100%\r\nsecond\n\nDB_PASSWORD<<x';
  const stored = await shell(`printf %s "$VALUE" | trellis secrets put tls-key --consumer acme/shop`, {
    ...onLaptop(),
    VALUE: value,
  });
  expect(stored.code).toBe(0);
  const action = parse(await readFile(path.join(ROOT, 'deploy/secrets-action/action.yml'), 'utf8')) as Action;
  const identity = await readFile(path.join(folder, 'repository-TRELLIS_SECRETS_IDENTITY'), 'utf8');
  const given: Environment = {
    ...{ server: `${server.origin}/secrets`, identity, command: action.inputs.command?.default ?? '' },
    // Also names that a script may use itself.
    secrets: 'DB_PASSWORD=db-password\nTLS_KEY=tls-key\nvalue=db-password\nline=tls-key\n',
  };
  const [step] = action.runs.steps;
  const env = Object.fromEntries(
    Object.entries(step!.env).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ inputs\.(\w+) \}\}/, (_all, input: string) => given[input]!),
    ]),
  );
  const file = path.join(folder, 'github-env');
  await writeFile(file, '');
  await writeFile(path.join(folder, 'step.sh'), step!.run);
  const job = { ...env, ...onRunner('refs/heads/main'), GITHUB_ENV: file };
  const { code, out } = await shell('bash step.sh', job);
  const masks = ['hunter2', 'first 100%25', 'second', 'DB_PASSWORD<<x'].map((line) => `::add-mask::${line}`);
  expect([code, out.trim().split('\n')]).toEqual([0, [...masks, ...masks]]);
  const written = await readFile(file, 'utf8');
  const [first, second, third, fourth] = [...written.matchAll(/^\w+<<(\w{32})$/gm)].map(([, delimiter]) => delimiter);
  expect(written).toBe(
    `DB_PASSWORD<<${first}\nhunter2\n${first}\nTLS_KEY<<${second}\n${value}\n${second}\n` +
      `value<<${third}\nhunter2\n${third}\nline<<${fourth}\n${value}\n${fourth}\n`,
  );
  expect(new Set([first, second, third, fourth]).size).toBe(4);
  const damaged = { ...job, TRELLIS_ACTION_SECRETS: 'A B=db-password' };
  expect(await shell('bash step.sh', damaged)).toMatchObject({
    code: 2,
    out: '::error::Expected a variable; received A B\n',
  });
});

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly { readonly env: Environment; readonly run: string }[] };
}

test('a job of a different branch gets no token and shows the reason', async () => {
  expect(await runWorkflow('refs/heads/feature')).toEqual({
    ...{ code: 4, out: '' },
    err: 'trellis: The service issued no token for this job: No rule accepts the claims of the token\n',
  });
  const audience = await runWorkflow('refs/heads/main', { TRELLIS_SECRETS_AUDIENCE: 'https://other.example' });
  expect([audience.code, audience.err]).toEqual([
    4,
    expect.stringContaining('its audience (aud) is not that of a rule'),
  ]);
  const token = await runWorkflow('refs/heads/main', { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'wrong' });
  expect([token.code, token.err]).toEqual([
    4,
    expect.stringContaining('The runner issued no token for this job: status 401'),
  ]);
});

test('the message for a job without the permission names it', async () => {
  const said = await runWorkflow('x', { ACTIONS_ID_TOKEN_REQUEST_URL: '', GITHUB_ACTIONS: 'true' });
  expect([said.code, said.err]).toEqual([4, expect.stringContaining('the permission "id-token: write"')]);
});

test('a job of GitLab deploys with the token in its variable', async () => {
  const [rule = ''] = findBlocks('GitLab', 'sh');
  expect(await shell(rule, onServer())).toMatchObject({ code: 0 });
  const [content = ''] = findBlocks('GitLab', 'yaml');
  const { deploy } = parse(content) as {
    deploy: { id_tokens: Record<string, { aud: string }>; variables: Environment; script: readonly string[] };
  };
  // The claims that GitLab documents, with all values as text.
  const job = {
    repository: undefined,
    sub: 'project_path:acme/shop:ref_type:branch:ref:main',
    project_path: 'acme/shop',
  };
  const tokens = await Promise.all(
    Object.entries(deploy.id_tokens).map(async ([name, { aud }]) => [
      name,
      await provider.issue({ claims: { ...job, aud, ref: 'main', ref_type: 'branch', ref_protected: 'true' } }),
    ]),
  );
  const secret = await readFile(path.join(folder, 'repository-TRELLIS_SECRETS_IDENTITY'), 'utf8');
  const env = { ...deploy.variables, ...(Object.fromEntries(tokens) as Environment), TRELLIS_SECRETS_IDENTITY: secret };
  expect(await shell(deploy.script.join('\n'), env)).toMatchObject({ code: 0, out: 'deployed with hunter2' });
});

test('a pod gets a token for that in its file', async () => {
  const [rule = ''] = findBlocks('Kubernetes', 'sh');
  const own = rule.replace('https://kubernetes.example.org', provider.issuer);
  expect(await shell(own, onServer())).toMatchObject({ code: 0 });
  const claims = { sub: 'system:serviceaccount:shop:deploy', aud: [`${server.origin}/secrets`], repository: undefined };
  const file = path.join(folder, 'token');
  await writeFile(file, `${await provider.issue({ claims })}\n`);
  const env = { TRELLIS_SECRETS_SERVER: `${server.origin}/secrets`, TRELLIS_SECRETS_ID_TOKEN_FILE: file };
  expect(await shell('trellis secrets list', env)).toMatchObject({
    code: 0,
    out: expect.stringContaining('db-password') as string,
  });
  const missing = await shell('trellis secrets list', { ...env, TRELLIS_SECRETS_ID_TOKEN_FILE: `${file}x` });
  expect([missing.code, missing.err]).toEqual([4, expect.stringContaining('ENOENT')]);
});

test('workload-rules: rejects a rule that accepts everyone, and deletes rules', async () => {
  const put = (claim: string) =>
    shell(
      `trellis workload-rules put everyone --issuer ${provider.issuer} --audience a --claim '${claim}' --consumer a`,
      onServer(),
    );
  const said = await put('repository=**');
  expect([said.code, said.err]).toEqual([1, expect.stringContaining('The claims accept too many workloads')]);
  expect((await put('repository')).err).toContain('Expected name=pattern');
  const [name = ''] =
    /trellis workload-rules delete (\S+?)`/
      .exec(await readFile(path.join(ROOT, 'docs/secrets-ci.md'), 'utf8'))
      ?.slice(1) ?? [];
  expect(await shell(`trellis workload-rules delete ${name}`, onServer())).toMatchObject({ code: 0 });
  expect((await runWorkflow('refs/heads/main')).code).toBe(4);
});
