import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { randomNumbers } from './make-files.js';

const EXTENSIONS = ['md', 'png', 'json', 'txt'];

/**
 * Changes a folder at random: creates, edits, renames and removes files, folders
 * and symbolic links. Hard links are left out: the system reports a change only for
 * the name that it was made through, and that name may be deleted before it is read.
 */
export class RandomChanges {
  readonly #root: string;
  readonly #random: () => number;

  constructor(root: string, seed: number) {
    this.#root = root;
    this.#random = randomNumbers(seed);
  }

  /** Makes one change. Some have no effect, such as a rename to an existing path. */
  change(): void {
    const changes = [
      [30, () => this.#write(this.#freshName())],
      [30, () => this.#write(this.#any())],
      [10, () => appendFileSync(this.#any(), 'more')],
      [10, () => this.#save(this.#any())],
      [8, () => mkdirSync(this.#freshName())],
      [12, () => renameSync(this.#any(), this.#freshName())],
      [8, () => renameSync(this.#anyFolder(), this.#freshName())],
      [14, () => rmSync(this.#any())],
      [5, () => rmSync(this.#anyFolder(), { recursive: true })],
      [2, () => symlinkSync(this.#any(), this.#freshName())],
    ] as const;
    const total = changes.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.#random() * total;
    const [, run] = changes.find(([weight]) => (left -= weight) < 0) ?? changes[0];
    try {
      run();
    } catch {
      // An earlier change may have removed the file.
    }
  }

  #write(file: string): void {
    writeFileSync(file, 'x'.repeat(Math.floor(this.#random() ** 4 * 10_000)));
  }

  #save(file: string): void {
    this.#write(`${file}.tmp`);
    renameSync(`${file}.tmp`, file);
  }

  #freshName(): string {
    const extension = EXTENSIONS[this.#upTo(EXTENSIONS.length)] ?? 'md';
    const name = this.#upTo(400).toString(36);
    return path.join(this.#anyFolderOrRoot(), this.#random() < 0.3 ? name : `${name}.${extension}`);
  }

  #any(): string {
    const folder = this.#anyFolderOrRoot();
    const names = readdirSync(folder);
    return path.join(folder, names[this.#upTo(names.length)] ?? 'nothing');
  }

  #anyFolder(): string {
    const folder = this.#anyFolderOrRoot();
    return folder === this.#root ? path.join(folder, 'nothing') : folder;
  }

  /** Picks a random folder by descending as far as there are folders. */
  #anyFolderOrRoot(): string {
    for (let folder = this.#root; ;) {
      const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      const next = below[this.#upTo(below.length)];
      if (next === undefined || this.#random() < 0.3) return folder;
      folder = path.join(folder, next.name);
    }
  }

  #upTo(count: number): number {
    return Math.floor(this.#random() * count);
  }
}
