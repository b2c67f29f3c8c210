import type { RecordWriter } from '../../record-store.js';
import type { ContentMemory, PlannedWrite } from '../crawl-plan.js';
import type { Entries } from '../entries.js';

/** The records that are written in the text of one source's files; every path is relative to the source. */
export interface SourceContent extends ContentMemory {
  /** Whether there are files to read that nothing says have changed. */
  readonly hasUnread: boolean;
  /**
   * Marks the files to read again because a link of theirs leads, or could lead, to one of these paths. Gives whether
   * any of them is of this source.
   */
  expect(findChanged: () => ReadonlySet<string>): boolean;
  /** To be called in the first transaction of a crawl: one that ends half-way is noticed by it. */
  noteStart(rows: RecordWriter): void;
  /** Reads the files of these writes, those that hold records, for {@link put}. */
  read(entries: Entries, writes: readonly PlannedWrite[]): Promise<void>;
  /** Replaces the records of a file, in the transaction that replaces the file's own. */
  put(rows: RecordWriter, path: string, write: PlannedWrite): void;
  remove(rows: RecordWriter, path: string): void;
  noteEnd(): void;
}
