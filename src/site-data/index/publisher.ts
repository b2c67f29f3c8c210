import { createHash, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { AppError } from '@trellis/core/errors';
import { copyRecords, type RecordedChange, SEQUENCE } from '@trellis/site/record-changes';
import type { ProblemReport } from '@trellis/site/sources/problems';
import type { SiteRecords } from '@trellis/site/stored-records';
import { type ObjectStore, ObjectStoreError } from '../../storage/objects/object-store.js';
import {
  formatHead,
  HEAD_KEY,
  RENEWAL_MS,
  type IndexHead,
  type IndexProgress,
  packChangesets,
  type PublishedIndex,
  putObject,
  readHead,
  toObjectKey,
} from './index-head.js';
import { type FileCleanup, openPublishedFiles, type PublishedFiles, type SiteFile } from './published-files.js';

/** The site that is published. */
export interface PublishedSite {
  readonly store: SiteRecords & { write<T>(change: (writer: { setMeta(key: string, value: string): void }) => T): T };
  /** The path of the records. */
  readonly file: string;
  /** The digest of the schema of the records. */
  readonly schema: string;
  /** The configuration and the stored queries for replicas, as plain data. */
  readonly description: object;
  problems(): ProblemReport;
  /** Opens a copy of the records. */
  openCopy(file: string): SiteRecords;
}

/** Publishes the index of a site, and the content of its files, to a bucket that replicas follow. */
export interface IndexPublisher {
  /** Receives each transaction of the records, from their opening on. */
  note(change: RecordedChange): void;
  /** Starts to publish the site once it is open. */
  start(site: PublishedSite): void;
  /** The index in the bucket; `undefined` before the first one. */
  readonly progress: IndexProgress | undefined;
  close(): Promise<void>;
}

interface PublisherOptions {
  /** A folder for temporary files, and for the list of the stored ones. */
  readonly folder: string;
  readonly release: string;
  readonly log: Readonly<Record<'error' | 'info' | 'warn', (line: string) => void>>;
  readonly signal?: AbortSignal;
  /** How long the head of a different publisher has to stay the same until that publisher counts as stopped. */
  readonly takeOverMs?: number;
  /** The interval in which the head is written while files are stored. */
  readonly renewalMs?: number;
}

/** Changes of a burst are published together. */
const BATCH_MS = 100;

/** A publisher writes the head every 10 seconds. */
const TAKE_OVER_MS = 2.5 * RENEWAL_MS;

/** How often the head of another publisher is read while it may still run. */
const WATCH_MS = 1_000;

const RETRY_MS = 2_000;

/** With more objects than this, or half the size of the records, a new base is published: a replica that starts reads less. */
const MAX_CHANGES = 200;
const MIN_CHANGE_BYTES = 16 * 2 ** 20;

/** Changes that wait for the bucket. Beyond this, the records are published as a new base. */
const MAX_PENDING_BYTES = 64 * 2 ** 20;

/** The key of the identity of records, whose transactions are numbered. */
const ORIGIN = '~origin';

/**
 * Claims the head of a bucket for this server.
 *
 * @throws AppError `conflict` if a different server publishes there.
 */
export async function openPublisher(store: ObjectStore, options: PublisherOptions): Promise<IndexPublisher> {
  const { folder } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await deleteTemporary(folder);
  const name = createHash('sha256').update(store.address).digest('hex').slice(0, 16);
  const files = openPublishedFiles(store, folder, name);
  try {
    const head = new HeadWriter(store, { id: files.id, session: randomUUID(), release: options.release });
    await head.claim(options.takeOverMs ?? TAKE_OVER_MS, options.signal);
    // Nothing was published here before, or the bucket was emptied.
    if (head.wasMissing) files.forget();
    head.wasMissing = false;
    return new RunningPublisher(store, { ...options, head, files });
  } catch (error) {
    files.close();
    await store.close();
    if (!(error instanceof ObjectStoreError)) throw error;
    throw new AppError('unavailable', `TRELLIS_SITE_PUBLISH: ${error.message}`, { cause: error });
  }
}

async function deleteTemporary(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('publish-')) await rm(join(folder, name), { force: true });
  }
}

/** The head of the bucket, which this server alone may write. */
class HeadWriter {
  readonly #store: ObjectStore;
  readonly #publisher: IndexHead['publisher'];
  #etag: string | undefined;
  #head: Omit<IndexHead, 'format'>;
  /** Whether the head was deleted by others: then other objects may be lost as well. */
  wasMissing = false;

  constructor(store: ObjectStore, publisher: IndexHead['publisher']) {
    this.#store = store;
    this.#publisher = publisher;
    this.#head = { revision: 0, publisher };
  }

