import type { Stats } from 'node:fs';

/** The numbers kept of each entry, in this order; 112 bytes an entry instead of the 500 of a `Stats`. */
export const STAT_FIELDS = [
  'dev',
  'mode',
  'nlink',
  'uid',
  'gid',
  'rdev',
  'blksize',
  'ino',
  'size',
  'blocks',
  'atimeMs',
  'mtimeMs',
  'ctimeMs',
  'birthtimeMs',
] as const;

export type StatField = (typeof STAT_FIELDS)[number];
export type StatNumbers = Readonly<Record<StatField, number>>;

/** Numbers an entry. */
export const WIDTH = STAT_FIELDS.length;

const FORMAT_BITS = 0o170000;
const FILE_FORMAT = 0o100000;
const FOLDER_FORMAT = 0o040000;

export function isFolder({ mode }: Pick<StatNumbers, 'mode'>): boolean {
  return (mode & FORMAT_BITS) === FOLDER_FORMAT;
}

/** Whether nothing says that the bytes behind `now` are others than those behind `then`. */
export function isUntouched(now: Witness, then: Witness): boolean {
  return now.size === then.size && now.mtimeMs === then.mtimeMs && now.ctimeMs === then.ctimeMs && now.ino === then.ino;
}

/** What every write to a file changes at least one of. */
export type Witness = Pick<StatNumbers, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>;

/**
 * The time of change of a file is only as fine as its file system's clock, two
 * seconds at worst (FAT). A file that changed within this time before it was
 * read may have changed again without a trace, so it is read again next time.
 */
export const RACY_MS = 2000;

/** Puts the numbers of an entry at a place of an array, in the order of {@link STAT_FIELDS}. */
export function writeNumbers(numbers: Float64Array, at: number, stats: StatNumbers): void {
  // Written out, because a loop over the names takes ten times as long, and this is done for every file.
  numbers[at] = stats.dev;
  numbers[at + 1] = stats.mode;
  numbers[at + 2] = stats.nlink;
  numbers[at + 3] = stats.uid;
  numbers[at + 4] = stats.gid;
  numbers[at + 5] = stats.rdev;
  numbers[at + 6] = stats.blksize;
  numbers[at + 7] = stats.ino;
  numbers[at + 8] = stats.size;
  numbers[at + 9] = stats.blocks;
  numbers[at + 10] = stats.atimeMs;
  numbers[at + 11] = stats.mtimeMs;
  numbers[at + 12] = stats.ctimeMs;
  numbers[at + 13] = stats.birthtimeMs;
}

/** Reads the witness of the first entry from an array that {@link writeNumbers} filled. */
export function readWitness(numbers: Float64Array): Witness {
  const [, , , , , , , ino = NaN, size = NaN, , , mtimeMs = NaN, ctimeMs = NaN] = numbers;
  return { size, mtimeMs, ctimeMs, ino };
}

/** What a walk found: paths from the root, with `/`, and the numbers of each, without an object per entry. */
export class Entries {
  readonly paths: string[] = [];
  #numbers = new Float64Array(1024 * WIDTH);

  get length(): number {
    return this.paths.length;
  }

  /** Gives the index of the new entry. */
  add(path: string, stats: Stats): number {
    const index = this.paths.push(path) - 1;
    if (index * WIDTH === this.#numbers.length) this.#grow();
    this.update(index, stats);
    return index;
  }

  /** Adds a regular file whose numbers are left to whoever reads it; until then all but its kind are NaN. */
  addUnread(path: string): void {
    const index = this.paths.push(path) - 1;
    const at = index * WIDTH;
    if (at === this.#numbers.length) this.#grow();
    this.#numbers.fill(NaN, at, at + WIDTH);
    this.#numbers[at + 1] = FILE_FORMAT;
  }

  isUnread(index: number): boolean {
    return Number.isNaN(this.size(index));
  }

  /** Replaces the numbers of an entry by those from a place of an array on, in the order of {@link STAT_FIELDS}. */
  set(index: number, numbers: Float64Array, from: number): void {
    // By hand here and below: a view of an array costs more than copying fourteen numbers.
    for (let place = 0; place < WIDTH; place += 1) this.#numbers[index * WIDTH + place] = numbers[from + place] ?? NaN;
  }

  /** Replaces the numbers of an entry. */
  update(index: number, stats: StatNumbers): void {
    writeNumbers(this.#numbers, index * WIDTH, stats);
  }

  /** Size, mtimeMs, ctimeMs and ino, of which every write to an entry changes at least one, of each entry of a range. */
  witnesses(from: number, to = from + 1): Float64Array {
    const numbers = new Float64Array((to - from) * 4);
    for (let index = from; index < to; index += 1) this.writeWitness(index, numbers, (index - from) * 4);
    return numbers;
  }

  /** Puts the same four at a place of an array. */
  writeWitness(index: number, numbers: Float64Array, at: number): void {
    const start = index * WIDTH;
    numbers[at] = this.#numbers[start + 8] ?? 0;
    numbers[at + 1] = this.#numbers[start + 11] ?? 0;
    numbers[at + 2] = this.#numbers[start + 12] ?? 0;
    numbers[at + 3] = this.#numbers[start + 7] ?? 0;
  }

  /** When the bytes, the name or the permissions last changed, by the clock of the file system. */
  changedMs(index: number): number {
    return this.#numbers[index * WIDTH + 12] ?? 0;
  }

  mode(index: number): number {
    return this.#numbers[index * WIDTH + 1] ?? 0;
  }

  size(index: number): number {
    return this.#numbers[index * WIDTH + 8] ?? 0;
  }

  path(index: number): string {
    return this.paths[index] ?? '';
  }

  /** Adds the numbers of an entry to a list, in the order of {@link STAT_FIELDS}. */
  pushNumbers(index: number, list: unknown[]): void {
    const from = index * WIDTH;
    for (let place = from; place < from + WIDTH; place += 1) list.push(this.#numbers[place]);
  }

  stats(index: number): StatNumbers {
    const at = index * WIDTH;
    const read = (offset: number): number => this.#numbers[at + offset] ?? 0;
    return {
      dev: read(0),
      mode: read(1),
      nlink: read(2),
      uid: read(3),
      gid: read(4),
      rdev: read(5),
      blksize: read(6),
      ino: read(7),
      size: read(8),
      blocks: read(9),
      atimeMs: read(10),
      mtimeMs: read(11),
      ctimeMs: read(12),
      birthtimeMs: read(13),
    };
  }

  #grow(): void {
    const numbers = new Float64Array(this.#numbers.length * 2);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}
