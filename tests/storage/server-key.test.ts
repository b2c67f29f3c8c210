import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServerKey, SERVER_KEY_FILE } from '../../src/storage/server-key.js';

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