  get index(): PublishedIndex | undefined {
    return this.#head.index;
  }

  /** Waits whether another publisher writes the head, and then takes it over. */
  async claim(takeOverMs: number, signal = new AbortController().signal): Promise<void> {
    let found = await this.#read(undefined, signal);
    const isOther = found !== undefined && found.head.publisher.id !== this.#publisher.id;
    for (const end = performance.now() + takeOverMs; isOther && performance.now() < end;) {
      await delay(WATCH_MS * Math.min(1, takeOverMs / TAKE_OVER_MS), undefined, { signal });
      const now = await this.#read(undefined, signal);
      if (now && now.etag !== found?.etag) throw this.#conflict();
      found = now;
    }
    this.#etag = found?.etag;
    this.wasMissing = found === undefined;
    this.#head = { revision: found?.head.revision ?? 0, publisher: this.#publisher, index: found?.head.index };
    await this.write(this.index, signal);
  }

  /** @throws AppError `conflict` if another publisher has written the head since. */
  async write(index: PublishedIndex | undefined, signal: AbortSignal): Promise<void> {
    const next = { revision: this.#head.revision + 1, publisher: this.#publisher, ...(index && { index }) };
    this.#etag =
      (await this.#store.replace(HEAD_KEY, formatHead(next), this.#etag, signal)) ??
      (await this.#recover(next, signal));
    this.#head = next;
  }

  /**
   * Returns the ETag of the head if it is the one that was just written, by a request whose response was lost. Writes it
   * again if the bucket has none.
   */
  async #recover(next: Omit<IndexHead, 'format'>, signal: AbortSignal): Promise<string> {
    const now = await this.#read(undefined, signal);
    const etag = now ? now.etag : await this.#store.replace(HEAD_KEY, formatHead(next), undefined, signal);
    const isOwn = now?.head.publisher.session === this.#publisher.session && now.head.revision === next.revision;
    if (etag === undefined || (now && !isOwn)) throw this.#conflict();
    if (now === undefined) this.wasMissing = true;
    return etag;
  }

  async #read(etag: string | undefined, signal: AbortSignal) {
    const found = await readHead(this.#store, etag, signal);
    return found === 'unchanged' ? undefined : found;
  }

  #conflict(): AppError {
    return new AppError(
      'conflict',
      `Another server publishes its site to ${this.#store.address} (TRELLIS_SITE_PUBLISH). Stop one of them, or use another prefix.`,
    );
  }
}

interface CopiedRecords {
  /** The path of the copy. */
  readonly copy: string;
  /** The number of its last transaction. */
  readonly sequence: number;
  readonly records: SiteRecords;
}

type PublishedRecords = Pick<PublishedIndex, 'base' | 'changes' | 'origin' | 'sequence'>;

class RunningPublisher implements IndexPublisher {
  readonly #store: ObjectStore;
  readonly #options: PublisherOptions & { readonly head: HeadWriter; readonly files: PublishedFiles };
  readonly #closing = new AbortController();
  /** Transactions that the bucket does not have yet, in their order. */
  #pending: RecordedChange[] = [];
  /** Whether the changes do not continue those of the bucket. */
  #isBroken = false;
  /** The configuration of the site in the bucket. */
  #description: PublishedIndex['site'] | undefined;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #cleanup: Promise<void> = Promise.resolve();
  #publishedAt: number | undefined;
  #isFailing = false;

