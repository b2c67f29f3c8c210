import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';

import type { PlannedWrite } from '../../../src/site/sources/crawl-plan.js';
import type { Entries } from '../../../src/site/sources/entries.js';
import { ReadAhead } from '../../../src/site/sources/read-ahead.js';
import { walk } from '../../../src/site/sources/walk.js';
import { SiteFolder } from './site-folder.js';

const COUNT = 3000;

let folder: SiteFolder;
let entries: Entries;

beforeAll(async () => {
  folder = new SiteFolder();
  for (let index = 0; index < COUNT; index += 1) folder.put(`${index % 10}/${index}.md`);
  ({ entries } = await walk({ root: folder.directory, except: [] }));
});
afterAll(() => folder.remove());

function plannedWrites(): PlannedWrite[] {
  return entries.paths.map((_, index) => ({
    index,
    position: index,
    room: 1,
    digest: undefined,
    known: undefined,
    inDoubt: false,
  }));
}

async function readAhead(offered: Entries, root = folder.directory): Promise<readonly PlannedWrite[]> {
  const ahead = new ReadAhead(root);
  try {
    ahead.offer(offered);
    return await ahead.addDigests(plannedWrites());
  } finally {
    await ahead.close();
  }
}

test('reads the first of many files, and says the digests of their bytes', async () => {
  const digested = (await readAhead(entries)).filter(({ digest }) => digest !== undefined);
  expect(digested.length).toBeGreaterThan(500);
  for (const { index, digest } of digested) {
    expect(digest).toBe(createHash('md5').update(entries.path(index)).digest('hex'));
  }
});

test('leaves a file that has gone for its turn', async () => {
  const gone = entries.paths.findIndex((path) => path.endsWith('.md'));
  rmSync(folder.path(entries.path(gone)));
  const writes = await readAhead(entries);
  expect(writes[gone]?.digest).toBeUndefined();
  expect(writes.filter(({ digest }) => digest !== undefined).length).toBeGreaterThan(500);
  folder.put(entries.path(gone));
});

test('reads nothing while few files are found', async () => {
  const root = folder.path('1');
  const { entries: few } = await walk({ root, except: [] });
  expect(few.length).toBe(COUNT / 10 + 1);
  const writes = await readAhead(few, root);
  expect(writes.every(({ digest }) => digest === undefined)).toBe(true);
});
