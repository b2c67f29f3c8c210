import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { openPublicFiles } from '../../src/site/public-files.js';
import type { PublicFile, PublicFiles } from '../../src/site/public-files.js';

let base: string;
let publicFiles: PublicFiles;

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'trellis-public-'));
  publicFiles = openPublicFiles({ directory: path.join(base, 'public') });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function makeFile(name: string, content = name): PublicFile {
  const absolutePath = path.join(base, name);
  writeFileSync(absolutePath, content);
  return { absolutePath, base: name, contentDigest: createHash('md5').update(content).digest('hex') };
}

const copyOf = (url: string): string => path.join(base, 'public', decodeURIComponent(url));

test.each([
  ['plain.md', 'plain.md'],
  ['with space.md', 'with%20space.md'],
  ['100%.txt', '100%25.txt'],
  ['a#b?c&d.jpg', 'a%23b%3Fc%26d.jpg'],
  ['größe-日本.jpg', 'gr%C3%B6%C3%9Fe-%E6%97%A5%E6%9C%AC.jpg'],
  ['..hidden', '..hidden'],
])('publishes %s as …/%s', async (name, encoded) => {
  const file = makeFile(name);
  const url = await publicFiles.publish(file);
  expect(url).toBe(`/static/${file.contentDigest}/${encoded}`);
  expect(readFileSync(copyOf(url), 'utf8')).toBe(name);
});

test('puts the prefix of the site before every path', async () => {
  const file = makeFile('a.md');
  const prefixed = openPublicFiles({ directory: path.join(base, 'public'), pathPrefix: '/blog' });
  expect(await prefixed.publish(file)).toBe(`/blog/static/${file.contentDigest}/a.md`);
  expect(prefixed.pathOf(file)).toBe(`/blog/static/${file.contentDigest}/a.md`);
  expect(readFileSync(copyOf(`/static/${file.contentDigest}/a.md`), 'utf8')).toBe('a.md');
});

test('copies once, however many ask at the same time, and leaves no other file', async () => {
  const files = Array.from({ length: 30 }, (_, index) => makeFile(`${index}.md`));
  await Promise.all([...files, ...files, ...files].map((file) => publicFiles.publish(file)));
  expect(readdirSync(path.join(base, 'public/static')).sort()).toEqual(
    files.map(({ contentDigest }) => contentDigest).sort(),
  );
  const url = await publicFiles.publish(files[0]!);
  const { ino } = statSync(copyOf(url));
  await publicFiles.publish(files[0]!);
  expect(statSync(copyOf(url)).ino).toBe(ino);
});

test('the copy stays when the file is edited in place', async () => {
  const file = makeFile('a.md', 'before');
  const url = await publicFiles.publish(file);
  writeFileSync(file.absolutePath, 'after!');
  expect(readFileSync(copyOf(url), 'utf8')).toBe('before');
});

test('refuses to publish other bytes under a digest, and leaves nothing behind', async () => {
  const file = makeFile('a.md');
  writeFileSync(file.absolutePath, 'changed');
  await expect(publicFiles.publish(file)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('"a.md"') as string,
  });
  expect(readdirSync(path.join(base, 'public/static')).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('says when the file has gone', async () => {
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
])('refuses the name %j with the digest %s', async (name, contentDigest) => {
  const file = { absolutePath: path.join(base, 'x'), base: name, contentDigest };
  await expect(publicFiles.publish(file)).rejects.toMatchObject({ code: 'invalid_input' });
});
