import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { isDamage, makeDatabasePrivate, moveDamagedAside } from '@trellis/core/storage';
import { LRUCache } from 'lru-cache';
import { openThread } from '../sources/threads.js';
import type {
  ExcerptFormat,
  HtmlPieces,
  MarkdownReply,
  MarkdownRequest,
  MarkdownSettings,
  Rendering,
} from './rendering.js';

/** Renders Markdown within limits. Each text is rendered once and stored by its content. */
export interface MarkdownRenderer {
  /**
   * @param check Called before the text is rendered. Throws if the result is no longer needed.
   * @throws AppError `unprocessable` for a text that exceeds the limits.
   */
  render(text: string, check: () => void): Promise<Rendering>;
  /** Renders the beginning of a text: as HTML, or as Markdown, which is one piece. */
  excerpt(text: string, excerpt: Excerpt, check: () => void): Promise<HtmlPieces>;
  /**
   * Renders a text ahead of the queries for it. Returns whether it did, which it does not for a text that is stored or
   * exceeds the limits.
   */
  prepare(text: string, check: () => void): Promise<boolean>;
  /** Returns whether rendering more texts would delete stored ones. */
  isFull(): boolean;
  close(): Promise<void>;
}

export interface Excerpt {
  readonly length: number;
  readonly format: ExcerptFormat;
}

export interface MarkdownRendererOptions extends MarkdownSettings, RenderingCacheOptions {
  readonly deadlineMs?: number;
}

/** Increment it when the same text is rendered differently. */
const VERSION = 6;

/** A long book has half of it. */
const MAX_CHARACTERS = 1024 * 1024;

/** A usual text takes 2 ms. */
const MAX_WAITING = 10_000;

/** Errors of texts are remembered, as a text that takes too long would block the others again. */
const FAILED = { max: 1000, ttl: 10 * 60_000 };