  constructor(
    store: ObjectStore,
    options: PublisherOptions & { readonly head: HeadWriter; readonly files: PublishedFiles },
  ) {
    this.#store = store;
    this.#options = options;
    this.#isBroken = options.files.isNew;
    // Each upload waits for it.
    setMaxListeners(0, this.#closing.signal);
  }

  get progress(): IndexProgress | undefined {
    const { index } = this.#options.head;
    if (index === undefined) return undefined;
    const ageSeconds = this.#publishedAt === undefined ? undefined : (performance.now() - this.#publishedAt) / 1000;
    return { origin: index.origin, sequence: index.sequence, ageSeconds };
  }

  note(change: RecordedChange): void {
    if (change.changesets === undefined) this.#isBroken = true;
    else this.#pending.push(change);
    if (this.#isBroken || sizeOf(this.#pending) > MAX_PENDING_BYTES) {
      this.#isBroken = true;
      this.#pending = [];
    }
    this.#wake();
  }

  start(site: PublishedSite): void {
    this.#running = this.#run(site).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#options.log.error(toSentence(error));
      // A different publisher has the bucket now, so the cleanup ends too.
      this.#closing.abort();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await Promise.all([this.#running, this.#cleanup]);
    this.#options.files.close();
    await this.#store.close();
  }

  /** Publishes until this server stops, or loses the head to a different publisher. */
  async #run(site: PublishedSite): Promise<void> {
    const { signal } = this.#closing;
    const { log } = this.#options;
    while (!signal.aborted) {
      await this.#retry(() => this.#publish(site));
      if (this.#publishedAt === undefined) log.info(`The index of the site is at ${this.#store.address}.`);
      this.#publishedAt = performance.now();
      const cleanup = this.#options.files.beginCleanup(Date.now());
      if (cleanup) this.#cleanup = this.#deleteUnused(site, cleanup);
      if (this.#pending.length === 0 && !this.#isBroken) await this.#sleepUntilChange(RENEWAL_MS);
      await delay(BATCH_MS, undefined, { signal });
    }
  }

  /** Repeats work until it succeeds. The first failure, and the success after it, are logged. */
  async #retry<T>(work: () => Promise<T>): Promise<T> {
    const { log } = this.#options;
    for (;;) {
      try {
        const result = await work();
        if (this.#isFailing) log.info(`The index is published to ${this.#store.address} again.`);
        this.#isFailing = false;
        return result;
      } catch (error) {
        const isOver = error instanceof AppError && error.code === 'conflict';
        if (isOver || this.#closing.signal.aborted) throw error;
        if (!this.#isFailing) log.error(`The index of the site can't be published: ${toSentence(error)} Retrying.`);
        this.#isFailing = true;
        await delay(RETRY_MS, undefined, { signal: this.#closing.signal });
      }
    }
  }

  async #publish(site: PublishedSite): Promise<void> {
    const { head } = this.#options;
    const { signal } = this.#closing;
    const last = head.index;
    const content = Buffer.from(JSON.stringify(site.description));
    const description = (this.#description ??= await putObject(this.#store, 'site', content, signal));
    const records = await this.#renewDuring<PublishedRecords>(
      this.#continues(site, last) ? this.#publishChanges(site, last) : this.#publishBase(site, last),
    );
    const { store, schema } = site;
    const catalogs = await this.#renewDuring(this.#options.files.putCatalogs(signal));
    await head.write(
      { ...records, schema, site: description, catalogs, changedAt: store.changedAt, problems: site.problems() },
      signal,
    );
    if (head.wasMissing) {
      this.#isBroken = true;
      this.#description = undefined;
      this.#options.files.forget();
    }
    head.wasMissing = false;
    if (last !== undefined && last.base.key !== records.base.key) await this.#deleteOld(last, { ...records, catalogs });
  }

  /** Writes the head while many files are stored, so that other servers see that this publisher runs. */
  async #renewDuring<T>(work: Promise<T>): Promise<T> {
    const { head, renewalMs = RENEWAL_MS } = this.#options;
    const isOver = work.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([isOver, delay(renewalMs, false, { ref: false })]))) {
      await head.write(head.index, this.#closing.signal).catch((error: unknown) => {
        // The work reports a bucket that does not respond.
        if (error instanceof AppError) throw error;
      });
    }
    return work;
  }

  /** Whether the pending changes continue the published ones. */
  #continues({ store, schema }: PublishedSite, last: PublishedIndex | undefined): last is PublishedIndex {
    if (last === undefined || this.#isBroken || last.schema !== schema || last.origin !== store.meta(ORIGIN))
      return false;
    const [first] = this.#pending;
    const next = first?.sequence ?? Number(store.meta(SEQUENCE) ?? 0) + 1;
    if (next !== last.sequence + 1) return false;
    const bytes = last.changes.reduce((sum, change) => sum + change.bytes, 0);
    return last.changes.length < MAX_CHANGES && bytes < Math.max(MIN_CHANGE_BYTES, last.base.bytes / 2);
  }

  async #publishChanges({ store }: PublishedSite, last: PublishedIndex) {
    const { signal } = this.#closing;
    const changes = [...this.#pending];
    const to = changes.at(-1)?.sequence;
    if (to === undefined) return last;
    await this.#options.files.add(listChangedFiles(store, changes), signal);
    const packed = packChangesets(changes.flatMap(({ changesets = [] }) => changesets));
    const object = await putObject(this.#store, 'changes', packed, signal);
    this.#pending = this.#pending.filter(({ sequence }) => sequence > to);
    return { ...last, sequence: to, changes: [...last.changes, { ...object, from: last.sequence + 1, to }] };
  }

  async #publishBase(site: PublishedSite, last: PublishedIndex | undefined) {
    const { signal } = this.#closing;
    const { files } = this.#options;
    const { store } = site;
    const isCompaction = last !== undefined && last.origin === store.meta(ORIGIN) && !this.#isBroken;
    const origin = isCompaction ? last.origin : randomUUID();
    // The transaction of the new identity is part of the base.
    this.#isBroken = false;
    if (!isCompaction) store.write((writer) => writer.setMeta(ORIGIN, origin));
    try {
      return await this.#withCopy(site, async ({ copy, sequence, records }) => {
        const base = await this.#putBase(copy);
        await files.add(listFiles(records), signal);
        this.#pending = this.#pending.filter((change) => change.sequence > sequence);
        return { origin, sequence, base: { ...base, sequence }, changes: [] };
      });
    } catch (error) {
      this.#isBroken = true;
      this.#pending = [];
      throw error;
    }
  }

