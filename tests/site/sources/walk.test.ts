import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { ProblemReport, SiteProblem } from '@trellis/site/sources/problems';
import { pathsOf, SiteFolder } from './site-folder.js';

const byPath = ({ entries }: ProblemReport): SiteProblem[] =>
  [...entries].sort((one, other) => (one.path < other.path ? -1 : 1));

let folder: SiteFolder;

beforeEach(() => {
  folder = new SiteFolder();
});
afterEach(() => folder.remove());

test('walk: with dotfiles, leaves out the same names as Gatsby', async () => {
  folder.put('site.config.json', '{ "dotfiles": "include" }');
  const kept = ['.eslintrc', '.env.local', '.git/HEAD', 'dist/bundle.js', 'package-lock.json', 'x.bak', 'sub/ok.txt'];
  const left = ['.DS_Store', '.gitignore', '.npmignore', '.babelrc', 'yarn.lock', 'x.un~', 'sub/.DS_Store'];
  const below = ['node_modules/a/index.js', 'bower_components/b.js', 'sub/node_modules/deep.txt'];
  for (const file of [...kept, ...left, ...below]) folder.put(file);
  const { files, directories } = await folder.scan();
  expect(pathsOf(files)).toEqual([...kept].sort());
  expect(pathsOf(directories)).toEqual(['', '.git', 'dist', 'sub']);
});

test('walk: a link to a file inside the site is a file under its own name', async () => {
  folder.put('real/a.md', 'text');
  symlinkSync('real/a.md', folder.path('alias.txt'));
  const { files, summary } = await folder.scan();
  expect(pathsOf(files)).toEqual(['alias.txt', 'real/a.md']);
  expect(files[0]).toMatchObject({ base: 'alias.txt', size: 4, ino: files[1]!.ino });
  expect(files[0]!.id).not.toBe(files[1]!.id);
  expect(summary.linksLeftOut).toBe(0);
});

test.each([
  ['to its own folder', '.'],
  ['to the folder above', '..'],
  ['to itself', 'link'],
  ['to nothing', 'missing'],
  ['to a different folder of the site', '../b'],
  ['to a file outside', '../../outside.txt'],
  ['to a file of the system', '/etc/hostname'],
])('walk: a link %s is left out and counted', async (_, target) => {
  writeFileSync(path.join(folder.base, 'outside.txt'), '');
  folder.put('a/file');
  mkdirSync(folder.path('b'));
  symlinkSync(target, folder.path('a/link'));
  const { files, directories, summary } = await folder.scan();
  expect(pathsOf(files)).toEqual(['a/file']);
  expect(pathsOf(directories)).toEqual(['', 'a', 'b']);
  expect(summary.linksLeftOut).toBe(1);
});

test('walk: a site folder that is a link keeps its configured path', async () => {
  folder.put('a.md');
  const link = path.join(folder.base, 'link');
  symlinkSync(folder.directory, link);
  const { files } = await folder.scan({ directory: link });
  expect(files).toMatchObject([{ absolutePath: path.join(link, 'a.md'), relativePath: 'a.md' }]);
});

test('walk: the state folder is left out, also through links', async () => {
  folder.put('a.md');
  const stateDirectory = folder.path('.trellis');
  mkdirSync(stateDirectory);
  writeFileSync(path.join(stateDirectory, 'secrets.db'), '');
  symlinkSync('.trellis/secrets.db', folder.path('link'));
  const { files, directories } = await folder.scan({ stateDirectory });
  expect([...pathsOf(files), ...pathsOf(directories)]).toEqual(['a.md', '']);
});

test('walk: pipes and sockets are skipped and reported', async () => {
  folder.put('a.md');
  execFileSync('mkfifo', [folder.path('pipe')]);
  const socket = createServer().listen(folder.path('socket'));
  await once(socket, 'listening');
  const { files, problems } = await folder.scan();
  socket.close();
  expect(pathsOf(files)).toEqual(['a.md']);
  expect(byPath(problems)).toEqual([
    { path: 'content/pipe', reason: 'is a named pipe, not a file or folder.' },
    { path: 'content/socket', reason: 'is a socket, not a file or folder.' },
  ]);
});

test('walk: hard links are separate files', async () => {
  folder.put('one.md');
  linkSync(folder.path('one.md'), folder.path('two.md'));
  const { files } = await folder.scan();
  expect(files.map(({ nlink }) => nlink)).toEqual([2, 2]);
});

