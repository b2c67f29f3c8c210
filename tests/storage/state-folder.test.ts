import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openStateFolder } from '../../src/storage/state-folder.js';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'trellis-state-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

test('a new state folder is private', async () => {
  const folder = path.join(parent, 'new');
  const { isShared, close } = await openStateFolder(folder);
  close();
  expect(isShared).toBe(false);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('a state folder that other users can access is reported', async () => {
  await chmod(parent, 0o755);
  const { isShared, close } = await openStateFolder(parent);
  close();
  expect(isShared).toBe(true);
});

test('a state folder is locked by one server at a time', async () => {
  const first = await openStateFolder(parent);
  await expect(openStateFolder(parent)).rejects.toThrow('the state folder is in use by another server');
  first.close();
  (await openStateFolder(parent)).close();
});