  /** Copies the records to a file of their own, so that they can be read while they change. */
  async #withCopy<T>(site: PublishedSite, work: (copied: CopiedRecords) => Promise<T>): Promise<T> {
    const copy = join(this.#options.folder, `publish-${randomUUID()}.db`);
    try {
      const sequence = await copyRecords(site.file, copy);
      const records = site.openCopy(copy);
      try {
        return await work({ copy, sequence, records });
      } finally {
        records.close();
      }
    } finally {
      for (const ending of ['', '-wal', '-shm']) await rm(copy + ending, { force: true });
    }
  }

  async #putBase(copy: string): Promise<PublishedIndex['site']> {
    const { signal } = this.#closing;
    const packed = `${copy}.gz`;
    try {
      const { size: bytes } = await stat(copy);
      const digest = createHash('sha256');
      await pipeline(createReadStream(copy), createGzip({ level: 1 }), createWriteStream(packed, { mode: 0o600 }), {
        signal,
      });
      await pipeline(createReadStream(packed), digest, { signal });
      const key = toObjectKey('base', digest.digest('hex'));
      await this.#store.put(key, { file: packed }, { ifAbsent: true, signal });
      return { key, bytes };
    } finally {
      await rm(packed, { force: true });
    }
  }

  /** Deletes the objects before the last ones, which slow replicas may still read. */
  async #deleteOld(last: PublishedIndex, now: Pick<PublishedIndex, 'base' | 'catalogs'>): Promise<void> {
    const catalogs = [...(last.catalogs ?? []), ...(now.catalogs ?? [])];
    const used = new Set([last.base, now.base, ...last.changes, ...catalogs].map(({ key }) => key));
    try {
      for (const folder of ['base/', 'catalogs/', 'changes/'])
        for await (const { key } of this.#store.list(folder)) if (!used.has(key)) await this.#store.delete(key);
    } catch (error) {
      this.#options.log.warn(`Old objects in ${this.#store.address} can't be deleted: ${toSentence(error)}`);
    }
  }

  /** Deletes the content of files that the site no longer has, while it is published. A failure waits for the next day. */
  async #deleteUnused(site: PublishedSite, cleanup: FileCleanup): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    try {
      const count = await this.#withCopy(site, ({ records }) => cleanup.deleteUnused(listDigests(records), signal));
      if (count > 0) log.info(`Files deleted from ${this.#store.address}, unused for a week: ${count}.`);
    } catch (error) {
      if (!signal.aborted) log.warn(`Unused files in ${this.#store.address} can't be deleted: ${toSentence(error)}`);
    } finally {
      cleanup.end();
    }
  }

  async #sleepUntilChange(milliseconds: number): Promise<void> {
    const controller = new AbortController();
    this.#wake = () => controller.abort();
    await delay(milliseconds, undefined, { signal: controller.signal, ref: false }).catch(() => undefined);
    this.#wake = () => undefined;
  }
}

const sizeOf = (changes: readonly RecordedChange[]): number =>
  changes.reduce(
    (sum, { changesets = [] }) => sum + changesets.reduce((bytes, { byteLength }) => bytes + byteLength, 0),
    0,
  );

const FILE_COLUMNS = ['absolutePath', 'internal.contentDigest', 'size'];

const toSiteFile = (row: Readonly<Record<string, unknown>>): SiteFile => ({
  absolutePath: String(row.absolutePath),
  contentDigest: String(row['internal.contentDigest']),
  size: Number(row.size),
});

function* listDigests(records: SiteRecords): Generator<string> {
  for (const row of records.rows('File', ['internal.contentDigest'])) yield String(row['internal.contentDigest']);
}

function* listFiles(records: SiteRecords): Generator<SiteFile> {
  for (const row of records.rows('File', FILE_COLUMNS)) yield toSiteFile(row);
}

function* listChangedFiles(records: SiteRecords, changes: readonly RecordedChange[]): Generator<SiteFile> {
  for (const position of new Set(changes.flatMap(({ files }) => files))) {
    const row = records.at('File', FILE_COLUMNS, position);
    if (row) yield toSiteFile(row);
  }
}

const toSentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
