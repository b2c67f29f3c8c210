import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type NotesServer, sendJson, serveNotes } from '../../packages/client/tests/notes-server.js';

let server: NotesServer;

beforeEach(async () => {
  server = await serveNotes((response, _nth, { url }) => {
    if (url === '/api/version') sendJson(response, 200, { version: '1.2.3' });
    else sendJson(response, 404, { error: 'Unknown path.', code: 'not_found' });
  });
});
afterEach(() => server.close());

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const command = ['--conditions=trellis-source', '--import', 'tsx', 'scripts/version.ts', ...args];
  const child = spawn(process.execPath, command, { env: { ...process.env, ...env } });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: child.exitCode };
}

test('version script: prints the version of the server at the address', async () => {
  expect(await run([server.url])).toEqual({ stdout: '1.2.3\n', stderr: '', code: 0 });
});

test('version script: reads the address from the environment', async () => {
  const { stdout } = await run([], { TRELLIS_URL: server.url });
  expect(stdout).toBe('1.2.3\n');
});

test('version script: reports that no server is listening', async () => {
  await server.close();
  expect(await run([server.url])).toEqual({
    stdout: '',
    stderr: `No version from ${server.url}: no server is listening. Start the server with "npm start".\n`,
    code: 1,
  });
});

test('version script: prints the message of an error response', async () => {
  const { stderr, code } = await run([`${server.url}/elsewhere`]);
  expect([stderr, code]).toEqual([`No version from ${server.url}/elsewhere: Unknown path.\n`, 1]);
});

test('version script: prints its usage', async () => {
  const help = await run(['--help']);
  expect([help.stdout.split('\n')[0], help.code]).toEqual(['Usage: tsx scripts/version.ts [address]', 0]);
  const wrong = await run(['one', 'two']);
  expect([wrong.stderr.split('\n')[0], wrong.code]).toEqual(['Expected one address; received 2.', 2]);
});
