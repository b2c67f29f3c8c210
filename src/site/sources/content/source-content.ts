import type { RecordWriter } from '../../records/record-writer.js';
import type { WalkEntries } from '../entries.js';
import type { ContentMemory, PlannedWrite } from '../scan-plan.js';

/** Reads the records in the files of one source. All paths are relative to the source. */
export interface SourceContent extends ContentMemory {
  /** Whether unchanged files must be read again. */
  readonly hasUnread: boolean;
  /**
   * Marks the files to read again because one of their links leads, or could lead, to one of these paths. Returns
   * whether any of them belongs to this source.
   */
  expect(findChanged: () => ReadonlySet<string>): boolean;
  /** Call it in the first transaction of a scan, so that an interrupted scan is detected. */
  noteStart(rows: RecordWriter): void;
  /** Reads those files of the writes that contain records, for {@link put}. */
  read(entries: WalkEntries, writes: readonly PlannedWrite[]): Promise<void>;
  /** Replaces the records in a file, in the transaction that replaces the record of the file itself. */
  put(rows: RecordWriter, path: string, write: PlannedWrite): void;
  remove(rows: RecordWriter, path: string): void;
  noteEnd(): void;
}
