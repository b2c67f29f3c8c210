import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { PatternCache } from './patterns/pattern-cache.js';
import type { IndexKey } from './query/index-advisor.js';
import { defineFunctions, type FunctionState } from './query/sql-functions.js';
import type { RecordChange } from './record-changes.js';
import { type OpenedRecords, type SiteRecords, type SiteRecordsOptions, StoredRecords } from './stored-records.js';

/** The records of a site that a different process writes. */
export interface FollowedRecords extends SiteRecords {
  /**
   * Makes the committed changes of the other process visible to queries, which see the records of one moment in between.
   *
   * @param changedAt The time of the last change, in milliseconds.
   * @param change The change since the last call, if there was one.
   */
  refresh(changedAt: number | undefined, change?: RecordChange): void;
}

export interface FollowedRecordsOptions extends SiteRecordsOptions {
  /** Requests an index from the process that writes the records. */
  readonly requestIndex: (key: IndexKey) => void;
}

/**
 * Opens the records of a site for reading, while a different process has them open and writes them.
 *
 * @throws the error of SQLite when the file is missing or damaged.
 */
export function followRecords(options: FollowedRecordsOptions): FollowedRecords {
  const { file, tables, derived, watch, onDamage, requestIndex } = options;
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000');
    const functions: FunctionState = { patterns: new PatternCache() };
    defineFunctions(database, functions);
    beginSnapshot(database);
    return new SnapshotRecords({ database, file, tables, derived }, { functions, watch, onDamage, requestIndex });
  } catch (error) {
    database.close();
    throw error;
  }
}

class SnapshotRecords extends StoredRecords<OpenedRecords> implements FollowedRecords {
  #revision = 0;

  refresh(changedAt: number | undefined, change?: RecordChange): void {
    const { database } = this.opened;
    if (database.isTransaction) database.exec('COMMIT');
    beginSnapshot(database);
    this.nonBmp = this.readNonBmp();
    this.engine.advisor.resetRequests();
    const before = this.#revision;
    this.#revision = this.revision;
    // The snapshot may contain later changes too, which are reported afterwards.
    const isOnlyThis = this.#revision === before || this.#revision === change?.revision;
    this.advance(changedAt, isOnlyThis ? (change?.kinds ?? []) : undefined);
  }
}

/** Begins a transaction. Its snapshot is that of its first read. */
function beginSnapshot(database: DatabaseSyncInstance): void {
  database.exec('BEGIN');
  database.prepare('SELECT count(*) FROM "~meta"').get();
}