export function openMarkdownRenderer({
  sanitize,
  highlight,
  deadlineMs = DEADLINE_MS,
  ...storage
}: MarkdownRendererOptions): MarkdownRenderer {
  const thread = openMarkdownThread(deadlineMs);
  const failed = new LRUCache<string, AppError>(FAILED);
  const inTurn = limitConcurrency(1);
  let opened: RenderingCache | undefined;
  let isClosed = false;

  function cache(): RenderingCache {
    if (isClosed) throw new AppError('unavailable', 'The site is being closed. Retry shortly.');
    return (opened ??= openRenderingCache(storage));
  }

  async function make(key: string, request: MarkdownRequest): Promise<unknown> {
    try {
      const value = toValue(await thread.ask(request));
      cache().put(key, value);
      return value;
    } catch (error) {
      if (error instanceof AppError) failed.set(key, error);
      throw error;
    }
  }

  function findKnown(key: string): unknown {
    const failure = failed.get(key);
    if (failure) throw failure;
    return cache().find(key);
  }

  async function prepare(text: string, check: () => void): Promise<boolean> {
    const request = { text, sanitize, highlight };
    const key = keyOf(request);
    if (failed.has(key) || cache().has(key)) return false;
    try {
      await find(request, check);
      return true;
    } catch (error) {
      // A query for the text reports it.
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  async function find(request: MarkdownRequest, check: () => void): Promise<unknown> {
    assertLength(request.text);
    const key = keyOf(request);
    const known = findKnown(key);
    if (known !== undefined) return known;
    if (inTurn.count().waiting >= MAX_WAITING)
      throw new AppError('unavailable', 'Too many texts wait to be rendered. Retry in a second.');
    return inTurn(async () => {
      check();
      // Another request may have rendered the same text meanwhile.
      return findKnown(key) ?? make(key, request);
    });
  }

  return {
    render: (text, check) => find({ text, sanitize, highlight }, check) as Promise<Rendering>,
    excerpt: (text, excerpt, check) => find({ text, sanitize, highlight, ...excerpt }, check) as Promise<HtmlPieces>,
    prepare,
    isFull: () => cache().isFull(),
    async close() {
      isClosed = true;
      opened?.close();
      await thread.close();
    },
  };
}

const keyOf = ({ text, ...settings }: MarkdownRequest): string =>
  hash('sha256', `${JSON.stringify([VERSION, settings])} ${text}`);

function assertLength({ length }: string): void {
  if (length <= MAX_CHARACTERS) return;
  const [limit, received] = [MAX_CHARACTERS, length].map((count) => count.toLocaleString('en'));
  throw new AppError('unprocessable', `Expected at most ${limit} characters of Markdown; received ${received}.`);
}

function toValue(reply: MarkdownReply): Rendering | HtmlPieces {
  if ('rendering' in reply) return reply.rendering;
  if ('html' in reply) return reply.html;
  if ('markdown' in reply) return [reply.markdown];
  const reason = 'error' in reply ? reply.error : 'the thread sent no result.';
  throw new AppError('unprocessable', `The text can't be rendered: ${reason}`);
}

/** Renders texts in a thread. */
interface MarkdownThread {
  /**
   * Renders one text at a time; call it again when the result is there.
   *
   * @throws AppError `unprocessable` for a text that can't be rendered within the limits.
   */
  ask(request: MarkdownRequest): Promise<MarkdownReply>;
  close(): Promise<void>;
}

/** A text of the maximum size takes about two seconds; a busy machine gets ten. */
const DEADLINE_MS = 10_000;

/** A thread usually starts within 300 ms; a busy machine gets more time. */
const START_MS = 60_000;

/** About 10 times the memory that a text of the maximum size needs. */
const MEMORY_MB = 512;

/** Starts the thread with the first text, as loading its modules takes longer than rendering a text. */
function openMarkdownThread(deadlineMs: number): MarkdownThread {
  let worker: Worker | undefined;
  let isClosed = false;

  async function stop(): Promise<void> {
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  return {
    close() {
      isClosed = true;
      return stop();
    },
    async ask(request) {
      try {
        worker ??= await startWorker();
        // It was starting when it was to be closed.
        if (isClosed) throw new AppError('unavailable', 'The site is being closed. Retry shortly.');
        return await exchange(worker, deadlineMs, request);
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}

async function startWorker(): Promise<Worker> {
  const worker = openThread('../markdown/markdown-worker', {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  await exchange(worker, START_MS);
  // An open site must not keep the process alive.
  worker.unref();
  return worker;
}

/** Sends a request, if there is one, and returns the next reply. */
function exchange(worker: Worker, deadlineMs: number, request?: MarkdownRequest): Promise<MarkdownReply> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void =>
      end(() => reject(new AppError('unprocessable', `The text can't be rendered: ${reason}.`, { cause })));
    const timer = setTimeout(() => fail(`it takes more than ${deadlineMs / 1000} seconds`), deadlineMs);
    const onMessage = (reply: MarkdownReply): void => end(() => resolve(reply));
    const onError = (error: Error): void => fail('its thread has failed', error);
    const onExit = (): void => fail('its thread has ended');
    function end(settle: () => void): void {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      settle();
    }
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    if (request) worker.postMessage(request);
  });
}

/** Stores renderings by the digest of their text and settings, in memory and in a file. */
interface RenderingCache {
  has(key: string): boolean;
  find(key: string): unknown;
  put(key: string, value: object | string): void;
  /** Returns whether stored renderings are deleted for further ones. */
  isFull(): boolean;
  close(): void;
}

interface RenderingCacheOptions {
  /** The folder of the file, or `undefined` to use memory only. */
  readonly directory: string | undefined;
  /** The size of all stored renderings, in characters of JSON. The oldest are deleted beyond it. */
  readonly maxSize?: number;
}

/** About 20,000 texts of average length. */
const MAX_SIZE = 128 * 1024 * 1024;

/** About 3,000 texts of average length. */
const MAX_IN_MEMORY = 16 * 1024 * 1024;

/** The part of the cache that is left after old renderings were deleted. */
const LEFT = 0.9;

function openRenderingCache({ directory, maxSize = MAX_SIZE }: RenderingCacheOptions): RenderingCache {
  const memory = new LRUCache<string, { readonly value: object | string; readonly size: number }>({
    max: 50_000,
    maxSize: MAX_IN_MEMORY,
    sizeCalculation: ({ size }, key) => size + key.length,
  });
  const disk = directory === undefined ? undefined : ignoreFaults(() => openFile(directory, maxSize));
  return {
    has: (key) => memory.has(key) || ignoreFaults(() => disk?.has(key)) === true,
    isFull: () => (disk ? disk.isFull() : memory.calculatedSize >= LEFT * MAX_IN_MEMORY),
    find(key) {
      const known = memory.get(key);
      if (known) return known.value;
      const json = ignoreFaults(() => disk?.find(key));
      if (json === undefined) return undefined;
      const value = JSON.parse(json) as object | string;
      memory.set(key, { value, size: json.length });
      return value;
    },
    put(key, value) {
      const json = JSON.stringify(value);
      memory.set(key, { value, size: json.length });
      ignoreFaults(() => disk?.put(key, json));
    },
    close() {
      disk?.close();
    },
  };
}

/** A full disk or a damaged file costs time only, as every rendering can be made again. */
function ignoreFaults<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

interface RenderingFile {
  has(key: string): boolean;
  find(key: string): string | undefined;
  put(key: string, json: string): void;
  isFull(): boolean;
  close(): void;
}

function openFile(directory: string, maxSize: number): RenderingFile {
  const file = path.join(directory, 'markdown.db');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  makeDatabasePrivate(file);
  const database = openOrReplace(file);
  const select = database.prepare('SELECT value FROM rendering WHERE key = ?');
  const exists = database.prepare('SELECT 1 FROM rendering WHERE key = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO rendering (key, value) VALUES (?, ?)');
  const total = (): number => (database.prepare(SIZE).get() as { size: number }).size;
  let size = total();
  return {
    has: (key) => exists.get(key) !== undefined,
    isFull: () => size >= LEFT * maxSize,
    find: (key) => (select.get(key) as { value: string } | undefined)?.value,
    put(key, json) {
      insert.run(key, json);
      size += json.length;
      if (size <= maxSize) return;
      database.prepare(DELETE_OLDEST).run(Math.floor(maxSize * LEFT));
      size = total();
    },
    close: () => database.close(),
  };
}

const TABLE = 'CREATE TABLE IF NOT EXISTS rendering (number INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT NOT NULL)';

const SIZE = 'SELECT coalesce(sum(length(value)), 0) AS size FROM rendering';

/** Keeps the latest renderings up to a size. */
const DELETE_OLDEST = `DELETE FROM rendering WHERE number <= coalesce((SELECT number FROM
  (SELECT number, sum(length(value)) OVER (ORDER BY number DESC) AS size FROM rendering) WHERE size > ? LIMIT 1), 0)`;

function openOrReplace(file: string): DatabaseSyncInstance {
  try {
    return open(file);
  } catch (error) {
    if (!isDamage(error)) throw error;
    moveDamagedAside(file);
    return open(file);
  }
}

function open(file: string): DatabaseSyncInstance {
  const database = new DatabaseSync(file);
  try {
    // Several processes of a server share the file. A power failure may lose the latest renderings.
    database.exec(`PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${TABLE}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
