import type { RecordStore, RecordWriter } from '../record-store.js';
import type { KnownEntry, Memory } from './crawl-plan.js';
import { RECORD_FORMAT } from './file-record.js';
import type { Source } from './file-record.js';
import type { Signatures } from './signatures.js';

/**
 * The time of change of a file is only as fine as its file system's clock, two
 * seconds at worst (FAT). A file that changed within this time before it was
 * read may have changed again without a trace, so it is read again next time.
 */
export const RACY_MS = 2000;

const MAKER = 'crawl.maker';
const SIGNATURES = 'crawl.signatures';
const TRUSTED_UNTIL = 'crawl.trustedUntil';

/** Whether the last crawl was finished and found the same; never if a folder has no signature. */
export function isUnchanged(store: RecordStore, source: Source, { signatures, complete }: Signatures): boolean {
  return (
    complete &&
    store.meta(MAKER) === makerOf(source) &&
    store.meta(SIGNATURES) === toText(signatures) &&
    !isEmpty(store.rows('Directory', ['id']))
  );
}

export function readMemory(store: RecordStore, source: Source): Memory {
  return {
    known: new Map([...knownEntries(store, 'Directory'), ...knownEntries(store, 'File')]),
    sameMaker: store.meta(MAKER) === makerOf(source),
    trustedUntil: Number(store.meta(TRUSTED_UNTIL) ?? 0),
  };
}

/**
 * Notes that records change from now on, so that a crawl that ends half-way is
 * known by its missing signatures. What earlier crawls read is trusted no
 * further than before until this one is finished.
 */
export function noteStart(writer: RecordWriter, source: Source, memory: Memory, startedMs: number): void {
  writer.setMeta(MAKER, makerOf(source));
  writer.setMeta(SIGNATURES, '');
  if (memory.trustedUntil === 0) writer.setMeta(TRUSTED_UNTIL, String(startedMs - RACY_MS));
}

export function noteEnd(writer: RecordWriter, { signatures }: Signatures, startedMs: number): void {
  writer.setMeta(SIGNATURES, toText(signatures));
  writer.setMeta(TRUSTED_UNTIL, String(startedMs - RACY_MS));
}

function makerOf(source: Source): string {
  return JSON.stringify([RECORD_FORMAT, source.name, source.directory, source.workingDirectory]);
}

function toText(signatures: ReadonlyMap<string, string>): string {
  return JSON.stringify([...signatures].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isEmpty(rows: Iterable<unknown>): boolean {
  for (const _ of rows) return false;
  return true;
}

const COLUMNS = ['id', 'relativePath', 'size', 'mtimeMs', 'ctimeMs', 'ino', 'internal.contentDigest'] as const;

function* knownEntries(store: RecordStore, kind: 'File' | 'Directory'): Generator<[string, KnownEntry]> {
  for (const { id, position, relativePath, 'internal.contentDigest': digest, ...witness } of store.rows(
    kind,
    COLUMNS,
  )) {
    const path = String(relativePath);
    const { size, mtimeMs, ctimeMs, ino } = witness;
    const numbers = { size: Number(size), mtimeMs: Number(mtimeMs), ctimeMs: Number(ctimeMs), ino: Number(ino) };
    yield [path, { kind, path, id: String(id), position: Number(position), digest: String(digest), ...numbers }];
  }
}
