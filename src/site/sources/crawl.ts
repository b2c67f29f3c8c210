import type { CrawlProgress } from '../crawl-progress.js';
import type { RecordStore, RecordWriter } from '../record-store.js';
import { isFirstCrawl, isUnchanged, noteEnd, noteStart, readMemory } from './crawl-memory.js';
import { changedPaths, planCrawl } from './crawl-plan.js';
import type { CrawlPlan, PlannedWrite } from './crawl-plan.js';
import { digestWrites, measureWork } from './digest-writes.js';
import { createEntryWriter } from './entry-writer.js';
import type { EntryWriter } from './entry-writer.js';
import { isFolder, RACY_MS } from './entries.js';
import type { Entries } from './entries.js';
import { NoRoomError } from './content/no-room.js';
import type { SourceContent } from './content/source-content.js';
import { isImage } from './file-record.js';
import type { LateDigests } from './late-digests.js';
import { ReadAhead, WORTH_IT } from './read-ahead.js';
import { signFolders } from './signatures.js';
import type { Signatures } from './signatures.js';
import type { SiteSource } from './site-source.js';
import type { EntryProblem } from './unreadable.js';
import { walk } from './walk.js';
import type { Walk, WalkObserver } from './walk.js';

export interface CrawlOptions {
  readonly source: SiteSource;
  readonly store: RecordStore;
  /** Reads the records that are written in the source's files. */
  readonly content?: SourceContent | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CrawlProgress) => void) | undefined;
  /** Told of folders and links, for watching them. */
  readonly observer?: WalkObserver | undefined;
  /** Whether all is written in one transaction, for queries that are answered meanwhile. */
  readonly atomic?: boolean;
  /** Reads large files, whose records are then missing at first; absent, the crawl reads them. */
  readonly late?: LateDigests | undefined;
}

export interface CrawlSummary {
  readonly files: number;
  readonly directories: number;
  readonly images: number;
  readonly bytes: number;
  /** Files whose bytes were read. */
  readonly hashed: number;
  /** Links to folders, to places outside the site and to nothing; they are no part of the site. */
  readonly linksLeftOut: number;
  /** Entries left out because their names are private. */
  readonly privateLeftOut: number;
  /** Large files that are still to be read. */
  readonly late: number;
  readonly milliseconds: number;
}

/** The result of a crawl. */
export interface Crawled {
  readonly summary: CrawlSummary;
  readonly problems: readonly EntryProblem[];
}

/**
 * Makes the store hold the files, folders and pictures of a folder, and the
 * records written in its files: reads only what changed since the last time,
 * also when that was ended half-way, writes only what differs, and removes what
 * has gone. Entries that can't be read are skipped and reported.
 *
 * @throws AppError `unprocessable` when the folder itself can't be read, or holds too much.
 */
export async function crawl(options: CrawlOptions): Promise<Crawled> {
  try {
    return await crawlOnce(options);
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    // The plan knows now how many there are, and numbers the source anew.
    return crawlOnce(options);
  }
}

async function crawlOnce(options: CrawlOptions): Promise<Crawled> {
  const ahead = new ReadAhead(options.source.root, options.late);
  try {
    return await crawlWith(options, ahead);
  } finally {
    await ahead.close();
  }
}

async function crawlWith(options: CrawlOptions, ahead: ReadAhead): Promise<Crawled> {
  const startedMs = Date.now();
  const { store, source, content, onProgress, signal, observer, atomic } = options;
  const isFirst = isFirstCrawl(store, source);
  const problems: EntryProblem[] = [];
  const onProblem = (problem: EntryProblem): void => void problems.push(problem);
  const waiting = new Set<number>();
  let writes: readonly PlannedWrite[] = [];
  const onFound = (entries: Entries): void => {
    if (isFirst) ahead.offer(entries);
    onProgress?.({ ...NOTHING_READ, found: entries.length });
  };
  // The files of a first crawl are all opened, and looked at then.
  const looking = { signal, onFound, onProblem, observer };
  const found = await walk({ ...source, ...looking, ...(isFirst && { lookedAt: WORTH_IT }) });
  if (isFirst) ahead.offer(found.entries, 'planning');
  // Skipped entries may be readable at the next start although no folder has changed.
  const sign = (): Signatures => {
    const signed = signFolders(found, startedMs - RACY_MS);
    return problems.length + waiting.size === 0 ? signed : { signatures: new Map(), complete: false };
  };
  const signed = isFirst ? undefined : sign();
  const writer = createEntryWriter(source, found);
  let hashed = 0;
  if (signed === undefined || content?.hasUnread || !isUnchanged(store, source, signed)) {
    const memory = { ...readMemory(store, source), content };
    let plan = planCrawl(found, memory);
    if (content?.expect(() => changedPaths(found, plan))) plan = planCrawl(found, memory);
    ({ writes } = plan);
    const changes = collectChanges(options);
    changes.add((rows) => {
      noteStart(rows, source, memory, startedMs);
      content?.noteStart(rows);
      for (const known of plan.removals) {
        writer.remove(rows, known);
        content?.remove(rows, known.path);
      }
    });
    changes.pause();
    const rowsAtOnce = isFirst && !atomic ? FILLING_ROWS : TRANSACTION_ROWS;
    const applying = { found, plan, writer, changes, ahead, rowsAtOnce, onProblem, waiting };
    const apply = (): Promise<number> => applyWrites(options, applying);
    // Queries that are answered meanwhile need the indexes.
    hashed = await (atomic ? apply() : store.fill(apply));
    changes.add((rows) => noteEnd(rows, source, sign(), startedMs));
    changes.write();
    content?.noteEnd();
  }
  const { linksLeftOut, privateLeftOut } = found;
  // A large file that changed has its old record meanwhile.
  const unlisted = writes.flatMap(({ index, known }) => (waiting.has(index) && !known ? [index] : []));
  const counts = count(found, new Set([...writer.gone, ...unlisted]));
  const milliseconds = Date.now() - startedMs;
  const summary = { ...counts, hashed, linksLeftOut, privateLeftOut, late: waiting.size, milliseconds };
  return { summary, problems };
}

