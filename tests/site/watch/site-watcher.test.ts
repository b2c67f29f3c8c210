import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { findPendingFile, lateBytesOf } from '@trellis/site/sources/digests/large-file-digests';
import { eventually } from '../../eventually.js';
import { WatchedFolder } from './watched-folder.js';

let folder: WatchedFolder;

beforeEach(async () => {
  folder = new WatchedFolder(['a.md', 'b.png', 'sub/c.md', 'sub/inner/d.png', 'z.md']);
  await folder.watch();
});
afterEach(() => folder.remove());

const equalsFreshScan = async (): Promise<void> => {
  const { fresh, live } = await folder.compare();
  expect(live).toEqual(fresh);
};

test('watching: a changed file is updated', async () => {
  folder.put('a.md', 'other');
  await eventually(() => expect(folder.row('a.md')).toMatchObject({ size: 5 }));
  expect(folder.changes).toMatchObject([{ added: 0, changed: 1, removed: 0, folders: 0 }]);
  await equalsFreshScan();
});

test.each([
  ['a new file', () => folder.put('new.png')],
  ['a new file in a new folder of a new folder', () => folder.put('one/two/three.png')],
  ['a removed file', () => rmSync(folder.path('b.png'))],
  ['a removed folder with all below', () => rmSync(folder.path('sub'), { recursive: true })],
  ['a renamed file', () => renameSync(folder.path('a.md'), folder.path('m.md'))],
  ['a renamed folder', () => renameSync(folder.path('sub'), folder.path('other'))],
  ['a folder moved out', () => renameSync(folder.path('sub'), `${folder.base}/out`)],
  ['an empty folder', () => mkdirSync(folder.path('empty'))],
  [
    'a file that becomes a folder',
    () => {
      rmSync(folder.path('b.png'));
      folder.put('b.png/inside.png');
    },
  ],
  [
    'a folder that becomes a file',
    () => {
      rmSync(folder.path('sub'), { recursive: true });
      folder.put('sub');
    },
  ],
  [
    'a save by renaming a temporary file',
    () => {
      folder.put('.a.md.tmp', 'saved');
      renameSync(folder.path('.a.md.tmp'), folder.path('a.md'));
    },
  ],
  ['a hard link to a file', () => linkSync(folder.path('a.md'), folder.path('sub/a2.md'))],
  ['a link to a file', () => symlinkSync('../a.md', folder.path('sub/link.md'))],
])('watching: handles %s', async (_, change) => {
  change();
  await eventually(equalsFreshScan);
  expect(folder.changes.length).toBeGreaterThan(0);
  expect(folder.problems).toEqual([]);
});

test('watching: follows the contents of a folder that was moved in, moved and replaced', async () => {
  mkdirSync(`${folder.base}/tree/deep/deeper`, { recursive: true });
  writeFileSync(`${folder.base}/tree/deep/deeper/x.md`, '1');
  renameSync(`${folder.base}/tree`, folder.path('tree'));
  await eventually(equalsFreshScan);
  folder.put('tree/deep/deeper/x.md', '22');
  await eventually(() => expect(folder.row('tree/deep/deeper/x.md')).toMatchObject({ size: 2 }));
  renameSync(folder.path('tree'), folder.path('moved'));
  await eventually(equalsFreshScan);
  folder.put('moved/deep/deeper/x.md', '333');
  folder.put('tree/deep/deeper/x.md', '4444');
  await eventually(() => expect(folder.row('moved/deep/deeper/x.md')).toMatchObject({ size: 3 }));
  await eventually(equalsFreshScan);
  folder.put('tree/deep/deeper/x.md', '55555');
  await eventually(() => expect(folder.row('tree/deep/deeper/x.md')).toMatchObject({ size: 5 }));
});

test('watching: links and hard links change with their targets', async () => {
  symlinkSync('nothing-yet.md', folder.path('link.md'));
  linkSync(folder.path('a.md'), folder.path('sub/a2.md'));
  await eventually(equalsFreshScan);
  folder.put('nothing-yet.md', 'here');
  writeFileSync(folder.path('a.md'), 'through one name');
  await eventually(() => expect(folder.row('link.md')).toMatchObject({ size: 4 }));
  expect(folder.row('sub/a2.md')).toMatchObject({ size: 16 });
  await eventually(equalsFreshScan);
  folder.put('nothing-yet.md', 'HERE');
  rmSync(folder.path('a.md'));
  await eventually(() => expect(folder.paths()).not.toContain('a.md'));
  await eventually(equalsFreshScan);
});

