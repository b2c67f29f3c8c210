import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ScanProgress } from '@trellis/site/sources/scan-source';
import { records } from '../../src/generated/site/records.js';
import { pathsOf, SiteFolder } from './sources/site-folder.js';

/** Waits until changes are older than the two seconds for which they are not trusted, as a ctime can't be set. */
const untilSettled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2100));

let folder: SiteFolder;

beforeEach(() => {
  folder = new SiteFolder();
});
afterEach(() => folder.remove());

test('openSite: counts files, folders, images and bytes', async () => {
  for (const file of ['a.md', 'sub/b.png', 'sub/inner/c.txt']) folder.put(file, '12345');
  const { summary } = await folder.scan();
  expect(summary).toMatchObject({ files: 3, directories: 3, images: 1, bytes: 15, hashed: 3, linksLeftOut: 0 });
});

test('openSite: ids depend on the path of the site', async () => {
  folder.put('a.png');
  const first = await folder.scan();
  const again = await folder.scan({ stateDirectory: `${folder.stateDirectory}-2` });
  expect(again.files[0]!.id).toBe(first.files[0]!.id);
  expect(again.images[0]!.id).toBe(first.images[0]!.id);
  renameSync(folder.directory, `${folder.directory}-moved`);
  const moved = await folder.scan({ directory: `${folder.directory}-moved` });
  expect(moved.files[0]!.id).not.toBe(first.files[0]!.id);
});

test('openSite: a second start reads only changed files', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) folder.put(`${name}/1.md`);
  await folder.scan();
  await untilSettled();
  expect((await folder.scan()).summary.hashed).toBe(5);
  expect((await folder.scan()).summary.hashed).toBe(0);

  folder.put('a/1.md', 'longer than it was');
  folder.put('b/2.md');
  rmSync(folder.path('c'), { recursive: true });
  renameSync(folder.path('d/1.md'), folder.path('d/renamed.md'));
  const before = await folder.scan({ stateDirectory: `${folder.stateDirectory}-fresh` });
  const { files, directories, summary } = await folder.scan();
  expect(summary).toMatchObject({ files: 5, directories: 5, hashed: 3 });
  expect(withoutAccess(files)).toEqual(withoutAccess(before.files));
  expect(pathsOf(directories)).toEqual(['', 'a', 'b', 'd', 'e']);
});

test('openSite: does not rewrite the records of unchanged files', async () => {
  for (const name of ['a.md', 'b.md', 'c.png']) folder.put(name);
  await folder.scan();
  await untilSettled();
  await folder.scan();
  const site = await folder.open();
  site.store.write((writer) => {
    const [row] = [...site.store.rows('File', ['id', 'relativePath'])].filter(
      ({ relativePath }) => relativePath === 'b.md',
    );
    writer.put(
      'File',
      { ...numbersOf(folder.path('b.md')), id: row!.id!, relativePath: 'b.md', name: 'marked' },
      Number(row!.position),
    );
  });
  site.close();
  folder.put('a.md', 'other');
  const { files, summary } = await folder.scan();
  expect(summary.hashed).toBe(1);
  expect(files.map(({ name }) => name)).toEqual(['a', 'marked', 'c']);
});

test('openSite: reads files again whose time of change is too recent to be trusted', async () => {
  folder.put('a.md', 'one');
  await folder.scan();
  expect((await folder.scan()).summary.hashed).toBe(1);
});

test('openSite: detects a change that keeps the size and the time of modification', async () => {
  folder.put('a.md', 'one');
  utimesSync(folder.path('a.md'), 1e9, 1e9);
  await folder.scan();
  await untilSettled();
  await folder.scan();
  const before = await folder.scan();
  writeFileSync(folder.path('a.md'), 'two');
  utimesSync(folder.path('a.md'), 1e9, 1e9);
  const after = await folder.scan();
  expect(before.summary.hashed).toBe(0);
  expect(after.files[0]!['internal.contentDigest']).not.toBe(before.files[0]!['internal.contentDigest']);
  expect(after.files[0]!.mtime).toBe(before.files[0]!.mtime);
});

