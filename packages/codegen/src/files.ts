import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Returns the text of a file, or `undefined` if it does not exist. */
export async function findText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Lists every file below a folder as sorted paths with `/`. The list is empty if the folder does not exist. */
export async function listFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => toSlashes(path.relative(folder, path.join(entry.parentPath, entry.name))))
      .sort();
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** Reads every file below a folder: path from that folder → text. */
export async function readFolder(folder: string): Promise<Map<string, string>> {
  const names = await listFiles(folder);
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  return new Map(names.map((name, index) => [name, texts[index] ?? '']));
}

/**
 * Writes files below a folder. Each file is replaced atomically, so that a reader sees either the old or the new text.
 *
 * All texts are written to temporary files before the first one is renamed, so that a full disk changes nothing.
 */
export async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const moves = [...files].map(([name, text]) => {
    const file = path.join(folder, name);
    return { file, temporary: `${file}.${randomUUID()}.tmp`, text };
  });
  try {
    for (const { temporary, text } of moves) {
      await mkdir(path.dirname(temporary), { recursive: true });
      await writeFile(temporary, text);
    }
    for (const { file, temporary } of moves) await rename(temporary, file);
  } catch (error) {
    await Promise.all(moves.map(({ temporary }) => rm(temporary, { force: true })));
    throw error;
  }
}

/** Removes files below a folder, and the folders that become empty. */
export async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await rm(path.join(folder, name), { force: true });
    await removeEmptyFolders(folder, path.dirname(name));
  }
}

async function removeEmptyFolders(folder: string, name: string): Promise<void> {
  if (name === '.') return;
  if ((await readdir(path.join(folder, name))).length > 0) return;
  await rmdir(path.join(folder, name));
  await removeEmptyFolders(folder, path.dirname(name));
}

/** Returns a digest of named texts, including which name belongs to which text. */
export function digestTexts(texts: Iterable<readonly [name: string, text: string]>): string {
  const hash = createHash('sha256');
  // The lengths make the boundary between name and text unambiguous.
  for (const [name, text] of texts) hash.update(`${name.length} ${text.length} `).update(name).update(text);
  return hash.digest('hex');
}

const toSlashes = (file: string) => file.replaceAll(path.sep, '/');

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