test('watching: unchanged files keep their ids and positions', async () => {
  const before = new Map([...folder.site.store.rows('File', ['id'])].map(({ id, position }) => [id, position]));
  folder.put('aa.md');
  folder.put('sub/b.md');
  rmSync(folder.path('b.png'));
  await eventually(equalsFreshScan);
  const stayed = [...folder.site.store.rows('File', ['id'])].filter(({ id }) => before.has(id));
  expect(stayed).toHaveLength(4);
  for (const { id, position } of stayed) expect(position).toBe(before.get(id));
});

test('watching: 5,000 new files cause few updates', async () => {
  for (let index = 0; index < 5000; index += 1) folder.put(`many/${index % 50}/${index}.md`, `${index}`);
  await eventually(() => expect(folder.paths()).toHaveLength(5005));
  const sum = (name: 'added' | 'changed' | 'folders' | 'removed'): number =>
    folder.changes.reduce((total, change) => total + change[name], 0);
  expect([sum('added'), sum('changed'), sum('removed')]).toEqual([5000, 0, 0]);
  // Usually one, if the system reports them together.
  expect(folder.changes.length).toBeLessThan(10);
  await eventually(equalsFreshScan);
});

test('watching: an overflow of the event queue causes a scan', async () => {
  for (let index = 0; index < 300; index += 1) folder.put(`many/${index}.md`);
  await eventually(() => expect(folder.paths()).toHaveLength(305));
  // By default, Linux queues 16,384 events; a change of permissions is one event.
  for (let round = 0; round < 60; round += 1) {
    for (let index = 0; index < 300; index += 1) chmodSync(folder.path(`many/${index}.md`), 0o600 + (round % 2) * 0o44);
  }
  folder.put('last.md');
  await eventually(() => expect(folder.paths()).toContain('last.md'));
  await eventually(equalsFreshScan);
  expect(folder.problems).toEqual(['Too many changes at once to follow each of them; all folders are scanned again.']);
});

test('watching: a missing folder is reported, its records stay, and it is scanned when it is back', async () => {
  renameSync(folder.directory, `${folder.base}/away`);
  await eventually(() => expect(folder.problems).toEqual([expect.stringContaining('was not found')]));
  expect(folder.paths()).toHaveLength(5);
  folder.put('another.md');
  await eventually(() => expect(folder.paths()).toEqual(['another.md']));
  folder.put('again.md');
  await eventually(() => expect(folder.paths()).toEqual(['again.md', 'another.md']));
  await eventually(equalsFreshScan);
});

test('watching: a scan whose records cannot be written is retried after seconds, not in a loop', async () => {
  const { store } = folder.site;
  const write = store.write.bind(store);
  let attempts = 0;
  store.write = () => {
    attempts += 1;
    throw new Error('The disk is gone');
  };
  // A folder that was replaced is scanned.
  renameSync(folder.directory, `${folder.base}/away`);
  folder.put('another.md');
  await eventually(() => expect(folder.problems).toContainEqual(expect.stringContaining('The disk is gone')));
  const first = attempts;
  await setTimeout(1500);
  expect(attempts).toBe(first);
  expect(folder.paths()).toHaveLength(5);
  store.write = write;
  await eventually(() => expect(folder.paths()).toEqual(['another.md']));
});

test('watching: excluded files cause no update', async () => {
  folder.put('node_modules/x/index.js');
  folder.put('.DS_Store');
  folder.put('last.md');
  await eventually(() => expect(folder.paths()).toContain('last.md'));
  expect(folder.changes).toMatchObject([{ added: 1, folders: 0 }]);
});