test.each([
  ['a file becomes a folder', 'x.png', 'x.png/inside.md'],
  ['a folder becomes a file', 'x/inside.png', 'x'],
])('openSite: updates records when %s', async (_, before, after) => {
  folder.put(before);
  const first = await folder.scan();
  rmSync(folder.path(before.split('/')[0]!), { recursive: true });
  folder.put(after);
  const { files, directories, images } = await folder.scan();
  expect(first.images).toHaveLength(1);
  expect(pathsOf(files)).toEqual([after]);
  expect(images).toEqual([]);
  expect(pathsOf(directories)).toEqual(after.includes('/') ? ['', 'x.png'] : ['']);
});

test('openSite: rewrites records without reading files when the working folder or the source name changes', async () => {
  folder.put('a.md');
  await untilSettled();
  await folder.scan();
  const { files, summary } = await folder.scan({ workingDirectory: '/', sourceName: 'garden' });
  expect(summary.hashed).toBe(0);
  expect(files[0]).toMatchObject({
    sourceInstanceName: 'garden',
    'internal.description': `File "${folder.path('a.md').slice(1)}"`,
  });
});

describe('openSite with a folder that needs threads and several transactions', () => {
  const COUNT = 9000;
  let large: SiteFolder;

  beforeAll(() => {
    large = new SiteFolder();
    for (let index = 0; index < COUNT; index += 1) large.put(`${index % 40}/${index}.md`, `${index}`);
  });
  afterAll(() => large.remove());

  test('resumes an interrupted scan with the same order of records', async () => {
    const stop = new AbortController();
    const interrupted = large.open({
      signal: stop.signal,
      onProgress: ({ hashed }) => {
        if (hashed > 8500) stop.abort(new Error('stopped'));
      },
    });
    await expect(interrupted).rejects.toThrow('stopped');
    const seen: ScanProgress[] = [];
    const fresh = await large.scan({
      stateDirectory: `${large.stateDirectory}-fresh`,
      onProgress: (progress) => seen.push(progress),
    });
    const bytes = Array.from({ length: COUNT }, (_, index) => `${index}`.length).reduce((sum, size) => sum + size, 0);
    expect(seen.at(-1)).toEqual({ found: COUNT + 41, total: COUNT, hashed: COUNT, bytes });
    expect(seen.length).toBeGreaterThan(10);
    const resumed = await large.scan();
    expect(withoutAccess(resumed.files)).toEqual(withoutAccess(fresh.files));
    expect(resumed.summary).toMatchObject({ files: COUNT, directories: 41 });
  });

  test('ignores files that are deleted during the scan', async () => {
    let removed = 0;
    const { files } = await large.scan({
      stateDirectory: `${large.stateDirectory}-going`,
      onProgress: ({ total }) => {
        if (total === 0 || removed > 0) return;
        for (; removed < 100; removed += 1) rmSync(large.path(`9/${removed * 40 + 9}.md`));
      },
    });
    expect(removed).toBe(100);
    expect(files.length).toBeGreaterThanOrEqual(COUNT - 100);
    expect((await large.scan({ stateDirectory: `${large.stateDirectory}-going` })).files).toHaveLength(COUNT - 100);
  });
});

test('openSite: writes the records of the site and of this run', async () => {
  const site = await folder.open();
  const [build] = [...site.store.rows('SiteBuildMetadata', ['id', 'buildTime'])];
  expect([...site.store.rows('Site', ['id', 'internal.type'])]).toMatchObject([
    { id: 'Site', 'internal.type': 'Site' },
  ]);
  expect(build).toMatchObject({
    id: 'SiteBuildMetadata',
    buildTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/) as string,
  });
  site.close();
});

test('openSite: scans the example site with images of every format', async () => {
  const directory = fileURLToPath(new URL('../../examples/site', import.meta.url));
  const { files, summary } = await folder.scan({ directory });
  expect(summary.linksLeftOut).toBe(0);
  const types = new Set(files.map((row) => row['internal.mediaType']));
  for (const type of ['jpeg', 'png', 'webp', 'avif', 'gif', 'svg+xml', 'tiff'])
    expect(types).toContain(`image/${type}`);
  expect(Object.keys(records)).toContain('File');
});

function withoutAccess(rows: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  return rows.map((row) => ({ ...row, atime: undefined, atimeMs: undefined, position: undefined }));
}

function numbersOf(file: string): Record<string, number> {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  return { size, mtimeMs, ctimeMs, ino };
}
