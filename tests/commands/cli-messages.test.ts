import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileServer } from '../contract/compiled-server.js';
import { eventually } from '../eventually.js';

const cli = await compileServer();

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-cli-'))));
afterAll(() => rm(folder, { recursive: true }));

test('an unreachable database is reported in one line without its URL', async () => {
  const address = {
    TRELLIS_STATE: path.join(folder, 'own'),
    PORT: '0',
    DATABASE_URL: 'postgres://me:geheim@127.0.0.1:1/x',
  };
  const err = "trellis: DATABASE_URL: the PostgreSQL server can't be reached: ECONNREFUSED\n";
  expect(await cli.run(['serve', '--state', path.join(folder, 'state')], address)).toEqual({ code: 1, out: '', err });
  expect(await cli.run(['backup', path.join(folder, 'other.backup')], address)).toEqual({ code: 1, out: '', err });
});

test.each(['backup', 'restore', 'doctor', 'dev'])('%s --help: lists the options', async (command) => {
  const { code, out } = await cli.run([command, '--help']);
  expect([code, out]).toEqual([0, expect.stringMatching(/--database-url <url> .*\[DATABASE_URL\]/s) as string]);
});

test.each([
  [
    ['tokens', 'create'],
    ['label', 'days'],
  ],
  [
    ['secrets', 'tokens', 'mint'],
    ['consumer', 'description'],
  ],
  [['serve'], []],
])('%j --help: marks the options that it requires', async (args, required) => {
  const { out } = await cli.run([...args, '--help']);
  const options = out.split(/^ {2}(?=-)/m).slice(1);
  const marked = options.filter((text) => /\(required\)\s*$/.test(text));
  expect(marked.map((text) => /--([a-z-]+)/.exec(text)?.[1])).toEqual(required);
});

test.each([
  [['--version'], "trellis: The output can't be written: ENOSPC\n"],
  [['completion', 'bash'], "trellis: The output can't be written: ENOSPC\n"],
  [['check-config', '--json'], '{"error":"The output can\'t be written: ENOSPC","exit_code":1}\n'],
])("%j: an output that can't be written is reported in one line", (args, line) => {
  const stdio: ['ignore', number, 'pipe'] = ['ignore', openSync('/dev/full', 'w'), 'pipe'];
  const { status, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...args], { stdio, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, line]);
});

test('dev: outside a project, it fails and starts no server', () => {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const args = [path.resolve('dist/cli.js'), 'dev', '--port', '0'];
  // The pipes are open as long as a process that the command started.
  const said = spawnSync(process.execPath, args, { cwd: folder, stdio, encoding: 'utf8', timeout: 5000 });
  expect(said).toMatchObject({ status: 1, stdout: '' });
  expect(said.stderr).toMatch(/^trellis: .*codegen\.ts is missing\. [^\n]+\n$/);
});

test('dev: an unknown option ends it before it starts anything', () => {
  const args = [path.resolve('dist/cli.js'), 'dev', '--prot', '1'];
  // The folder is a project, so that generator and server could start.
  const project = path.resolve('.');
  const said = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8', timeout: 5000 });
  expect(said).toMatchObject({
    status: 1,
    stdout: '',
    stderr: "error: unknown option '--prot'\n(Did you mean --port?)\n",
  });
});

test.each([
  ['diff', 2],
  ['doctor', 1],
  ['check-config', 1],
  ['tokens list', 1],
  ['workload-rules list', 1],
  ['secrets list', 2],
])('%s --json: an unknown option is reported as JSON', async (command, code) => {
  const said = await cli.run([...command.split(' '), '--nope', '--json']);
  expect(said).toMatchObject({ code, out: '' });
  expect(JSON.parse(said.err)).toEqual({ error: expect.stringContaining("'--nope'") as string, exit_code: code });
});

test('an unknown option and --help have their exit codes without --json', async () => {
  const err = "error: unknown option '--jso'\n(Did you mean --json?)\n";
  expect(await cli.run(['diff', '--jso'])).toEqual({ code: 2, out: '', err });
  expect(await cli.run(['tokens', 'create', '--help'])).toMatchObject({ code: 0, err: '' });
});

test('dev: changes while the last server stops start one new server, and none remains at the end', async () => {
  const project = path.join(folder, 'project');
  await mkdir(path.join(project, 'src'), { recursive: true });
  await writeFile(path.join(project, 'codegen.ts'), 'export default { generates: {} };\n');
  const args = ['dev', '--services', 'secrets', '--port', '0', '--state', path.join(folder, 'dev-state')];
  const child = spawn(process.execPath, [path.resolve('dist/cli.js'), ...args], { cwd: project, stdio: 'pipe' });
  // The pipe is open as long as a server that the command started.
  const ended = once(child.stdout, 'end');
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const origins = () => Array.from(out.matchAll(/ready at (http:\S+)/g), ([, origin = '']) => origin);
  await eventually(() => expect(origins()).toHaveLength(1));
  // An open request delays the end of the server.
  const socket = connect(Number(new URL(origins()[0] ?? '').port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write('POST /secrets/auth/device HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{');
  for (const text of ['1', '2', '3']) {
    await writeFile(path.join(project, 'src/a.ts'), text);
    await sleep(400);
  }
  socket.destroy();
  await eventually(() => expect(origins()).toHaveLength(2));
  await sleep(1_000);
  expect(origins()).toHaveLength(2);
  child.kill('SIGTERM');
  await ended;
  expect(out.match(/Changed: starting again/g)).toHaveLength(1);
});

test('generate, diff and dev: an error of the configuration is reported in one line, and dev reads it again after a change', async () => {
  const project = await mkdtemp(path.join(folder, 'invalid-'));
  const targets = path.join(project, 'codegen.ts');
  await writeFile(targets, "import './trellis.config.js';\nexport default { generates: {} };\n");
  await writeFile(path.join(project, 'trellis.config.ts'), "throw new Error('No such\\nservice.');\n");
  const line = `trellis: ${targets}, or a file that it imports, is not valid: No such service.\n`;
  for (const args of [['generate'], ['diff', 'main']]) {
    const { status, stderr } = spawnSync(process.execPath, [path.resolve('dist/cli.js'), ...args], {
      cwd: project,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, line]);
  }

  const args = ['dev', '--services', 'secrets', '--port', '0', '--state', path.join(folder, 'again-state')];
  const child = spawn(process.execPath, [path.resolve('dist/cli.js'), ...args], { cwd: project, stdio: 'pipe' });
  const ended = once(child.stdout, 'end');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() => expect(output).toContain(line));
  await writeFile(path.join(project, 'trellis.config.ts'), 'export default {};\n');
  await eventually(() => expect(output).toMatch(/Watching the contracts[^]*ready at/));
  child.kill('SIGTERM');
  await ended;
});
