import type { Indexed } from './missing-indexes.js';
import { createIndexes } from './record-schema.js';

/**
 * The indexes of ids, which writing needs: a record replaces the one of its id.
 * A first filling leaves them out; the first change of a kind makes its own.
 */
export class IdIndexes {
  readonly #indexed: Indexed;
  /** Kinds that were without when it was last looked. */
  readonly #missing = new Set<string>();
  readonly #made = new Set<string>();

  constructor(indexed: Indexed) {
    this.#indexed = indexed;
    this.look();
  }

  /** To be called when a filling has ended. */
  look(): void {
    for (const kind of Object.keys(this.#indexed.tables)) if (!this.#isThere(kind)) this.#missing.add(kind);
  }

  /** To be called in a transaction, before a record of the kind is written. */
  require(kind: string): void {
    if (!this.#missing.has(kind) || this.#made.has(kind)) return;
    const { database, tables } = this.#indexed;
    if (!this.#isThere(kind)) database.exec(createIndexes(tables).get(`${kind}.id`) ?? '');
    this.#made.add(kind);
  }

  /** To be called when a transaction has ended: what it made is kept or undone with the rest. */
  settle({ isKept }: { readonly isKept: boolean }): void {
    if (isKept) for (const kind of this.#made) this.#missing.delete(kind);
    this.#made.clear();
  }

  #isThere(kind: string): boolean {
    const find = this.#indexed.database.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?`);
    return find.get(`${kind}.id`) !== undefined;
  }
}
