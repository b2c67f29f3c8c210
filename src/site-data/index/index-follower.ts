import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { runWithin } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { isDamage } from '@trellis/core/storage';
import { SEQUENCE } from '@trellis/site/record-changes';
import type { RecordStore } from '@trellis/site/record-store';
import { type ObjectStore, DAMAGED, ObjectStoreError } from '../../storage/objects/object-store.js';
import {
  damaged,
  getObject,
  type IndexHead,
  type IndexObject,
  type IndexProgress,
  missing,
  type PublishedIndex,
  readHead,
  unpackChangesets,
} from './index-head.js';
import { deletePackTable, openPackTable, type PackTable } from './site-files.js';

/** The local copy of a published index. */
export interface LocalIndex {
  /** The path of the records, to which changes are applied. */
  readonly file: string;
  /** The publisher's description of the site, as it was published. */
  readonly description: unknown;
}

interface FollowerOptions {
  /** The folder of the local copy. */
  readonly folder: string;
  /** The digest of the schema of this server's records. */
  readonly schema: string;
  readonly log: Readonly<Record<'error' | 'info' | 'warn', (line: string) => void>>;
  /** Opens a copy of the records for changes. */
  openCopy(file: string): RecordStore;
  /** Called with each new copy. Queries may use the former copy for a while longer. */
  onIndex(index: LocalIndex): void;
  /** Called with the state of the copy after each change of it, and of the publisher's problems. */
  onRecords(state: Pick<PublishedIndex, 'changedAt' | 'problems'>): void;
  /** Called when no index can be served, before the first one. */
  onUnavailable(reason: string): void;
}

/** Follows the index that another server publishes to a bucket. */
export interface IndexFollower {
  /** The index that this server serves; `undefined` before the first one. */
  readonly progress: IndexProgress | undefined;
  /** Creates the index of a query shape in the copy. */
  makeIndex(key: string): void;
  /** Replaces the copy, because a query found it damaged. */
  replace(): void;
  /** Settles when the bucket was read for the first time, with the error if it refuses this server. */
  readonly firstRead: Promise<void>;
  close(): Promise<void>;
}

/** Servers that were started together should not poll together. */
const pollMs = (): number => 1_000 + 500 * Math.random();

/** A bucket that fails is asked less often. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;

const HEAD_MS = 10_000;

/** The limit for a base of about 10 GB at 10 MB/s. */
const BASE_MS = 20 * 60_000;

/** The name of the file that describes the newest copy, so that a start without the bucket can serve it. */
const CURRENT = 'current.json';

interface Current {
  readonly file: string;
  readonly origin: string;
  readonly schema: string;
  readonly sequence: number;
  readonly site: string;
  readonly description: unknown;
  readonly changedAt: number | undefined;
  readonly problems: PublishedIndex['problems'];
}

export function followIndex(store: ObjectStore, options: FollowerOptions): IndexFollower {
  return new Follower(store, options);
}

class Follower implements IndexFollower {
  readonly firstRead: Promise<void>;
  readonly #store: ObjectStore;
  readonly #options: FollowerOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #current: Current | undefined;
  #records: RecordStore | undefined;
  #packs: PackTable | undefined;
  #etag: string | undefined;
  #confirmedAt: number | undefined;
  #lastFailure: string | undefined;
  #isDamaged = false;
  #settleFirst!: (error?: Error) => void;

