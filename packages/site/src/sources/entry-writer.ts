import type { RecordWriter } from '../records/record-writer.js';
import type { SqlValue } from '../records/sql.js';
import { isFolder } from './entries.js';
import { createEntryRecords, ENTRY_ROW, IMAGE_ROW, isImage, type SourceLocation } from './file-records.js';
import type { PlannedWrite, StoredEntry } from './scan-plan.js';
import type { WalkResult } from './walk.js';

/** Converts planned writes to records and writes them. */
export interface EntryWriter {
  /** The entries that were deleted after the walk had found them. */
  readonly gone: ReadonlySet<number>;
  put(rows: RecordWriter, write: PlannedWrite): void;
  remove(rows: RecordWriter, known: StoredEntry): void;
}

export function createEntryWriter(source: SourceLocation, { entries, gone: goneFolders }: WalkResult): EntryWriter {
  const records = createEntryRecords(source);
  const gone = new Set(goneFolders);

  function remove(rows: RecordWriter, known: StoredEntry): void {
    rows.remove(known.kind, known.id);
    if (known.kind === 'File' && isImage(known.path)) rows.remove('ImageProc', records.imageId(known.id));
  }

  function putEntry(rows: RecordWriter, kind: string, values: SqlValue[], { index, position }: PlannedWrite): void {
    entries.pushNumbers(index, values);
    rows.insert(kind, ENTRY_ROW, values, position);
  }

  function putFile(rows: RecordWriter, write: PlannedWrite, digest: string): void {
    const path = entries.path(write.index);
    const values = records.file(path, entries.stats(write.index), digest);
    putEntry(rows, 'File', values, write);
    if (isImage(path)) rows.insert('ImageProc', IMAGE_ROW, records.image(String(values[0]), digest), write.position);
  }

  function putFolder(rows: RecordWriter, write: PlannedWrite): void {
    const values = records.directory(entries.path(write.index), entries.stats(write.index));
    putEntry(rows, 'Directory', values, write);
  }

  return {
    gone,
    remove,
    put(rows, write) {
      const { index, digest, known, inDoubt } = write;
      const folder = isFolder({ mode: entries.mode(index) });
      const isThere = folder || digest !== undefined;
      if (known && (!isThere || folder !== (known.kind === 'Directory'))) remove(rows, known);
      if (folder) putFolder(rows, write);
      else if (digest === undefined) gone.add(index);
      else if (!inDoubt || digest !== known?.digest) putFile(rows, write, digest);
    },
  };
}
