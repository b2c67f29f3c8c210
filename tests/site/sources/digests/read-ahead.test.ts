import { createHash } from 'node:crypto';
import { lstatSync, rmSync, symlinkSync } from 'node:fs';
import { ReadAhead } from '@trellis/site/sources/digests/digest-writes';
import { STAT_FIELDS, type WalkEntries } from '@trellis/site/sources/entries';
import type { PlannedWrite } from '@trellis/site/sources/scan-plan';
import { walk } from '@trellis/site/sources/walk';
import { SiteFolder } from '../site-folder.js';

const COUNT = 3000;

let folder: SiteFolder;
let entries: WalkEntries;

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

async function readAhead(offered: WalkEntries, root = folder.directory): Promise<readonly PlannedWrite[]> {
  const ahead = new ReadAhead(root);
  try {
    ahead.offer(offered);
    return await ahead.addDigests(offered, plannedWrites());
  } finally {
    await ahead.close();
  }
}

test('ReadAhead: digests the first of many files', async () => {
  const digested = (await readAhead(entries)).filter(({ digest }) => digest !== undefined);
  expect(digested.length).toBeGreaterThan(500);
  for (const { index, digest } of digested) {
    expect(digest).toBe(createHash('md5').update(entries.path(index)).digest('hex'));
  }
});

test('ReadAhead: leaves a deleted file without a digest', async () => {
  const gone = entries.paths.findIndex((path) => path.endsWith('.md'));
  rmSync(folder.path(entries.path(gone)));
  const writes = await readAhead(entries);
  expect(writes[gone]?.digest).toBeUndefined();
  expect(writes.filter(({ digest }) => digest !== undefined).length).toBeGreaterThan(500);
  folder.put(entries.path(gone));
});

test('ReadAhead: does not start for few files', async () => {
  const root = folder.path('1');
  const { entries: few } = await walk({ root, except: [] });
  expect(few.length).toBe(COUNT / 10 + 1);
  const writes = await readAhead(few, root);
  expect(writes.every(({ digest }) => digest === undefined)).toBe(true);
});

describe('ReadAhead with files that were only listed', () => {
  const listFiles = () => walk({ root: folder.directory, except: [], lookedAt: 0 });

  test('reads the stats together with the bytes', async () => {
    const { entries: listed } = await listFiles();
    const writes = await readAhead(listed);
    const read = writes.filter(({ digest }) => digest !== undefined);
    expect(read.length).toBeGreaterThan(500);
    for (const { index } of read) {
      const stats = lstatSync(folder.path(listed.path(index)));
      const numbers = Object.fromEntries(STAT_FIELDS.map((field) => [field, stats[field]]));
      expect({ ...listed.stats(index), atimeMs: 0 }).toEqual({ ...numbers, atimeMs: 0 });
    }
  });

  test('does not follow a link that replaced a file', async () => {
    const { entries: listed } = await listFiles();
    const replaced = listed.paths.findIndex((path) => path.endsWith('.md'));
    const file = folder.path(listed.path(replaced));
    rmSync(file);
    symlinkSync('/etc/hostname', file);
    const writes = await readAhead(listed);
    expect(writes[replaced]?.digest).toBeUndefined();
    expect(writes.filter(({ digest }) => digest !== undefined).length).toBeGreaterThan(500);
    rmSync(file);
    folder.put(listed.path(replaced));
  });
});
