import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { createIdGenerator, toMediaType } from '@trellis/site/sources/file-records';
import { pathsOf, type Row, type ScannedSite, SiteFolder } from './site-folder.js';

const NAMES = [
  ['Upper.TXT', 'Upper', '.TXT', 'txt'],
  ['archive.tar.gz', 'archive.tar', '.gz', 'gz'],
  ['.hidden', '.hidden', '', ''],
  ['.env.local', '.env', '.local', 'local'],
  ['trailing.', 'trailing', '.', ''],
  ['LICENSE', 'LICENSE', '', ''],
  ['..two', '.', '.two', 'two'],
  ['with space .md', 'with space ', '.md', 'md'],
  ['line\nbreak.md', 'line\nbreak', '.md', 'md'],
  ['back\\slash.md', 'back\\slash', '.md', 'md'],
  ['äöü-日本-😀.md', 'äöü-日本-😀', '.md', 'md'],
  ['100%.txt', '100%', '.txt', 'txt'],
  ['\uFFFD.txt', '\uFFFD', '.txt', 'txt'],
] as const;

let folder: SiteFolder;
let site: ScannedSite;

beforeAll(async () => {
  folder = new SiteFolder(NAMES.map(([base]) => `odd/${base}`));
  folder.put('site.config.json', '{ "dotfiles": "include" }');
  folder.put('top.md', 'twelve bytes');
  folder.put('big.bin', 'x'.repeat(600_000));
  folder.put('empty.bin', '');
  mkdirSync(folder.path('empty/inner'), { recursive: true });
  chmodSync(folder.path('top.md'), 0o640);
  utimesSync(folder.path('top.md'), 1_400_000_000.125, 1_500_000_000.875);
  site = await folder.scan({ sourceName: 'content' });
});
afterAll(() => folder.remove());

function file(relativePath: string): Row {
  return site.files.find((row) => row.relativePath === relativePath)!;
}

function directory(relativePath: string): Row {
  return site.directories.find((row) => row.relativePath === relativePath)!;
}

test.each(NAMES)('file records: the parts of the name %j', (base, name, ext, extension) => {
  expect(file(`odd/${base}`)).toMatchObject({ base, name, ext, extension, relativeDirectory: 'odd' });
  expect(file(`odd/${base}`)).toMatchObject({
    dir: folder.path('odd'),
    root: '/',
    absolutePath: folder.path(`odd/${base}`),
  });
});

test('file records: stat numbers and times', () => {
  const {
    dev,
    mode,
    nlink,
    uid,
    gid,
    rdev,
    blksize,
    ino,
    size,
    blocks,
    mtimeMs,
    ctimeMs,
    birthtimeMs,
    mtime,
    ctime,
    birthtime,
  } = statSync(folder.path('top.md'));
  expect(file('top.md')).toMatchObject({
    dev,
    mode,
    nlink,
    uid,
    gid,
    rdev,
    blksize,
    ino,
    size,
    blocks,
    mtimeMs,
    ctimeMs,
    birthtimeMs,
  });
  expect(file('top.md')).toMatchObject({
    mtime: mtime.toISOString(),
    ctime: ctime.toISOString(),
    birthTime: birthtime.toISOString(),
    atime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
  });
  expect(file('top.md')).toMatchObject({
    mtime: '2017-07-14T02:40:00.875Z',
    mode: 0o100640,
    size: 12,
    prettySize: '12 B',
  });
});

test('file records: the digest of the bytes, read in pieces or at once', () => {
  for (const name of ['top.md', 'big.bin', 'empty.bin']) {
    const digest = createHash('md5')
      .update(readFileSync(folder.path(name)))
      .digest('hex');
    expect(file(name)['internal.contentDigest']).toBe(digest);
  }
});

test('file records: source, type and description', () => {
  expect(file('top.md')).toMatchObject({
    sourceInstanceName: 'content',
    parent: null,
    relativeDirectory: '',
    'internal.type': 'File',
    'internal.mediaType': 'text/markdown',
    'internal.owner': 'gatsby-source-filesystem',
    'internal.description': 'File "content/top.md"',
    'internal.content': null,
    'internal.fieldOwners': null,
    'internal.ignoreType': null,
  });
});

test.each([
  ['the site folder', ''],
  ['above it', '..'],
  ['below it', 'odd'],
  ['far below it', 'empty/inner'],
  ['outside it', '../elsewhere/deep'],
  ['the root of the file system', '/'],
])('file records: descriptions are relative to a working folder that is %s', async (_, place) => {
  const workingDirectory = path.resolve(folder.directory, place);
  const { files, directories } = await folder.scan({ workingDirectory });
  for (const row of [...files, ...directories]) {
    const shown = path.relative(workingDirectory, String(row.absolutePath));
    expect(row['internal.description']).toBe(`${String(row['internal.type'])} "${shown}"`);
  }
});

test('file records: an unnamed source has the name that Gatsby uses', async () => {
  const { files } = await folder.scan();
  expect(files[0]).toMatchObject({ sourceInstanceName: '__PROGRAMMATIC__' });
});

