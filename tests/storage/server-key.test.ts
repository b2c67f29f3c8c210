import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/storage/open-database.js';
import { assertServerKey, createServerKey, openServerKey, SERVER_KEY_FILE } from '../../src/storage/server-key.js';
import { createDatabaseTarget } from './engine.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-key-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('server key: is created once, with mode 0600', async () => {
  const sealed = (await openServerKey(folder)).encrypt('ghp_x', 'forges of ada');
  const { mode } = await stat(join(folder, SERVER_KEY_FILE));
  expect(mode & 0o777).toBe(0o600);
  expect((await openServerKey(folder)).decrypt(sealed, 'forges of ada')).toBe('ghp_x');
});

test('server key: decrypts only for the same purpose', async () => {
  const key = await openServerKey(folder);
  const sealed = key.encrypt('ghp_x', 'forges of ada');
  expect(sealed.toString('latin1')).not.toContain('ghp_x');
  expect(() => key.decrypt(sealed, 'forges of bob')).toThrow();
});

test('server key: an invalid file is rejected and left unchanged', async () => {
  const file = join(folder, SERVER_KEY_FILE);
  await writeFile(file, 'half a ke');
  await expect(openServerKey(folder)).rejects.toThrow(/server\.key is not a valid key/);
  expect(await readFile(file, 'utf8')).toBe('half a ke');
});

test('all servers must use a database with the key of its first server', async () => {
  const place = await createDatabaseTarget();
  const [first, second] = [await openDatabase(place), await openDatabase(place)];
  const keys = [createServerKey('a'.repeat(43)), createServerKey('b'.repeat(43))] as const;
  await Promise.all([assertServerKey(first, keys[0]), assertServerKey(second, keys[0])]);
  await expect(assertServerKey(second, keys[1])).rejects.toMatchObject({
    name: 'StateFolderError',
    message: expect.stringMatching(/^server\.key differs from the key of the database; /) as string,
  });
  await Promise.all([first.destroy(), second.destroy()]);
});