test('watching: a reader never sees a partly added or removed tree', async () => {
  const out = `${folder.base}/out`;
  const count = 2000;
  for (let index = 0; index < count; index += 1) folder.put(`tree/${index % 100}/${index}.png`, '');
  await eventually(() => expect(folder.paths()).toHaveLength(count + 5));
  const seen = new Set<string>();
  const { store } = folder.site;
  const look = setInterval(() => {
    const rows = (['File', 'Directory', 'ImageProc'] as const).map((kind) => [...store.rows(kind, ['id'])].length);
    seen.add(rows.join(' '));
  }, 1);
  for (let round = 0; round < 3; round += 1) {
    renameSync(folder.path('tree'), out);
    await eventually(() => expect(folder.paths()).toHaveLength(5));
    renameSync(out, folder.path('tree'));
    await eventually(() => expect(folder.paths()).toHaveLength(count + 5));
  }
  clearInterval(look);
  expect([...seen].sort()).toEqual(['2005 104 2002', '5 3 2']);
});

test('watching: changes during an update are part of the next one', async () => {
  for (let round = 0; round < 30; round += 1) {
    for (let index = 0; index < 40; index += 1) folder.put(`many/${index}.md`, `${round} ${index}`);
    await setTimeout(round % 3 === 0 ? 45 : 5);
  }
  folder.put('last.md');
  await eventually(() => expect(folder.paths()).toContain('last.md'));
  expect(folder.changes.length).toBeGreaterThan(1);
  await eventually(equalsFreshScan);
});

test('watching: a change that keeps the size of a file is detected', async () => {
  for (let round = 0; round < 20; round += 1) {
    folder.put('a.md', `round ${10 + round}`);
    await eventually(equalsFreshScan);
    expect(folder.changes.length).toBeGreaterThan(round);
  }
});

test('watching: a restart reads only files that changed in the meantime', async () => {
  folder.put('new.md');
  await eventually(() => expect(folder.paths()).toContain('new.md'));
  // Waits until the digests of recently changed files are trusted.
  await setTimeout(6000);
  folder.site.close();
  folder.put('a.md', 'meanwhile');
  const { summary } = await folder.watch();
  expect(summary).toMatchObject({ files: 6, hashed: 1 });
  await equalsFreshScan();
});

test('watching: changes during the first scan are detected', async () => {
  folder.site.close();
  for (let index = 0; index < 3000; index += 1) folder.put(`many/${index}.md`);
  let wrote = 0;
  await folder.watch({
    onProgress: () => {
      for (let index = wrote; index < wrote + 100; index += 1) folder.put(`many/${index}.md`, 'during the scan');
      wrote += 100;
    },
  });
  expect(wrote).toBeGreaterThan(0);
  // Each comparison scans the folder, which delays updates in this process.
  await folder.rest();
  await eventually(equalsFreshScan);
});

/** Creates a file of zeros that takes no space. */
function putSparse(name: string, bytes = lateBytesOf(name)): void {
  writeFileSync(folder.path(name), '');
  truncateSync(folder.path(name), bytes);
}

const digestOf = (name: string): string => String(folder.row(name)?.['internal.contentDigest']);

const digestOfZeros = (bytes: number): string => createHash('md5').update(Buffer.alloc(bytes)).digest('hex');

test('watching: a large file is listed, and its digest follows, without delaying others', async () => {
  const bytes = lateBytesOf('video.mp4');
  putSparse('video.mp4');
  folder.put('new.md');
  await eventually(() => expect(folder.paths()).toEqual(expect.arrayContaining(['new.md', 'video.mp4'])));
  await eventually(() => expect(digestOf('video.mp4')).toBe(digestOfZeros(bytes)));
  expect(folder.row('video.mp4')).toMatchObject({ size: bytes });
  putSparse('video.mp4', bytes + 1);
  await eventually(() => expect(digestOf('video.mp4')).toBe(digestOfZeros(bytes + 1)));
  await equalsFreshScan();
  folder.site.close();
  // The second start reuses its digest.
  expect((await folder.watch()).summary).toMatchObject({ files: 7 });
  expect(digestOf('video.mp4')).toBe(digestOfZeros(bytes + 1));
});

