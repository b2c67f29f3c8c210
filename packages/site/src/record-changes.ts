import { backup, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import type { RecordTables } from './records/record-schema.js';

/** The changes of a site's records, as clients follow them. */

/** A change of the records that queries see. */
export interface RecordChange {
  /** The state of the records after the change. Increases with each change, also after the records were made again. */
  readonly revision: number;
  /** The types of the records that were added, changed or deleted. */
  readonly kinds: readonly string[];
  /** The ids of these records, at most {@link MAX_IDS}. */
  readonly ids: readonly string[];
  /** Whether more records changed than `ids` lists. */
  readonly isTruncated: boolean;
}

/** Enough for any change made by hand; a client that receives more queries everything again. */
export const MAX_IDS = 1000;

/** Collects the changes of one transaction, or those that a client has not received yet. */
export class ChangedRecords {
  readonly #kinds = new Set<string>();
  readonly #ids = new Set<string>();
  #isTruncated = false;

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  add(kind: string, id: string): void {
    this.#kinds.add(kind);
    if (this.#ids.size < MAX_IDS) this.#ids.add(id);
    else this.#isTruncated ||= !this.#ids.has(id);
  }

  merge({ kinds, ids, isTruncated }: RecordChange): void {
    for (const kind of kinds) this.#kinds.add(kind);
    for (const id of ids) if (this.#ids.size < MAX_IDS) this.#ids.add(id);
    this.#isTruncated ||= isTruncated || ids.some((id) => !this.#ids.has(id));
  }

  toChange(revision: number): RecordChange {
    return { revision, kinds: [...this.#kinds], ids: [...this.#ids], isTruncated: this.#isTruncated };
  }
}

/** Sends changes to those who follow them. */
export class ChangeFeed {
  readonly #followers = new Set<Follower>();
  readonly #revision: () => number;

  /** @param revision Returns the current revision. */
  constructor(revision: () => number) {
    this.#revision = revision;
  }

  publish(change: RecordChange): void {
    for (const follower of this.#followers) follower.receive(change);
  }

  /**
   * Returns the changes from now on, after a first one with the current revision and no records. Changes that were not
   * read yet are merged into one, so that a slow reader needs little memory. Ends when the records are closed.
   */
  follow(): AsyncIterableIterator<RecordChange> {
    const none: RecordChange = { revision: this.#revision(), kinds: [], ids: [], isTruncated: false };
    const follower: Follower = new Follower(none, () => this.#followers.delete(follower));
    this.#followers.add(follower);
    return follower;
  }

  close(): void {
    for (const follower of [...this.#followers]) void follower.return();
  }
}

/** A generator would not end before its next value. */
class Follower implements AsyncIterableIterator<RecordChange> {
  readonly #onEnd: () => void;
  #pending: RecordChange | undefined;
  #waiting: ((result: IteratorResult<RecordChange, undefined>) => void) | undefined;
  #isOver = false;

  constructor(first: RecordChange, onEnd: () => void) {
    this.#pending = first;
    this.#onEnd = onEnd;
  }

  receive(change: RecordChange): void {
    if (this.#waiting) {
      this.#settle({ done: false, value: change });
      return;
    }
    const merged = new ChangedRecords();
    if (this.#pending) merged.merge(this.#pending);
    merged.merge(change);
    this.#pending = merged.toChange(change.revision);
  }

  /** Must not be called again before it has settled. */
  next(): Promise<IteratorResult<RecordChange, undefined>> {
    const value = this.#pending;
    this.#pending = undefined;
    if (this.#isOver) return Promise.resolve(OVER);
    if (value) return Promise.resolve({ done: false, value });
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  return(): Promise<IteratorResult<RecordChange, undefined>> {
    this.#isOver = true;
    this.#onEnd();
    this.#settle(OVER);
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #settle(result: IteratorResult<RecordChange, undefined>): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(result);
  }
}

const OVER = { done: true, value: undefined } as const;

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