test('walk: names that are not valid UTF-8 are skipped and reported, even next to a similar name', async () => {
  folder.put('sub/fine.md');
  folder.put('sub/caf\uFFFD.md');
  for (const byte of [0xe9, 0xea]) {
    writeFileSync(Buffer.concat([Buffer.from(folder.path('sub/caf')), Buffer.from([byte]), Buffer.from('.md')]), '');
  }
  const { files, problems } = await folder.scan();
  expect(pathsOf(files)).toEqual(['sub/caf\uFFFD.md', 'sub/fine.md']);
  const reason = 'its name is not valid UTF-8; rename it.';
  expect(byPath(problems)).toEqual([
    { path: 'content/sub/caf\\xe9.md', reason },
    { path: 'content/sub/caf\\xea.md', reason },
  ]);
});

test('walk: a path that is too long to open is skipped and reported', async () => {
  // Created one folder at a time from inside, because the whole path would be too long here too.
  const script = 'cd "$0"; for i in $(seq 20); do mkdir "$1"; cd -P "$1"; done; touch file';
  execFileSync('bash', ['-c', script, folder.directory, 'n'.repeat(240)], { stdio: 'pipe' });
  folder.put('a.md');
  const { files, problems } = await folder.scan();
  expect(pathsOf(files)).toEqual(['a.md']);
  expect(problems).toMatchObject({
    count: 1,
    entries: [{ reason: expect.stringContaining('ENAMETOOLONG') as string }],
  });
});

test.each(['missing', 'file.txt'])('openSite: rejects a site that is not a folder (%s)', async (name) => {
  writeFileSync(path.join(folder.base, 'file.txt'), '');
  const directory = path.join(folder.base, name);
  await expect(folder.open({ directory })).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringMatching(/^The site's folder can't be read: (ENOENT|ENOTDIR), /) as string,
  });
});

describe('walk as a user without access to all files', () => {
  const isRoot = process.geteuid?.() === 0;

  async function asNobody<T>(run: () => Promise<T>): Promise<T> {
    if (!isRoot) return run();
    execFileSync('chown', ['-R', '65534', folder.base]);
    process.seteuid?.(65_534);
    try {
      return await run();
    } finally {
      process.seteuid?.(0);
    }
  }

  test.each([
    ['file', 'sub/secret.md'],
    ['folder', 'sub'],
  ])('skips and reports an unreadable %s, and reads it at the next start after it was fixed', async (_, path) => {
    folder.put('a.md');
    folder.put('sub/secret.md');
    chmodSync(folder.path(path), 0o000);
    const { files, summary, problems } = await asNobody(() => folder.scan());
    expect(pathsOf(files)).toEqual(['a.md']);
    expect(summary.files).toBe(1);
    const reason = "can't be read: EACCES, permission denied.";
    expect(problems).toEqual({ count: 1, entries: [{ path: `content/${path}`, reason }] });
    // The problem is reported again at the next start.
    expect((await asNobody(() => folder.scan())).problems.count).toBe(1);
    chmodSync(folder.path(path), 0o755);
    const fixed = await asNobody(() => folder.scan());
    expect(pathsOf(fixed.files)).toEqual(['a.md', 'sub/secret.md']);
    expect(fixed.problems).toEqual({ count: 0, entries: [] });
  });

  test('counts all of 200 unreadable files and reports 100 of them', async () => {
    for (let index = 0; index < 200; index += 1) {
      folder.put(`${index}.md`);
      chmodSync(folder.path(`${index}.md`), 0o000);
    }
    folder.put('a.md');
    const { files, problems } = await asNobody(() => folder.scan());
    expect(pathsOf(files)).toEqual(['a.md']);
    expect(problems.count).toBe(200);
    expect(problems.entries).toHaveLength(100);
  });
});

test('walk: a folder that is deleted during the walk is ignored', async () => {
  // Only the first scan reads files ahead, which may be before they are deleted.
  await folder.scan();
  for (let index = 0; index < 3000; index += 1) folder.put(`many/${index}`, '');
  for (const name of ['a', 'b', 'c', 'zz']) folder.put(`${name}/file`);
  // The walk reports its progress after each 12 ms, in which a fast machine finds everything.
  const now = performance.now.bind(performance);
  let reads = 0;
  performance.now = () => (reads += 1) * 20;
  let removed = false;
  const { files } = await folder.scan({
    onProgress: ({ found }) => {
      if (removed || found < 1000) return;
      for (const name of ['a', 'b', 'c', 'zz', 'many']) rmSync(folder.path(name), { recursive: true });
      removed = true;
    },
  });
  performance.now = now;
  expect(removed).toBe(true);
  expect(files).toEqual([]);
  expect(pathsOf((await folder.scan()).directories)).toEqual(['']);
});
