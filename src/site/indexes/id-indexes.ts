import type { IndexedDatabase } from './missing-indexes.js';
import { createIndexes } from '../record-schema.js';

/**
 * Creates missing indexes of ids, which writes need because a record replaces the record with the same id. A bulk load
 * leaves them out; the first change of a record type creates its index.
 */
export class IdIndexes {
  readonly #indexed: IndexedDatabase;
  /** The record types that had no index at the last check. */
  readonly #missing = new Set<string>();
  readonly #made = new Set<string>();

  constructor(indexed: IndexedDatabase) {
    this.#indexed = indexed;
    this.findMissing();
  }

  /** Checks which indexes are missing. Call it after a bulk load. */
  findMissing(): void {
    for (const kind of Object.keys(this.#indexed.tables)) if (!this.#isThere(kind)) this.#missing.add(kind);
  }

  /** Creates the index of a record type if it is missing. Call it in a transaction, before writing such a record. */
  ensure(kind: string): void {
    if (!this.#missing.has(kind) || this.#made.has(kind)) return;
    const { database, tables } = this.#indexed;
    if (!this.#isThere(kind)) database.exec(createIndexes(tables).get(`${kind}.id`) ?? '');
    this.#made.add(kind);
  }

  /** Call it after a transaction, which either committed its new indexes or rolled them back. */
  endTransaction({ isKept }: { readonly isKept: boolean }): void {
    if (isKept) for (const kind of this.#made) this.#missing.delete(kind);
    this.#made.clear();
  }

  #isThere(kind: string): boolean {
    const find = this.#indexed.database.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?`);
    return find.get(`${kind}.id`) !== undefined;
  }
}
