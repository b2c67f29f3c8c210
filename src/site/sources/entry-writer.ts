import type { RecordWriter } from '../record-store.js';
import type { KnownEntry, PlannedWrite } from './crawl-plan.js';
import { isFolder } from './entries.js';
import { createEntryRecords, isImage } from './file-record.js';
import type { Source } from './file-record.js';
import type { Walk } from './walk.js';

/** Turns planned writes into records. */
export interface EntryWriter {
  /** Entries that were found and had gone when their turn came. */
  readonly gone: ReadonlySet<number>;
  put(rows: RecordWriter, write: PlannedWrite): void;
  remove(rows: RecordWriter, known: KnownEntry): void;
}

export function createEntryWriter(source: Source, { entries, gone: goneFolders }: Walk): EntryWriter {
  const records = createEntryRecords(source);
  const gone = new Set(goneFolders);

  function remove(rows: RecordWriter, known: KnownEntry): void {
    rows.remove(known.kind, known.id);
    if (known.kind === 'File' && isImage(known.path)) rows.remove('ImageProc', records.imageId(known.id));
  }

  function putFile(rows: RecordWriter, { index, position }: PlannedWrite, digest: string): void {
    const file = records.file(entries.path(index), entries.stats(index), digest);
    rows.put('File', file, position);
    const image = records.image(file);
    if (image) rows.put('ImageProc', image, position);
  }

  return {
    gone,
    remove,
    put(rows, write) {
      const { index, position, digest, known, inDoubt } = write;
      const stats = entries.stats(index);
      const folder = isFolder(stats);
      const isThere = folder || digest !== undefined;
      if (known && (!isThere || folder !== (known.kind === 'Directory'))) remove(rows, known);
      if (folder) rows.put('Directory', records.directory(entries.path(index), stats), position);
      else if (digest === undefined) gone.add(index);
      else if (!inDoubt || digest !== known?.digest) putFile(rows, write, digest);
    },
  };
}
