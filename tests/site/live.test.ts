import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

import { eventually, LiveFolder } from './live-folder.js';

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

test('a changed file is visible within a second', async () => {
  folder.put('a.md', 'other');
  await eventually(() => expect(folder.row('a.md')).toMatchObject({ size: 5 }), 1000);
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

test('5,000 new files are one pass', async () => {
  for (let index = 0; index < 5000; index += 1) folder.put(`many/${index % 50}/${index}.md`, `${index}`);
  await eventually(() => expect(folder.paths()).toHaveLength(5005), 15_000);
  expect(folder.changes).toMatchObject([{ added: 5000, changed: 0, removed: 0, folders: 51 }]);
  await eventually(isAsFresh);
});

test('more changes at once than the system remembers are found by looking at everything again', async () => {
  for (let index = 0; index < 300; index += 1) folder.put(`many/${index}.md`);
  await eventually(() => expect(folder.paths()).toHaveLength(305));
  for (let round = 0; round < 60; round += 1) {
    for (let index = 0; index < 300; index += 1) writeFileSync(folder.path(`many/${index}.md`), `${round}`);
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
