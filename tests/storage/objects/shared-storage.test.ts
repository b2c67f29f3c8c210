/** Backups, the doctor and derived files with a bucket, also while it fails. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { backupCommand, restoreCommand } from '../../../src/commands/backup.js';
import { checkObjects } from '../../../src/commands/doctor/checks.js';
import { loadConfig } from '../../../src/config/config.js';
import type { ObjectStore } from '../../../src/storage/objects/object-store.js';
import { openObjectStore } from '../../../src/storage/objects/s3-store.js';
import { createSharedFiles, type SharedFileStore } from '../../../src/storage/objects/shared-files.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { openStateFolder } from '../../../src/storage/state-folder.js';
import { runCommand } from '../../commands/run-command.js';
import { eventually } from '../../eventually.js';
import { BUCKET, errorDocument, type Fault, type S3TestServer, startS3Server } from './s3-server.js';

const DENIED: Fault = { status: 403, body: errorDocument('AccessDenied') };
const NO_BUCKET: Fault = { status: 404, body: errorDocument('NoSuchBucket') };
const like = (text: RegExp) => expect.stringMatching(text) as string;

let server: S3TestServer;
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  server = await startS3Server();
  environment = { ...process.env };
  Object.assign(process.env, server.env);
});
afterAll(async () => {
  process.env = environment;
  await server.close();
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-shared-'));
});
afterEach(async () => {
  server.fault = undefined;
  await rm(folder, { recursive: true });
});

describe('trellis backup and restore', () => {
  const run = (make: typeof backupCommand, ...args: string[]) =>
    runCommand(({ out, err }) => make({ release: '1.2.3', out, terminal: err as unknown as NodeJS.WriteStream }), args);

  async function makeState(name: string, people: readonly string[]): Promise<string> {
    const state = path.join(folder, name);
    (await openStateFolder(state)).close();
    const database = await openDatabase({ file: path.join(state, 'trellis.db') });
    for (const id of people) {
      const person = { id, username: id, username_key: id, display_name: id, is_admin: 1, created_at: 1 };
      await database.insertInto('people').values(person).execute();
    }
    await database.destroy();
    return state;
  }

  test('stores, lists, verifies and restores a backup in a bucket', async () => {
    const state = await makeState('old', ['ada']);
    const url = `s3://${BUCKET}/backups`;
    process.env.TRELLIS_BACKUP = url;
    const stored = await run(backupCommand, '--state', state);
    delete process.env.TRELLIS_BACKUP;
    expect(stored).toMatchObject({
      code: 0,
      err: like(/^Backed up 1 rows of \d+ tables to s3:\/\/photos\/backups\/trellis-.*\.backup\.\n$/),
    });
    const [, address = ''] = / to (s3:.*)\.\n/.exec(stored.err) ?? [];
    const listed = await run(backupCommand, 'list', url);
    expect(listed).toEqual({ code: 0, out: like(/^trellis-\S+\.backup {2}[\d,]+ bytes {2}20\S+Z\n$/), err: '' });
    expect(address).toContain(listed.out.split(' ')[0]);
    expect(await run(backupCommand, 'verify', address, '--state', state)).toMatchObject({
      code: 0,
      err: like(/^Backup in clear of 20\S+Z, created by release 1\.2\.3: 1 rows/),
    });
    const other = await makeState('new', []);
    expect(await run(restoreCommand, address, '--state', other)).toMatchObject({
      code: 0,
      err: like(/^Restored 1 rows/),
    });
    expect(await run(backupCommand, address, '--state', state)).toEqual({
      code: 1,
      out: '',
      err: like(/already exists/),
    });
    expect(await run(backupCommand, address, '--state', state, '--force')).toMatchObject({ code: 0 });
    expect(await run(restoreCommand, `${address}x`, '--state', other, '--force')).toEqual({
      code: 1,
      out: '',
      err: `No backup at ${address}x\n`,
    });
  });

  test.each<[string, Fault, RegExp]>([
    ['lost permission', DENIED, /^s3:\/\/photos\/b: Access denied to /],
    ['a missing bucket', NO_BUCKET, /^s3:\/\/photos\/b: No bucket named "photos" at /],
    [
      'an overloaded bucket',
      { status: 503, body: errorDocument('SlowDown') },
      /^s3:\/\/photos\/b: .* responded to .* with status 503/,
    ],
    ['lost connections', 'reset', /^s3:\/\/photos\/b: The connection to .* failed during /],
  ])('report %s, and leave no file behind', async (_reason, fault, message) => {
    const state = await makeState('old', ['ada']);
    server.fault = () => fault;
    const address = `s3://${BUCKET}/b/${randomUUID()}`;
    expect(await run(backupCommand, address, '--state', state)).toEqual({ code: 1, out: '', err: like(message) });
    server.fault = (line) => (line.startsWith('PUT') ? fault : undefined);
    expect(await run(backupCommand, address, '--state', state)).toEqual({ code: 1, out: '', err: like(message) });
    server.fault = undefined;
    expect(await run(backupCommand, address, '--state', state, '--force', '--quiet')).toEqual({
      code: 0,
      out: '',
      err: '',
    });
    server.fault = () => fault;
    expect(await run(restoreCommand, address, '--state', state, '--force')).toEqual({
      code: 1,
      out: '',
      err: like(message),
    });
    const database = await openDatabase({ file: path.join(state, 'trellis.db') });
    expect(await database.selectFrom('people').select('id').execute()).toEqual([{ id: 'ada' }]);
    await database.destroy();
    expect((await readdir(state)).filter((name) => /^(backup|restore)-/.test(name))).toEqual([]);
  });
});

describe('doctor', () => {
  const check = async (url: string) => {
    const config = await loadConfig({ folder, env: { ...server.env, TRELLIS_OBJECTS: url } });
    const { status, found } = await checkObjects(config);
    return `${status} ${found}`;
  };

  test('checks the bucket with a probe, which it deletes', async () => {
    expect(await check(`s3://${BUCKET}/derived`)).toMatch(/^ok s3:\/\/photos\/derived, checked in \d+ ms$/);
    const store = openObjectStore(`s3://${BUCKET}/derived`, server.env);
    for await (const { key } of store.list('')) throw new Error(key);
    await store.close();
  });

  test.each<[string, string, Fault | undefined, RegExp]>([
    ['a bucket without conditions', 's3://photos', 'unconditional', /^ok .* in \d+ ms; it ignores If-None-Match/],
    ['a missing bucket', 's3://other', undefined, /^fail s3:\/\/other: No bucket named "other"/],
    ['lost permission', 's3://photos', DENIED, /^fail s3:\/\/photos: Access denied to GET photos\./],
  ])('reports %s', async (_reason, url, fault, message) => {
    server.fault = () => fault;
    expect(await check(url)).toMatch(message);
  });
});

describe('shared files', () => {
  const messages: string[] = [];
  let store: ObjectStore;
  let shared: SharedFileStore;

  beforeEach(() => {
    messages.length = 0;
    store = openObjectStore(`s3://${BUCKET}/derived`, server.env);
    shared = createSharedFiles(store, { report: (message) => messages.push(message), pauseMs: 300 });
  });
  afterEach(() => shared.close(0));

  const target = () => path.join(folder, 'target');

  async function offer(key: string, content: string): Promise<void> {
    const file = path.join(folder, 'file');
    await writeFile(file, content);
    shared.offer(key, file);
  }

  const isStored = (key: string) => eventually(async () => expect(await store.head(key)).toBeDefined());

  test('fetch what another server has offered', async () => {
    expect(await shared.fetch('images/a/b.webp', target())).toBeUndefined();
    await offer('images/a/b.webp', 'an image');
    await isStored('images/a/b.webp');
    expect(await shared.fetch('images/a/b.webp', target())).toBe(8);
    expect(await readFile(target(), 'utf8')).toBe('an image');
    expect(messages).toEqual([]);
  });

  test('replace a damaged object', async () => {
    await offer('images/damaged', 'an image');
    await isStored('images/damaged');
    server.fault = (line) => (line.startsWith('GET') ? 'damage' : undefined);
    expect(await shared.fetch('images/damaged', target())).toBeUndefined();
    server.fault = undefined;
    expect(await store.head('images/damaged')).toBeUndefined();
  });

  test.each<[string, Fault, RegExp]>([
    ['lost permission', DENIED, /Access denied/],
    ['a missing bucket', NO_BUCKET, /No bucket named/],
    ['an unresponsive bucket', 'hang', /did not respond in time/],
    ['an overloaded bucket', { status: 503, body: errorDocument('SlowDown') }, /status 503/],
    ['lost connections', 'reset', /connection to/],
  ])('report %s once, ask again after a pause, and store the waiting files', async (_reason, fault, message) => {
    const key = `images/${_reason}`;
    server.fault = () => fault;
    expect(await shared.fetch(key, target())).toBeUndefined();
    const before = server.requests.length;
    expect(await shared.fetch(key, target())).toBeUndefined();
    // No request during the pause.
    expect(server.requests).toHaveLength(before);
    await offer(key, 'made here');
    server.fault = undefined;
    await isStored(key);
    expect(messages).toEqual([
      like(
        new RegExp(
          `^Object storage s3://photos/derived failed: .*${message.source}.* Files are generated and served from the state folder\\.$`,
        ),
      ),
      'Object storage s3://photos/derived is available again.',
    ]);
  });
});
