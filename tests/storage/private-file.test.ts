import { appendFile, chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openImageDatabase } from '@trellis/images/store/database';
import { openRecordStore } from '@trellis/site/record-store';
import { openDatabase } from '../../src/storage/open-database.js';
import { openStateFolder } from '../../src/storage/state-folder.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-private-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Returns the mode of each file in the folder while the database is open. */
async function readModes(): Promise<Record<string, string>> {
  const names = await readdir(folder);
  const stats = await Promise.all(names.map((name) => stat(path.join(folder, name))));
  return Object.fromEntries(names.map((name, index) => [name, ((stats[index]?.mode ?? 0) & 0o777).toString(8)]));
}

const OPENERS: readonly (readonly [string, (file: string) => Promise<() => unknown>])[] = [
  [
    'accounts, boards and secrets',
    async (file) => {
      const database = await openDatabase({ file });
      return () => database.destroy();
    },
  ],
  [
    'site records',
    async (file) => {
      const store = openRecordStore({ file, tables: {}, derived: {} });
      store.write(() => undefined);
      return () => store.close();
    },
  ],
  [
    'images',
    async (file) => {
      const database = openImageDatabase(file);
      return () => database.close();
    },
  ],
];

describe.each(OPENERS)('the database of %s', (_what, open) => {
  test('is private from its creation, including its log files', async () => {
    const close = await open(path.join(folder, 'a.db'));
    expect(await readModes()).toEqual({ 'a.db': '600', 'a.db-shm': '600', 'a.db-wal': '600' });
    await close();
  });

  test('is made private if an earlier release created it with a different mode', async () => {
    const file = path.join(folder, 'a.db');
    await (
      await open(file)
    )();
    // Appends, because the connection may stay open until its statements are garbage-collected.
    for (const ending of ['-wal', '-shm']) await appendFile(file + ending, '');
    // The connection deletes its files when it is garbage-collected, perhaps meanwhile.
    const isGone = (error: NodeJS.ErrnoException): void => expect(error.code).toBe('ENOENT');
    for (const name of await readdir(folder)) await chmod(path.join(folder, name), 0o644).catch(isGone);
    const close = await open(file);
    expect(await readModes()).toEqual({ 'a.db': '600', 'a.db-shm': '600', 'a.db-wal': '600' });
    await close();
  });
});

test('the lock of a state folder is private', async () => {
  const { close } = await openStateFolder(folder);
  expect(new Set(Object.values(await readModes()))).toEqual(new Set(['600']));
  close();
});
