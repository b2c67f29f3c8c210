import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openImageDatabase, openQuota } from '../../src/store/database.js';
import { openFileStore } from '../../src/store/files.js';

test('temporary files are removed once the process that wrote them must have ended', async () => {
  const state = await mkdtemp(path.join(os.tmpdir(), 'images-'));
  const database = openImageDatabase(path.join(state, 'images.db'));
  try {
    const quota = openQuota(database, { share: 'files', maxBytes: 1_000 });
    const partial = path.join(state, 'public/.partial');
    await mkdir(partial, { recursive: true });
    for (const [name, minutes] of [
      ['written', 59],
      ['abandoned', 61],
    ] as const) {
      const file = path.join(partial, name);
      await writeFile(file, 'x');
      const at = new Date(Date.now() - minutes * 60_000);
      await utimes(file, at, at);
    }
    await openFileStore(state, quota).removePartial();
    quota.close();
    expect(await readdir(partial)).toEqual(['written']);
  } finally {
    database.close();
    await rm(state, { recursive: true });
  }
});
