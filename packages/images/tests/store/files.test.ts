import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openImages } from '../../src/images.js';
import { openImageDatabase, openQuota } from '../../src/store/database.js';
import { openFileStore } from '../../src/store/files.js';

test.each<[string, (state: string) => Promise<void>]>([
  ['a prune', prune],
  ['the next start', async (state) => openImages({ stateDirectory: state, findSource: () => undefined }).close()],
])('temporary files are removed by %s once the process that wrote them must have ended', async (_when, remove) => {
  const state = await mkdtemp(path.join(os.tmpdir(), 'images-'));
  try {
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
    await remove(state);
    expect(await readdir(partial)).toEqual(['written']);
  } finally {
    await rm(state, { recursive: true });
  }
});

async function prune(state: string): Promise<void> {
  const database = openImageDatabase(path.join(state, 'images.db'));
  const quota = openQuota(database, { share: 'files', maxBytes: 1_000 });
  await openFileStore(state, quota).removePartial();
  quota.close();
  database.close();
}