test('folder records: include the root and empty folders', () => {
  expect(pathsOf(site.directories)).toEqual(['', 'empty', 'empty/inner', 'odd']);
  expect(directory('')).toMatchObject({
    relativeDirectory: '..',
    base: 'content',
    'internal.description': 'Directory "content"',
  });
  expect(directory('empty')).toMatchObject({
    relativeDirectory: '',
    extension: '',
    ext: '',
    'internal.mediaType': null,
    parent: null,
  });
  expect(directory('empty/inner')).toMatchObject({ relativeDirectory: 'empty', 'internal.type': 'Directory' });
});

test('folder records: the digest changes when the folder is touched', async () => {
  const before = directory('empty');
  utimesSync(folder.path('empty'), 1_600_000_000, 1_600_000_000);
  const { directories } = await folder.scan({ sourceName: 'content' });
  expect(directories[1]!['internal.contentDigest']).not.toBe(before['internal.contentDigest']);
  expect(directories[3]!['internal.contentDigest']).toBe(directory('odd')['internal.contentDigest']);
});

test('records are sorted by path in UTF-16 code units', async () => {
  const sorted = new SiteFolder(['b/1', 'b-1', 'b.1', 'B', 'a', 'ä', '\uFF5E', '😀', '10', '9']);
  const { files, directories } = await sorted.scan();
  expect(pathsOf(files)).toEqual(['10', '9', 'B', 'a', 'b-1', 'b.1', 'b/1', 'ä', '😀', '\uFF5E']);
  expect(pathsOf(directories)).toEqual(['', 'b']);
  sorted.remove();
});

const PICTURES = ['a.jpeg', 'b.JPG', 'c.png', 'd.webp', 'e.tif', 'f.tiff', 'g.avif', 'h.gif', 'i.svg'];

test('image records: files with an image extension have one, regardless of their content', async () => {
  const folder = new SiteFolder([...PICTURES, 'j.bmp', 'k.md', 'png']);
  const { files, images, summary } = await folder.scan();
  expect(summary.images).toBe(PICTURES.length);
  const parents = files.filter(({ id }) => images.some(({ parent }) => parent === id));
  expect(pathsOf(parents)).toEqual(PICTURES);
  expect(images[0]).toMatchObject({
    parent: files[0]!.id,
    'internal.type': 'ImageProc',
    'internal.owner': 'gatsby-transformer-sharp',
    'internal.contentDigest': files[0]!['internal.contentDigest'],
    'internal.mediaType': null,
    'internal.description': null,
  });
  folder.remove();
});

test('image records: are deleted with their file', async () => {
  const folder = new SiteFolder(['a.png', 'b.png']);
  await folder.scan();
  const { rmSync } = await import('node:fs');
  rmSync(folder.path('a.png'));
  const { files, images } = await folder.scan();
  expect(images.map(({ parent }) => parent)).toEqual([files[0]!.id]);
  folder.remove();
});

test.each([
  ['.md', 'text/markdown'],
  ['.MD', 'text/markdown'],
  ['.ts', 'video/mp2t'],
  ['.tsx', 'application/octet-stream'],
  ['.rs', 'application/rls-services+xml'],
  ['.js', 'application/javascript'],
  ['.sql', 'application/x-sql'],
  ['.gz', 'application/gzip'],
  ['.', 'application/octet-stream'],
  ['', 'application/octet-stream'],
  ['.constructor', 'application/octet-stream'],
])('the extension %j has the media type %s', (ext, mediaType) => {
  expect(toMediaType(ext)).toBe(mediaType);
});

test('idsOf: returns the same ids as Gatsby', () => {
  // UUID v5 of the path in (UUID v5 of the plugin in 638f7a53-c567-4eca-8fc1-b23efb1cfb2b), computed by Python's uuid.
  expect(createIdGenerator('gatsby-source-filesystem')('/site/content/ä 日.md')).toBe(
    '430688d2-0778-5466-853d-fdab921bd948',
  );
});

test.each([
  ['a text that nearly fills the buffer', '日'.repeat(5456), '8454bda9-8421-50d0-a3f8-b7e4c8c6ce19'],
  ['a text with a buffer of its own', '日'.repeat(5457), 'b6ea7fbd-132c-54c2-b727-87c0c8efb1db'],
  ['a much longer text', 'a'.repeat(100_000), '6f98a489-f3cd-5cd8-a996-3c21ffcfcfee'],
])('idsOf: returns the id of a long text and of a following short one: %s', (_, text, id) => {
  const ids = createIdGenerator('gatsby-source-filesystem');
  expect(ids(text)).toBe(id);
  expect(ids('/a')).toBe('6451e854-9492-5aa9-8719-2d0bb14040b2');
});

test('idsOf: ids differ by text and plugin', () => {
  const ids = createIdGenerator('gatsby-source-filesystem');
  expect(new Set([ids('/a'), ids('/b'), createIdGenerator('gatsby-transformer-sharp')('/a')]).size).toBe(3);
  expect(ids('/a')).toBe(createIdGenerator('gatsby-source-filesystem')('/a'));
});
