import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';

import { setTimeout } from 'node:timers/promises';

import { LATE_BYTES } from '../../src/site/sources/late-digests.js';
import { eventually } from '../eventually.js';
import { LiveFolder } from './live-folder.js';

let folder: LiveFolder;

beforeEach(async () => {
  folder = new LiveFolder(['a.md', 'b.png', 'sub/c.md', 'sub/inner/d.png', 'z.md']);
  await folder.watch();
});
afterEach(() => folder.remove());

const isAsFresh = async (): Promise<void> => {
  const { fresh, live } = await folder.compare();
  expect(live).toEqual(fresh);
};

test('a changed file is visible soon', async () => {
  folder.put('a.md', 'other');
  await eventually(() => expect(folder.row('a.md')).toMatchObject({ size: 5 }));
  expect(folder.changes).toMatchObject([{ added: 0, changed: 1, removed: 0, folders: 0 }]);
  await isAsFresh();
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
    'a save by writing another file and renaming it',
    () => {
      folder.put('.a.md.tmp', 'saved');
      renameSync(folder.path('.a.md.tmp'), folder.path('a.md'));
    },
  ],
  ['a second name of a file', () => linkSync(folder.path('a.md'), folder.path('sub/a2.md'))],
  ['a link to a file', () => symlinkSync('../a.md', folder.path('sub/link.md'))],
])('follows %s', async (_, change) => {
  change();
  await eventually(isAsFresh);
  expect(folder.changes.length).toBeGreaterThan(0);
  expect(folder.problems).toEqual([]);
});

test('goes on following what is in a folder that was moved in, moved about and replaced', async () => {
  mkdirSync(`${folder.base}/tree/deep/deeper`, { recursive: true });
  writeFileSync(`${folder.base}/tree/deep/deeper/x.md`, '1');
  renameSync(`${folder.base}/tree`, folder.path('tree'));
  await eventually(isAsFresh);
  folder.put('tree/deep/deeper/x.md', '22');
  await eventually(() => expect(folder.row('tree/deep/deeper/x.md')).toMatchObject({ size: 2 }));
  renameSync(folder.path('tree'), folder.path('moved'));
  await eventually(isAsFresh);
  folder.put('moved/deep/deeper/x.md', '333');
  folder.put('tree/deep/deeper/x.md', '4444');
  await eventually(() => expect(folder.row('moved/deep/deeper/x.md')).toMatchObject({ size: 3 }));
  await eventually(isAsFresh);
  folder.put('tree/deep/deeper/x.md', '55555');
  await eventually(() => expect(folder.row('tree/deep/deeper/x.md')).toMatchObject({ size: 5 }));
});

test('a link and another name change with what they lead to', async () => {
  symlinkSync('nothing-yet.md', folder.path('link.md'));
  linkSync(folder.path('a.md'), folder.path('sub/a2.md'));
  await eventually(isAsFresh);
  folder.put('nothing-yet.md', 'here');
  writeFileSync(folder.path('a.md'), 'through one name');
  await eventually(() => expect(folder.row('link.md')).toMatchObject({ size: 4 }));
  expect(folder.row('sub/a2.md')).toMatchObject({ size: 16 });
  await eventually(isAsFresh);
  folder.put('nothing-yet.md', 'HERE');
  rmSync(folder.path('a.md'));
  await eventually(() => expect(folder.paths()).not.toContain('a.md'));
  await eventually(isAsFresh);
});

test('keeps ids and positions of what stayed', async () => {
  const before = new Map([...folder.site.store.rows('File', ['id'])].map(({ id, position }) => [id, position]));
  folder.put('aa.md');
  folder.put('sub/b.md');
  rmSync(folder.path('b.png'));
  await eventually(isAsFresh);
  const stayed = [...folder.site.store.rows('File', ['id'])].filter(({ id }) => before.has(id));
  expect(stayed).toHaveLength(4);
  for (const { id, position } of stayed) expect(position).toBe(before.get(id));
});

test('5,000 new files are few passes', async () => {
  for (let index = 0; index < 5000; index += 1) folder.put(`many/${index % 50}/${index}.md`, `${index}`);
  await eventually(() => expect(folder.paths()).toHaveLength(5005));
  const sum = (name: 'added' | 'changed' | 'folders' | 'removed'): number =>
    folder.changes.reduce((total, change) => total + change[name], 0);
  expect([sum('added'), sum('changed'), sum('removed')]).toEqual([5000, 0, 0]);
  // One, where the system tells of them at once.
  expect(folder.changes.length).toBeLessThan(10);
  await eventually(isAsFresh);
});

