import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { openImageDatabase, openQuota } from '../../src/store/database.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-damaged-'));
  file = path.join(folder, 'images.db');
});
afterEach(() => rm(folder, { recursive: true }));

const listMoved = async () => (await readdir(folder)).filter((name) => /^images\.db\.damaged-[^.]+\.\d+Z$/.test(name));

/** Overwrites all pages but the first, after another connection has made the cached pages obsolete. */
async function damage(): Promise<void> {
  const other = new DatabaseSync(file);
  other.exec("INSERT OR REPLACE INTO settings VALUES ('other', '1'); PRAGMA wal_checkpoint(TRUNCATE)");
  other.close();
  const handle = await open(file, 'r+');
  const { size } = await handle.stat();
  await handle.write(Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
  await handle.close();
}

test('An image database with the content of a different file is moved aside and made again when it is opened', async () => {
  await writeFile(file, 'no database '.repeat(1_000));
  let damages = 0;
  const database = openImageDatabase(file, () => (damages += 1));
  expect([database.isNew, damages]).toEqual([true, 1]);
  expect(await listMoved()).toHaveLength(1);
  database.close();
});

test('An image database that is damaged while it is open is replaced, and the write that found it succeeds', async () => {
  let damages = 0;
  const database = openImageDatabase(file, () => (damages += 1));
  const quota = openQuota(database, { share: 'files', maxBytes: 1e9 });
  await quota.put('one', 1_000);
  let replacements = 0;
  database.onReplaced(() => (replacements += 1));
  await damage();
  await quota.put('two', 1_000);
  expect({ damages, replacements, hasOne: quota.has('one'), hasTwo: quota.has('two') }).toEqual({
    damages: 1,
    replacements: 1,
    hasOne: false,
    hasTwo: true,
  });
  expect(await listMoved()).toHaveLength(1);
  quota.close();
  database.close();
});
