import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { type ScannedSite, SiteFolder } from './site-folder.js';

let folder: SiteFolder;
beforeEach(() => {
  folder = new SiteFolder(['content/b.md', 'content/a.md', 'data/c.json', 'other/x.md']);
});
afterEach(() => folder.remove());

const configure = (...sources: object[]): void => folder.put('site.config.json', JSON.stringify({ sources }));
const content = { name: 'content', path: 'content' };
const data = { name: 'data', path: 'data' };
const open = (): Promise<ScannedSite> => folder.scan({ workingDirectory: folder.directory });
const inOrder = ({ files }: ScannedSite): string[] =>
  files.map(({ sourceInstanceName, relativePath }) => `${sourceInstanceName} ${relativePath}`);

test('files are sorted by source in the order of the configuration, then by path', async () => {
  configure(data, content);
  expect(inOrder(await open())).toEqual(['data c.json', 'content a.md', 'content b.md']);
  configure(content, data);
  expect(inOrder(await open())).toEqual(['content a.md', 'content b.md', 'data c.json']);
});

test('paths are relative to the source, descriptions to the site folder', async () => {
  configure(content);
  const { files, directories } = await open();
  expect(files[0]).toMatchObject({
    relativePath: 'a.md',
    absolutePath: folder.path('content/a.md'),
    'internal.description': 'File "content/a.md"',
  });
  expect(directories[0]).toMatchObject({ relativePath: '', 'internal.description': 'Directory "content"' });
});

test('a file in a source has the same id as without a configuration', async () => {
  const before = await open();
  configure(content);
  const after = await open();
  const idOf = ({ files }: ScannedSite): unknown => files.find(({ base }) => base === 'a.md')?.id;
  expect(idOf(after)).toBe(idOf(before));
});

test('a source that is no longer configured has no records', async () => {
  folder.put('data/d.png');
  configure(content, data);
  expect((await open()).images).toHaveLength(1);
  configure(content);
  const { files, directories, images } = await open();
  expect(inOrder({ files } as ScannedSite)).toEqual(['content a.md', 'content b.md']);
  expect(directories).toHaveLength(1);
  expect(images).toEqual([]);
});

test('a source that is configured again is scanned again', async () => {
  configure(content, data);
  const before = await open();
  configure(content);
  await open();
  configure(content, data);
  expect(inOrder(await open())).toEqual(inOrder(before));
});

test.each([
  ['a file', ['b.md'], ['a.md', 'sub/c.md', 'sub/deep/d.md']],
  ['a folder with its contents', ['sub'], ['a.md', 'b.md']],
  ['the contents of a folder', ['sub/**'], ['a.md', 'b.md']],
  ['a folder further down', ['**/deep'], ['a.md', 'b.md', 'sub/c.md']],
  ['matches of several globs', ['a.*', '**/{c,d}.md'], ['b.md']],
  ['names that start with a dot', ['**/.*', 'a.md', 'sub'], ['b.md']],
])('ignore: leaves out %s', async (_reason, ignore, kept) => {
  for (const file of ['content/sub/c.md', 'content/sub/deep/d.md']) folder.put(file);
  if (ignore.includes('**/.*')) folder.put('content/.hidden/x.md');
  configure({ ...content, ignore });
  expect((await open()).files.map(({ relativePath }) => relativePath)).toEqual(kept);
});

test('ignore: removing a glob includes its files again', async () => {
  configure({ ...content, ignore: ['a.md'] });
  expect((await open()).files).toHaveLength(1);
  configure(content);
  expect((await open()).files).toHaveLength(2);
});

test.each([
  ['after', (outer: object, inner: object) => [outer, inner]],
  ['before', (outer: object, inner: object) => [inner, outer]],
])('a source inside another source and configured %s it has its files to itself', async (_place, order) => {
  folder.put('content/images/i.png');
  const inner = { name: 'images', path: 'content/images' };
  configure(content);
  expect((await open()).files).toHaveLength(3);
  configure(...order(content, inner));
  const { files, directories, images } = await open();
  expect(inOrder({ files } as ScannedSite).toSorted()).toEqual(['content a.md', 'content b.md', 'images i.png']);
  expect(directories.map(({ sourceInstanceName }) => sourceInstanceName).toSorted()).toEqual(['content', 'images']);
  expect(images).toHaveLength(1);
  configure(content);
  expect((await open()).files.map(({ relativePath }) => relativePath)).toEqual(['a.md', 'b.md', 'images/i.png']);
});

test('a source may be outside the site folder', async () => {
  renameSync(folder.path('data'), `${folder.base}/shared`);
  configure({ name: 'shared', path: '../shared' });
  const { files } = await open();
  expect(files[0]).toMatchObject({ relativePath: 'c.json', 'internal.description': 'File "../shared/c.json"' });
});

test('two sources with the same folder are rejected', async () => {
  configure(content, { name: 'twin', path: './content/' });
  await expect(open()).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(open()).rejects.toThrow('"content" and "twin" have the same folder');
});

test.each([
  ['a folder that does not exist', 'gone', 'ENOENT, it does not exist'],
  ['a file', 'data/c.json', 'ENOTDIR, it is not a folder'],
])('a source that is %s is skipped and reported, and the others are scanned', async (_reason, path, reason) => {
  configure({ name: 'odd', path }, content);
  const site = await open();
  expect(inOrder(site)).toEqual(['content a.md', 'content b.md']);
  expect(site.problems.entries).toEqual([{ path, reason: `The folder of the source "odd" can't be read: ${reason}.` }]);
});

test('a source that becomes unreadable has no records after a restart', async () => {
  configure(data, content);
  await open();
  renameSync(folder.path('data'), folder.path('away'));
  expect(inOrder(await open())).toEqual(['content a.md', 'content b.md']);
  renameSync(folder.path('away'), folder.path('data'));
  expect(inOrder(await open())).toEqual(['data c.json', 'content a.md', 'content b.md']);
});

test('a site without a readable source is rejected', async () => {
  configure({ name: 'gone', path: 'gone' });
  await expect(open()).rejects.toMatchObject({ code: 'unprocessable' });
});

test('the state folder does not belong to any source', async () => {
  mkdirSync(folder.path('content/state'));
  configure(content, { name: 'state', path: 'content/sub' });
  mkdirSync(folder.path('content/sub'));
  const { directories } = await folder.scan({ stateDirectory: folder.path('content/state') });
  expect(directories.map(({ sourceInstanceName }) => sourceInstanceName)).toEqual(['content', 'state']);
});

test('a start without changes reads no file', async () => {
  configure(content, data);
  await open();
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await open();
  expect((await open()).summary).toMatchObject({ files: 3, directories: 2, hashed: 0 });
  rmSync(folder.path('data/c.json'));
  expect((await open()).summary).toMatchObject({ files: 2, hashed: 0 });
});
