import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { watchTree } from '../src/watch-tree.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-watch-'))));
afterEach(() => rm(folder, { recursive: true }));

test('watchTree: reports each save by an editor that replaces the file, and files of folders that are new or replaced', async () => {
  await mkdir(path.join(folder, 'a/b'), { recursive: true });
  await writeFile(path.join(folder, 'a/b/file'), '0');
  let onChange: (file: string | null) => void = () => undefined;
  const errors: Error[] = [];
  const watcher = watchTree(
    folder,
    (_event, file) => onChange(file),
    (error) => void errors.push(error),
  );
  /** Resolves when the file is reported. */
  const saved = (name: string) =>
    new Promise<void>((resolve) => (onChange = (file) => file === path.normalize(name) && resolve()));
  const save = async (name: string) => {
    const reported = saved(name);
    await writeFile(path.join(folder, 'temporary'), 'text');
    await rename(path.join(folder, 'temporary'), path.join(folder, name));
    await reported;
  };
  try {
    for (const name of ['a/b/file', 'a/b/file', 'a/b/file']) await save(name);
    const created = saved('c');
    await mkdir(path.join(folder, 'c'));
    await created;
    for (const name of ['c/file', 'c/file']) await save(name);
    const deleted = saved('a');
    await rm(path.join(folder, 'a'), { recursive: true });
    await deleted;
    const again = saved('a');
    await mkdir(path.join(folder, 'a'));
    await again;
    await save('a/file');
    expect(errors).toEqual([]);
  } finally {
    watcher.close();
  }
});

test('watchTree: throws for a folder that is missing', () => {
  const watch = () =>
    watchTree(
      path.join(folder, 'missing'),
      () => undefined,
      () => undefined,
    );
  expect(watch).toThrow('ENOENT');
});
