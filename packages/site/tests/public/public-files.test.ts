import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CopyStore, openPublicFiles, type PublicFile, type PublicFiles } from '../../src/public-files.js';

let base: string;
let publicFiles: PublicFiles;
const files: PublicFile[] = [];
/** The names and sizes of copies, in the order in which they were stored. */
const stored: [string, number][] = [];
const touched: string[] = [];

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'trellis-public-'));
  for (const list of [files, stored, touched]) list.length = 0;
  publicFiles = open();
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const open = (pathPrefix?: string): PublicFiles =>
  openPublicFiles({
    pathPrefix,
    store,
    findFile: (contentDigest, name) => files.find((file) => file.contentDigest === contentDigest && file.base === name),
  });

/** A store in the folder `public`. */
const store: CopyStore = {
  maxBytes: 8_000,
  async find(name) {
    const absolutePath = path.join(base, 'public', name);
    return existsSync(absolutePath) ? { absolutePath } : undefined;
  },
  async put(name, write) {
    const temporary = path.join(base, randomUUID());
    await write(temporary);
    const absolutePath = path.join(base, 'public', name);
    mkdirSync(path.dirname(absolutePath), { recursive: true });
    renameSync(temporary, absolutePath);
    stored.push([name, statSync(absolutePath).size]);
    return { absolutePath };
  },
  touch: (name) => void touched.push(name),
};

function makeFile(name: string, content = name): PublicFile {
  const absolutePath = path.join(base, name);
  writeFileSync(absolutePath, content);
  const { size, mtimeMs } = statSync(absolutePath);
  const file = {
    absolutePath,
    base: name,
    contentDigest: createHash('md5').update(content).digest('hex'),
    size,
    mtimeMs,
  };
  files.push(file);
  return file;
}

const copyOf = ({ contentDigest, base: name }: PublicFile): string =>
  path.join(base, 'public/static', contentDigest, name);

describe('publish', () => {
  test.each([
    ['plain.md', 'plain.md'],
    ['with space.md', 'with%20space.md'],
    ['100%.txt', '100%25.txt'],
    ['a#b?c&d.jpg', 'a%23b%3Fc%26d.jpg'],
    ['größe-日本.jpg', 'gr%C3%B6%C3%9Fe-%E6%97%A5%E6%9C%AC.jpg'],
    ['..hidden', '..hidden'],
  ])('copies %s from the path of its URL, …/%s', async (name, encoded) => {
    const file = makeFile(name);
    const url = publicFiles.pathOf(file);
    expect(url).toBe(`/static/${file.contentDigest}/${encoded}`);
    expect(existsSync(copyOf(file))).toBe(false);
    const parsed = publicFiles.parsePath(url.slice('/static'.length))!;
    expect(parsed).toEqual({ contentDigest: file.contentDigest, base: name });
    await expect(publicFiles.publish(parsed)).resolves.toEqual({
      absolutePath: copyOf(file),
      contentDigest: file.contentDigest,
      isCopy: true,
    });
    expect(readFileSync(copyOf(file), 'utf8')).toBe(name);
  });

  test('finds no file that the site no longer has, even if a copy exists', async () => {
    const file = makeFile('a.md');
    await publicFiles.publish(file);
    files.length = 0;
    await expect(publicFiles.publish(file)).resolves.toBeUndefined();
    expect(existsSync(copyOf(file))).toBe(true);
  });

  test('copies once for concurrent requests', async () => {
    const all = Array.from({ length: 30 }, (_, index) => makeFile(`${index}.md`));
    await Promise.all([...all, ...all, ...all].map((file) => publicFiles.publish(file)));
    expect(stored).toHaveLength(all.length);
    await publicFiles.publish(all[0]!);
    expect(stored).toHaveLength(all.length);
  });

  test('counts each copy against the quota once, and each later request as a use', async () => {
    const file = makeFile('a.md', 'twelve bytes');
    const key = `static/${file.contentDigest}/a.md`;
    await publicFiles.publish(file);
    expect([stored, touched]).toEqual([[[key, 12]], []]);
    await publicFiles.publish(file);
    expect([stored, touched]).toEqual([[[key, 12]], [key]]);
  });

  test('copies an evicted file again', async () => {
    const file = makeFile('a.md');
    await publicFiles.publish(file);
    rmSync(copyOf(file));
    await publicFiles.publish(file);
    expect(readFileSync(copyOf(file), 'utf8')).toBe('a.md');
  });

  test('keeps the copy when the file is edited in place', async () => {
    const file = makeFile('a.md', 'before');
    await publicFiles.publish(file);
    writeFileSync(file.absolutePath, 'after!');
    await expect(publicFiles.publish(file)).resolves.toMatchObject({ isCopy: true });
    expect(readFileSync(copyOf(file), 'utf8')).toBe('before');
  });

  test('serves a file of more than an eighth of the quota from the site, unless it has changed', async () => {
    const file = makeFile('film.mp4', 'x'.repeat(1001));
    await expect(publicFiles.publish(file)).resolves.toMatchObject({
      absolutePath: file.absolutePath,
      isCopy: false,
    });
    expect([existsSync(copyOf(file)), stored]).toEqual([false, []]);
    utimesSync(file.absolutePath, 1, 1);
    await expect(publicFiles.publish(file)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('rejects a file that changed', async () => {
    const file = makeFile('a.md');
    writeFileSync(file.absolutePath, 'changed');
    await expect(publicFiles.publish(file)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('"a.md"') as string,
    });
    expect(stored).toEqual([]);
  });

  test('reports a file that was deleted after the scan', async () => {
    const file = makeFile('a.md');
    rmSync(file.absolutePath);
    await expect(publicFiles.publish(file)).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    ['..', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['a/b', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['a\0b', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['\ud800', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['a.md', '../../etc'],
    ['unknown.md', 'd41d8cd98f00b204e9800998ecf8427e'],
  ])('finds no file with the name %j and the digest %s', async (name, contentDigest) => {
    files.push({ absolutePath: path.join(base, 'x'), base: name, contentDigest, size: 1, mtimeMs: 1 });
    if (name === 'unknown.md') files.length = 0;
    await expect(publicFiles.publish({ base: name, contentDigest })).resolves.toBeUndefined();
  });
});

describe('path of a URL', () => {
  test('starts with the prefix of the site', () => {
    const file = makeFile('a.md');
    expect(open('/blog').pathOf(file)).toBe(`/blog/static/${file.contentDigest}/a.md`);
  });

  test.each([
    '/a.md',
    '/d41d8cd98f00b204e9800998ecf8427e/a/b',
    '/d41d8cd98f00b204e9800998ecf8427e/%E0%A4%A',
    '/x/a.md',
  ])('does not accept %s', (url) => {
    expect(publicFiles.parsePath(url)).toBeUndefined();
  });
});