const NOTHING_READ: CrawlProgress = { found: 0, total: 0, hashed: 0, bytes: 0 };

/**
 * Writes a transaction. A larger one rewrites the pages of the indexes less
 * often, a smaller one loses less when the crawl is ended half-way.
 */
const TRANSACTION_ROWS = 8192;

/** While a database is filled there are no indexes, and what is left at the end is written when all else is done. */
const FILLING_ROWS = 2048;

interface Changes {
  add(change: (rows: RecordWriter) => void): void;
  /** Writes what was added, unless all is to be written at once. */
  pause(): void;
  write(): void;
}

function collectChanges({ store, atomic = false }: CrawlOptions): Changes {
  const changes: ((rows: RecordWriter) => void)[] = [];
  const write = (): void =>
    store.write((rows) => {
      for (const change of changes.splice(0)) change(rows);
    });
  return { add: (change) => changes.push(change), pause: atomic ? () => undefined : write, write };
}

interface Applying {
  readonly found: Walk;
  readonly plan: CrawlPlan;
  readonly writer: EntryWriter;
  readonly changes: Changes;
  readonly ahead: ReadAhead;
  /** In one transaction. */
  readonly rowsAtOnce: number;
  readonly onProblem: (problem: EntryProblem) => void;
  /** Takes the indexes of large files that are still to be read. */
  readonly waiting: Set<number>;
}

/** Gives the number of files read. */
async function applyWrites(
  { source: { root }, content, signal, onProgress, late }: CrawlOptions,
  { found: { entries }, plan, writer, changes, ahead, rowsAtOnce, onProblem, waiting }: Applying,
): Promise<number> {
  const work = measureWork(entries, plan.writes, late);
  const isSized = !plan.writes.some(({ index }) => entries.isUnread(index));
  const digesters = ahead.digestersFor(work);
  const pending: PlannedWrite[] = [];
  const flush = (): void => {
    const ready = pending.splice(0);
    changes.add((rows) => {
      for (const write of ready) {
        writer.put(rows, write);
        content?.put(rows, entries.path(write.index), write);
      }
    });
    changes.pause();
  };
  let [hashed, bytes] = [0, 0];
  if (late) for (const { index } of plan.writes) waiting.add(index);
  for await (const batch of digestWrites({ entries, root, digesters, ahead, late, onProblem }, plan.writes)) {
    signal?.throwIfAborted();
    for (const { index } of batch.writes) waiting.delete(index);
    await content?.read(entries, batch.writes);
    pending.push(...batch.writes);
    if (pending.length >= rowsAtOnce) flush();
    hashed += batch.files;
    bytes += batch.bytes;
    onProgress?.({
      found: entries.length,
      total: work.files,
      hashed,
      bytes,
      ...(isSized && { totalBytes: work.bytes }),
    });
  }
  flush();
  return hashed;
}

function count(
  { entries }: Walk,
  gone: ReadonlySet<number>,
): Pick<CrawlSummary, 'files' | 'directories' | 'images' | 'bytes'> {
  const counts = { files: 0, directories: 0, images: 0, bytes: 0 };
  for (let index = 0; index < entries.length; index += 1) {
    if (gone.has(index)) continue;
    if (isFolder({ mode: entries.mode(index) })) {
      counts.directories += 1;
      continue;
    }
    counts.files += 1;
    counts.images += isImage(entries.path(index)) ? 1 : 0;
    counts.bytes += entries.size(index);
  }
  return counts;
}
