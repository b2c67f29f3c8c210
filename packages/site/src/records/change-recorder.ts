import { backup, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import type { RecordTables } from './record-schema.js';

/** The changes of one transaction, from which a copy of the records elsewhere is brought up to date. */
export interface RecordedChange {
  /** Increases by one with each transaction, and is stored in it. */
  readonly sequence: number;
  /** Changesets of SQLite's session extension; `undefined` for a bulk load, after which copies are made again. */
  readonly changesets: readonly Uint8Array[] | undefined;
  /** The positions of the records of type `File` that were written. */
  readonly files: readonly number[];
}

/** The key in the table of facts that contains the number of the last transaction. */
export const SEQUENCE = '~sequence';

/** The key in the table of facts that contains the last change as clients follow it, so that copies report it as well. */
export const LAST_CHANGE = '~change';

/** Records the changes of each transaction of a connection. */
export class ChangeRecorder {
  readonly #database: DatabaseSyncInstance;
  readonly #tables: readonly string[];
  readonly #onChange: (change: RecordedChange) => void;
  #sequence: number;
  #sessions: ReturnType<DatabaseSyncInstance['createSession']>[] = [];
  #files = new Set<number>();
  /** Whether a bulk load runs, whose changes would not fit into memory. */
  isBulk = false;

  constructor(database: DatabaseSyncInstance, tables: RecordTables, onChange: (change: RecordedChange) => void) {
    this.#database = database;
    this.#tables = [...Object.keys(tables), '~meta'];
    this.#onChange = onChange;
    this.#sequence = readSequence(database);
  }

  noteFile(position: number): void {
    this.#files.add(position);
  }

  /** Call it before the transaction. @returns the number of the transaction, which it stores as {@link SEQUENCE}. */
  begin(): number {
    // A session for each table, because the tables of full-text indexes are written by triggers in every copy.
    if (!this.isBulk) this.#sessions = this.#tables.map((table) => this.#database.createSession({ table }));
    return this.#sequence + 1;
  }

  /** Call it after the transaction. */
  end({ isKept }: { readonly isKept: boolean }): void {
    const files = [...this.#files];
    this.#files.clear();
    const sessions = this.#sessions;
    this.#sessions = [];
    try {
      if (!isKept) return;
      this.#sequence += 1;
      const changesets = sessions.map((session) => session.changeset()).filter(({ byteLength }) => byteLength > 0);
      this.#onChange({ sequence: this.#sequence, changesets: this.isBulk ? undefined : changesets, files });
    } finally {
      for (const session of sessions) session.close();
    }
  }
}

function readSequence(database: DatabaseSyncInstance): number {
  const row = database.prepare('SELECT value FROM "~meta" WHERE key = ?').get(SEQUENCE) as
    { value: string } | undefined;
  return Number(row?.value ?? 0);
}

/** Returns the number of the last transaction of a copy, without opening it as records. */
export function readCopySequence(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return readSequence(database);
  } finally {
    database.close();
  }
}

/**
 * Copies the records as they are now, while this process continues to write them.
 *
 * @returns the number of the last transaction in the copy.
 */
export async function copyRecords(file: string, target: string): Promise<number> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    // Within a transaction, changes of other connections don't make the copy begin again.
    database.exec('BEGIN');
    const sequence = readSequence(database);
    await backup(database, target, { rate: PAGES_PER_STEP });
    return sequence;
  } finally {
    database.close();
  }
}

/** 4 MB, so that requests wait a few milliseconds at most. */
const PAGES_PER_STEP = 256;

/**
 * Applies changes of one table to a copy of the records.
 *
 * @throws Error if the copy is not the one that the changes were recorded for.
 */
export function applyChangeset(database: DatabaseSyncInstance, changeset: Uint8Array): void {
  if (!database.applyChangeset(changeset)) throw new Error('The changes do not fit the copy of the records.');
}