  constructor(store: ObjectStore, options: FollowerOptions) {
    this.#store = store;
    this.#options = options;
    this.firstRead = new Promise((resolve, reject) => {
      this.#settleFirst = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.firstRead.catch(() => undefined);
    this.#running = this.#run();
  }

  get progress(): IndexProgress | undefined {
    if (this.#current === undefined) return undefined;
    const { origin, sequence } = this.#current;
    const ageSeconds = this.#confirmedAt === undefined ? undefined : (performance.now() - this.#confirmedAt) / 1000;
    return { origin, sequence, ageSeconds };
  }

  makeIndex(key: string): void {
    this.#records?.makeIndex(key);
  }

  replace(): void {
    this.#isDamaged = true;
    this.#etag = undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    this.#records?.close();
    this.#closePacks();
    await this.#store.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    await this.#openLast().catch((error: unknown) => {
      this.#options.log.warn(`The last copy of the site's index can't be used: ${toSentence(error)}`);
    });
    let failures = 0;
    while (!signal.aborted) {
      failures = (await this.#tryPoll()) ? 0 : failures + 1;
      const retryMs = Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS) * (0.5 + Math.random() / 2);
      await delay(failures === 0 ? pollMs() : retryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** @returns whether the bucket could be read. */
  async #tryPoll(): Promise<boolean> {
    try {
      await this.#poll();
    } catch (error) {
      this.#report(error);
      return false;
    }
    if (this.#lastFailure !== undefined)
      this.#options.log.info(`The index at ${this.#store.address} can be read again.`);
    this.#lastFailure = undefined;
    this.#settleFirst();
    return true;
  }

  #report(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const reason = toSentence(error);
    const isServing = this.#current !== undefined;
    if (!isServing && error instanceof ObjectStoreError && !error.isTemporary && error.code !== DAMAGED)
      this.#settleFirst(new AppError('unavailable', `TRELLIS_SITE: ${reason}`, { cause: error }));
    if (reason === this.#lastFailure) return;
    this.#lastFailure = reason;
    const effect = isServing ? 'The last copy is served.' : 'The site is unavailable until then.';
    this.#options.log.error(`TRELLIS_SITE: the index can't be read: ${reason} ${effect} Retrying.`);
    if (!isServing)
      this.#options.onUnavailable(`The index of the site can't be read. The server's log has the reason.`);
  }

  /** Serves the copy of an earlier start, which is brought up to date by the first poll. */
  async #openLast(): Promise<void> {
    const { folder, schema } = this.#options;
    const text = await readFile(join(folder, CURRENT), 'utf8').catch(() => undefined);
    if (text === undefined) return;
    const last = JSON.parse(text) as Current;
    if (last.schema !== schema || !existsSync(join(folder, last.file))) return;
    const records = this.#options.openCopy(join(folder, last.file));
    // After a power failure, the records may lack the last transaction, or have one more.
    this.#serve(records, { ...last, sequence: Number(records.meta(SEQUENCE) ?? 0) });
  }

  /** Reads the head, and the objects that it names. */
  async #poll(): Promise<void> {
    const read = (signal: AbortSignal) => readHead(this.#store, this.#etag, signal);
    const found = await runWithin(HEAD_MS, this.#closing.signal, read).catch((error: unknown) => {
      throw (error as Error).name === 'TimeoutError' ? new Error('The bucket did not respond in time.') : error;
    });
    if (found === 'unchanged') return;
    const index = found?.head.index;
    if (found === undefined || index === undefined)
      throw new Error(`No index is published at ${this.#store.address} yet.`);
    await this.#follow(index, found.head);
    // Only now, so that a failure is tried again.
    this.#etag = found.etag;
    this.#confirmedAt = performance.now();
  }

  async #follow(index: PublishedIndex, { publisher }: IndexHead): Promise<void> {
    if (index.schema !== this.#options.schema) {
      throw new Error(
        `It was published with a different schema of the records, by release ${publisher.release}. Run the same release and contract on both servers.`,
      );
    }
    // The records that follow name these files.
    await this.#readCatalogs(index.catalogs ?? []);
    if (!this.#isDamaged && this.#current && canContinue(this.#current, index)) await this.#applyChanges(index);
    else await this.#replaceCopy(index);
  }

  async #readCatalogs(catalogs: readonly IndexObject[]): Promise<void> {
    if (this.#packs?.isPresent === false) this.#closePacks();
    const packs = (this.#packs ??= openPackTable(this.#options.folder));
    for (const catalog of catalogs) {
      if (packs.hasCatalog(catalog.key)) continue;
      const content = await getObject(this.#store, catalog, this.#closing.signal);
      try {
        await packs.add(catalog.key, content);
      } catch (error) {
        this.#closePacks();
        if (isDamage(error)) deletePackTable(this.#options.folder);
        throw error;
      }
    }
  }

  #closePacks(): void {
    this.#packs?.close();
    this.#packs = undefined;
  }

  async #applyChanges(index: PublishedIndex): Promise<void> {
    const [current, records] = [this.#current, this.#records];
    if (current === undefined || records === undefined) return;
    const before = current.sequence;
    try {
      const sequence = await this.#applyTo(records, before, index);
      const description = current.site === index.site.key ? current.description : await this.#describe(index);
      const { changedAt, problems } = index;
      const now = { ...current, sequence, site: index.site.key, description, changedAt, problems };
      this.#current = now;
      if (current.site !== index.site.key) this.#options.onIndex({ file: this.#pathOf(now), description });
      this.#options.onRecords(index);
      if (sequence !== before || current.site !== index.site.key) await this.#note(now);
    } catch (error) {
      // A damaged object is not one of the copy.
      if (!(error instanceof ObjectStoreError)) this.#isDamaged = true;
      throw error;
    }
  }

  /** Applies the changes after a transaction. @returns the number of the last one. */
  async #applyTo(records: RecordStore, after: number, index: PublishedIndex): Promise<number> {
    let sequence = after;
    for (const change of index.changes.filter(({ to }) => to > after)) {
      const packed = await getObject(this.#store, change, this.#closing.signal);
      records.applyChanges(unpackChangesets(packed));
      sequence = change.to;
      const stored = Number(records.meta(SEQUENCE));
      if (stored !== sequence) throw new Error(`The changes end at ${stored} instead of ${sequence}.`);
    }
    return sequence;
  }

  async #replaceCopy(index: PublishedIndex): Promise<void> {
    const { folder } = this.#options;
    const description = await this.#describe(index);
    const file = `records-${randomUUID()}.db`;
    const target = join(folder, file);
    await this.#deleteUnused();
    let records: RecordStore | undefined;
    try {
      await runWithin(BASE_MS, this.#closing.signal, (signal) => this.#download(index.base, target, signal));
      records = this.#options.openCopy(target);
      const sequence = await this.#applyTo(records, index.base.sequence, index);
      const { origin, schema, site, changedAt, problems } = index;
      const now = { file, origin, schema, sequence, site: site.key, description, changedAt, problems };
      await this.#note(now);
      this.#isDamaged = false;
      this.#serve(records, now);
    } catch (error) {
      if (records !== this.#records) records?.close();
      await deleteRecords(target);
      throw error;
    }
  }

  #serve(records: RecordStore, now: Current): void {
    const before = this.#records;
    this.#records = records;
    this.#current = now;
    this.#options.onIndex({ file: this.#pathOf(now), description: now.description });
    this.#options.onRecords(now);
    before?.close();
  }

  #pathOf({ file }: Pick<Current, 'file'>): string {
    return join(this.#options.folder, file);
  }

  async #describe(index: PublishedIndex): Promise<unknown> {
    const content = await getObject(this.#store, index.site, this.#closing.signal);
    return JSON.parse(content.toString()) as unknown;
  }

  async #download(base: PublishedIndex['base'], target: string, signal: AbortSignal): Promise<void> {
    const found = await this.#store.get(base.key, { signal });
    if (found === undefined) throw missing(this.#store, base.key);
    const digest = createHash('sha256');
    let bytes = 0;
    async function* check(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of body) {
        digest.update(chunk);
        yield chunk;
      }
    }
    const store = this.#store;
    async function* bound(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of body) {
        bytes += chunk.byteLength;
        if (bytes > base.bytes) throw damaged(store, base.key);
        yield chunk;
      }
    }
    await pipeline(
      Readable.from(found.body),
      check,
      createGunzip(),
      bound,
      createWriteStream(target, { mode: 0o600 }),
      {
        signal,
      },
    ).catch((error: unknown) => {
      throw String((error as NodeJS.ErrnoException).code).startsWith('Z_') ? damaged(store, base.key) : error;
    });
    if (bytes !== base.bytes || digest.digest('hex') !== base.key.split('/')[1]) throw damaged(store, base.key);
  }

  /** Stores which copy is the newest. */
  async #note(now: Current): Promise<void> {
    const file = join(this.#options.folder, CURRENT);
    await writeFile(`${file}.new`, JSON.stringify(now), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  /** Deletes the copies of earlier starts, and those that were replaced. Queries that read one still have it open. */
  async #deleteUnused(): Promise<void> {
    const { folder } = this.#options;
    const used = this.#current?.file;
    for (const name of await readdir(folder)) {
      if (name.startsWith('records-') && name.endsWith('.db') && name !== used) await deleteRecords(join(folder, name));
    }
  }
}

/** Whether the changes since a copy are published. */
function canContinue(current: Current, index: PublishedIndex): boolean {
  if (current.origin !== index.origin || current.sequence > index.sequence) return false;
  const [next] = index.changes.filter(({ to }) => to > current.sequence);
  return next === undefined ? current.sequence === index.sequence : next.from === current.sequence + 1;
}

async function deleteRecords(file: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm']) await rm(file + ending, { force: true });
}

const toSentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