test('watching: the start does not wait for large files, however large, but queries for their digests do', async () => {
  folder.site.close();
  for (let index = 0; index < 40; index += 1) putSparse(`movie-${index}.mp4`, 2 ** 40);
  putSparse('video.mp4');
  const { summary, readDigest, ...site } = await folder.watch();
  expect(summary).toMatchObject({ files: 46, hashed: 5, late: 41 });
  expect(folder.row('movie-0.mp4')).toMatchObject({ size: 2 ** 40 });
  expect(readDigest(digestOf('a.md'))).toBe(digestOf('a.md'));
  // The records stay as they are, as the first two files take hours.
  const isBeingRead = /^"movie-39\.mp4" is still being read for its digest, \d+ % so far\. Retry in about 600 s\.$/;
  await eventually(() =>
    expect(readDigest(digestOf('movie-39.mp4'), 0)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(isBeingRead) as string,
      headers: { 'Retry-After': '600' },
    }),
  );
  const waiting = expect(readDigest(digestOf('movie-39.mp4'))).rejects.toMatchObject({ code: 'unavailable' });
  site.close();
  await waiting;
  await folder.watch();
});

test('watching: a query for the digest of a large file gets it once it is read', async () => {
  folder.site.close();
  for (const name of ['one.mp4', 'two.mp4', 'three.mp4']) putSparse(name);
  const { readDigest } = await folder.watch();
  const pending = digestOf('two.mp4');
  expect(findPendingFile(pending)).toMatch(/two\.mp4$/);
  expect(await readDigest(pending)).toBe(digestOfZeros(lateBytesOf('two.mp4')));
  await eventually(() => expect(digestOf('three.mp4')).toBe(digestOf('two.mp4')));
});

test('watching: a digest that was pending at the end is read by the next start', async () => {
  folder.site.close();
  putSparse('video.mp4');
  (await folder.watch()).close();
  expect((await folder.watch()).summary).toMatchObject({ files: 6 });
  await eventually(() => expect(digestOf('video.mp4')).toBe(digestOfZeros(lateBytesOf('video.mp4'))));
});

test('watching: a large image is listed once it is read, after the start or by the next start', async () => {
  folder.site.close();
  putSparse('image.png');
  const first = await folder.watch();
  expect(first.summary).toMatchObject({ files: 5, late: 1 });
  expect(folder.paths()).not.toContain('image.png');
  first.close();
  await folder.watch();
  await eventually(() => expect(folder.paths()).toContain('image.png'));
});

describe('watching an unreadable entry', () => {
  const isRoot = process.geteuid?.() === 0;

  beforeEach(() => {
    if (!isRoot) return;
    execFileSync('chown', ['-R', '65534', folder.base]);
    process.seteuid?.(65_534);
  });
  afterEach(() => {
    if (isRoot) process.seteuid?.(0);
  });

  test.each([
    ['file', 'sub/c.md', 'sub/c.md'],
    ['folder', 'sub/inner', 'sub/inner/d.png'],
  ])('skips a %s, reports it once and retries it', async (_, path, file) => {
    const before = folder.paths();
    chmodSync(folder.path(path), 0o000);
    const reason = "can't be read: EACCES, permission denied.";
    await eventually(() => expect(folder.problems).toEqual([`Skipped: content/${path} ${reason}`]));
    expect(folder.site.problems()).toEqual({ count: 1, entries: [{ path: `content/${path}`, reason }] });
    folder.put('a.md', 'other');
    await eventually(() => expect(folder.row('a.md')).toMatchObject({ size: 5 }));
    folder.put('new.md');
    await eventually(() => expect(folder.paths()).toContain('new.md'));
    expect(folder.paths().filter((name) => name !== 'new.md')).toEqual(before.filter((name) => name !== file));
    expect(folder.problems).toHaveLength(1);
    chmodSync(folder.path(path), 0o755);
    await eventually(() => expect(folder.site.problems().count).toBe(0));
    await eventually(equalsFreshScan);
  });
});

test('watching: a name that is not UTF-8 is reported, and the rest of its folder is watched', async () => {
  const broken = Buffer.concat([Buffer.from(`${folder.path('sub')}/`), Buffer.from([0xff, 0xfe])]);
  writeFileSync(broken, '');
  const message = 'Skipped: content/sub/\\xff\\xfe its name is not valid UTF-8; rename it.';
  await eventually(() => expect(folder.problems).toEqual([message]));
  folder.put('sub/c.md', 'still followed');
  await eventually(() => expect(folder.row('sub/c.md')).toMatchObject({ size: 14 }));
  expect(folder.paths()).toHaveLength(5);
  expect(folder.site.problems().count).toBe(1);
  rmSync(broken);
  await eventually(() => expect(folder.site.problems().count).toBe(0));
  expect(folder.problems).toEqual([message]);
});
