import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../running-server.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-services-'));
});
afterEach(() => rm(folder, { recursive: true }));

const listParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => ({
    ...{ in: 'path', name, required: true, type: 'string', list: false, rest: false },
  }));

/** Writes a project whose services have operations with these methods and paths below `/api`, and returns its file. */
async function writeProject(
  services: Readonly<Record<string, readonly (readonly [string, string])[]>>,
): Promise<string> {
  const entries = Object.entries(services).map(([name, operations]) => {
    const list = operations.map(([method, path]) => ({
      ...{ id: method, method, path, security: [], parameters: listParameters(path), validate: {} },
      responses: { 200: { contentTypes: ['application/json'] } },
    }));
    const table = { basePath: '/api', revision: '1', schemes: {}, operations: list };
    const handlers = operations.map(([method]) => `${method}: async () => ({ status: 200, body: '${name}' })`);
    return `${name}: { operations: async () => (${JSON.stringify(table)}), handlers: async () => ({ ${handlers.join()} }),
      documentPath: '/${name}.json' }`;
  });
  for (const name of Object.keys(services)) {
    await mkdir(join(folder, 'src/generated', name), { recursive: true });
    await writeFile(join(folder, 'src/generated', name, 'openapi.json'), '{}');
  }
  const file = join(folder, 'trellis.config.mjs');
  await writeFile(file, `export default { accounts: true, settings: {}, services: { ${entries.join()} } };`);
  return file;
}

test('services may have the prefix of the operations for accounts, and share a prefix', async () => {
  const config = await writeProject({
    notes: [['get', '/{name}/{id}']],
    tasks: [
      ['get', '/{name}'],
      ['post', '/{name}/{id}'],
    ],
  });
  const server = await startServer(['--config', config]);
  const read = async (path: string, method = 'GET') => {
    const response = await fetch(`${server.origin}${path}`, { method });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  try {
    await expect(read('/api/notes/7')).resolves.toEqual({ status: 200, body: 'notes' });
    await expect(read('/api/notes/7', 'POST')).resolves.toEqual({ status: 200, body: 'tasks' });
    await expect(read('/api/notes/7', 'PUT')).resolves.toMatchObject({
      status: 405,
      body: { error: 'Expected the method to be one of GET, HEAD, POST, OPTIONS; received PUT.' },
    });
    await expect(read('/api/tokens', 'PUT')).resolves.toMatchObject({
      status: 405,
      body: { error: 'Expected the method to be one of GET, POST, HEAD, OPTIONS; received PUT.' },
    });
    await expect(read('/api/tasks')).resolves.toEqual({ status: 200, body: 'tasks' });
    await expect(read('/api/auth/registration-status')).resolves.toEqual({ status: 200, body: { open: true } });
    await expect(read('/api/tokens')).resolves.toMatchObject({ status: 401 });
    await expect(read('/api/a/b/c')).resolves.toMatchObject({ status: 404, body: { code: 'not_found' } });
    await expect(read('/api/a/b/%ff')).resolves.toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  } finally {
    await server.stop();
  }
});

test.each([
  [
    'Trellis',
    { notes: [['get', '/auth/session']] },
    'GET /api/auth/session of the service "notes" is also an operation of Trellis. Change its path in the contract',
  ],
  [
    'another service',
    { notes: [['get', '/{id}']], tasks: [['get', '/{name}']] },
    'GET /api/{name} of the service "tasks" is also an operation of the service "notes". Change its path in the contract',
  ],
] as const)('an operation that is also one of %s keeps the server from starting', async (_owner, services, message) => {
  await expect(startServer(['--config', await writeProject(services)])).rejects.toThrow(message);
});

test('operations without handlers keep the server from starting', async () => {
  const config = await writeProject({
    notes: [
      ['get', '/'],
      ['post', '/'],
      ['put', '/'],
    ],
  });
  await writeFile(config, (await readFile(config, 'utf8')).replace(/post: async .*'notes' \}\)/u, ''));
  await expect(startServer(['--config', config])).rejects.toThrow(
    'trellis: The service "notes" has no handlers for post, put. "trellis generate --stub" writes the missing handlers',
  );
});
