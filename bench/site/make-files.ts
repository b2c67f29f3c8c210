import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface FolderSize {
  readonly files: number;
  readonly folders: number;
}

const WORDS =
  'amber basalt cedar delta ember fjord granite harbor island juniper kelp lagoon meadow nimbus opal prairie quartz river summit tundra umber valley willow xenon yarrow zephyr'.split(
    ' ',
  );

/** Each of the twenty entries is a twentieth of the files. */
const EXTENSIONS = 'md md md md md json json json yaml csv txt txt html css ts tsx jpg jpg png webp'.split(' ');

/** Part of the folder name; a change of the generator changes it, so that old folders are not reused. */
const MARK = 'trellis-bench-files 1';

/** Returns a generator (xorshift32) of the same numbers in [0, 1) on every machine. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Fills `directory` with files that are the same on every machine, times of
 * change included. Sizes range from 0 to 64 kB, half of them under 1 kB, 9 kB on
 * average. Does nothing if an earlier run created the same folder.
 */
export function makeFiles(directory: string, size: FolderSize): void {
  const mark = `${path.resolve(directory)}.made`;
  const wanted = `${MARK} ${size.files} ${size.folders}\n`;
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  rmSync(directory, { recursive: true, force: true });
  rmSync(mark, { force: true });
  writeAll(directory, size);
  writeFileSync(mark, wanted);
}

function writeAll(directory: string, { files, folders }: FolderSize): void {
  const random = randomNumbers(0x2545f491);
  const bytes = Buffer.from(Array.from({ length: 128 * 1024 }, () => Math.floor(random() * 256)));
  const paths = folderPaths(folders, random);
  for (const folder of paths) mkdirSync(path.join(directory, folder), { recursive: true });
  for (let index = 0; index < files; index += 1) {
    const file = path.join(directory, paths[index % folders] ?? '', fileName(index, random));
    const start = Math.floor(random() * 64 * 1024);
    writeFileSync(file, bytes.subarray(start, start + Math.floor(random() ** 6 * 64 * 1024)));
    const seconds = Date.UTC(2019, 0, 1) / 1000 + Math.floor(random() * 5 * 365 * 86_400);
    utimesSync(file, seconds, seconds);
  }
}

/** Returns the folders of a tree in which each contains up to eight others; the first is the root. */
function folderPaths(count: number, random: () => number): string[] {
  const paths = [''];
  for (let index = 1; index < count; index += 1) {
    paths.push(path.join(paths[Math.floor((index - 1) / 8)] ?? '', `${word(random)}-${index}`));
  }
  return paths;
}

function fileName(index: number, random: () => number): string {
  const extension = EXTENSIONS[Math.floor(random() * EXTENSIONS.length)] ?? 'txt';
  return `${word(random)}-${word(random)}-${index}.${extension}`;
}

function word(random: () => number): string {
  return WORDS[Math.floor(random() * WORDS.length)] ?? '';
}