test('more changes at once than the system remembers are found by looking at everything again', async () => {
  for (let index = 0; index < 300; index += 1) folder.put(`many/${index}.md`);
  await eventually(() => expect(folder.paths()).toHaveLength(305));
  // Linux keeps 16,384 events unless told otherwise; a change of permissions is one.
  for (let round = 0; round < 60; round += 1) {
    for (let index = 0; index < 300; index += 1) chmodSync(folder.path(`many/${index}.md`), 0o600 + (round % 2) * 0o44);
  }
  folder.put('last.md');
  await eventually(() => expect(folder.paths()).toContain('last.md'));
  await eventually(isAsFresh);
  expect(folder.problems).toEqual(['Too many changes at once to be told of each; everything is looked at again.']);
});

test('says that the folder is gone, keeps what was known, and reads it when it is there again', async () => {
  renameSync(folder.directory, `${folder.base}/away`);
  await eventually(() => expect(folder.problems).toEqual([expect.stringContaining('is gone')]));
  expect(folder.paths()).toHaveLength(5);
  folder.put('another.md');
  await eventually(() => expect(folder.paths()).toEqual(['another.md']));
  folder.put('again.md');
  await eventually(() => expect(folder.paths()).toEqual(['again.md', 'another.md']));
  await eventually(isAsFresh);
});

test('leaves out what a site leaves out, without a pass', async () => {
  folder.put('node_modules/x/index.js');
  folder.put('.DS_Store');
  folder.put('last.md');
  await eventually(() => expect(folder.paths()).toContain('last.md'));
  expect(folder.changes).toMatchObject([{ added: 1, folders: 0 }]);
});

test('a reader never sees half of a tree that comes or goes', async () => {
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

test('changes while a pass runs are followed by the next one', async () => {
  for (let round = 0; round < 30; round += 1) {
    for (let index = 0; index < 40; index += 1) folder.put(`many/${index}.md`, `${round} ${index}`);
    await setTimeout(round % 3 === 0 ? 45 : 5);
  }
  folder.put('last.md');
  await eventually(() => expect(folder.paths()).toContain('last.md'));
  expect(folder.changes.length).toBeGreaterThan(1);
  await eventually(isAsFresh);
});

test('a change of a file that leaves its size as it was is seen', async () => {
  for (let round = 0; round < 20; round += 1) {
    folder.put('a.md', `round ${10 + round}`);
    await eventually(isAsFresh);
    expect(folder.changes.length).toBeGreaterThan(round);
  }
});

test('a restart reads only what changed while nobody watched', async () => {
  folder.put('new.md');
  await eventually(() => expect(folder.paths()).toContain('new.md'));
  // Until what was young when it was read has been looked at again, and a while.
  await setTimeout(6000);
  folder.site.close();
  folder.put('a.md', 'meanwhile');
  const { summary } = await folder.watch();
  expect(summary).toMatchObject({ files: 6, hashed: 1 });
  await isAsFresh();
});

test('sees what changes while the site is opened', async () => {
  folder.site.close();
  for (let index = 0; index < 3000; index += 1) folder.put(`many/${index}.md`);
  let wrote = 0;
  await folder.watch({
    onProgress: () => {
      for (let index = wrote; index < wrote + 100; index += 1) folder.put(`many/${index}.md`, 'while it is crawled');
      wrote += 100;
    },
  });
  expect(wrote).toBeGreaterThan(0);
  // Each comparison crawls the folder, which keeps this process from following it.
  await folder.rest();
  await eventually(isAsFresh);
});

test('a large file is listed once it has been read, and others do not wait for it', async () => {
  writeFileSync(folder.path('video.mp4'), '');
  truncateSync(folder.path('video.mp4'), LATE_BYTES);
  folder.put('new.md');
  await eventually(() => expect(folder.paths()).toContain('new.md'));
  await eventually(() => expect(folder.paths()).toContain('video.mp4'));
  const digest = createHash('md5').update(Buffer.alloc(LATE_BYTES)).digest('hex');
  expect(folder.row('video.mp4')).toMatchObject({ size: LATE_BYTES, 'internal.contentDigest': digest });
  folder.site.close();
  // A second start knows it.
  expect((await folder.watch()).summary).toMatchObject({ files: 7 });
  expect(folder.paths()).toContain('video.mp4');
});

test('a large file is read after the start, and a start that was ended before tries again', async () => {
  folder.site.close();
  writeFileSync(folder.path('video.mp4'), '');
  truncateSync(folder.path('video.mp4'), LATE_BYTES + 1);
  const first = await folder.watch();
  expect(first.summary).toMatchObject({ files: 5, late: 1 });
  expect(folder.paths()).not.toContain('video.mp4');
  first.close();
  await folder.watch();
  await eventually(() => expect(folder.paths()).toContain('video.mp4'));
});

describe('what can not be read', () => {
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
  ])('a %s is skipped, reported once, and tried again', async (_, path, file) => {
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
    await eventually(isAsFresh);
  });
});

test('a name that is no text is reported, and the rest of its folder followed', async () => {
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
