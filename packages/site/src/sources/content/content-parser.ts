import type { Worker } from 'node:worker_threads';
import { limitConcurrency } from '@trellis/core/concurrency';
import { openThread } from '../threads.js';
import { type ContentEntry, ContentError } from './content-entry.js';

/** A record as written in a file, without the lines of its values. */
export type ParsedEntry = Omit<ContentEntry, 'lineOf'>;

/** The location of a value in a file. */
export interface ValueLocation {
  /** The index of its entry in the file. */
  readonly entry: number;
  readonly path: readonly (number | string)[];
}

/** The records in a file. */
export interface ParsedContent {
  readonly entries: readonly ParsedEntry[];
  /** Returns the lines of values, counted from 1. */
  readonly locate: (places: readonly ValueLocation[]) => Promise<readonly number[]>;
}

export interface ParseRequest {
  readonly text: string;
  readonly extension: string;
  /** If present, the response contains the lines of these values instead of the entries. */
  readonly places?: readonly ValueLocation[];
}

export type ParseReply =
  | { readonly ready: true }
  | { readonly entries: readonly ParsedEntry[] }
  | { readonly end: true }
  | { readonly lines: readonly number[] }
  | { readonly error: string; readonly line: number };

/** Parses small files in the calling thread, and others in a worker thread that is terminated after a timeout. */
export interface ContentParser {
  /**
   * @param extension In lower case, without the dot.
   * @throws ContentError for text that is not valid in its format or takes too long to parse.
   */
  parse(text: string, extension: string): Promise<ParsedContent>;
  close(): Promise<void>;
}

/** The slowest text of this many characters blocks the thread for 100 ms; most take 1 ms. */
const MAX_HERE = 16 * 1024;

/** The slowest text within the size limits takes about one second; a busy machine gets ten. */
const DEADLINE_MS = 10_000;

/** A thread usually starts within 100 ms; a busy machine gets more time. */
const START_MS = 60_000;

/** About 20 times the memory that the largest files need. */
const MEMORY_MB = 512;

export interface ContentParserOptions {
  readonly deadlineMs?: number;
}

export function openContentParser({ deadlineMs = DEADLINE_MS }: ContentParserOptions = {}): ContentParser {
  const thread = new ParserThread(deadlineMs);
  return {
    async parse(text, extension) {
      // Loaded with the first file, as the parsers take long to load.
      const { countParsedCharacters, readEntries } = await import('./read-entries.js');
      return countParsedCharacters(text, extension) <= MAX_HERE
        ? toContent(readEntries(text, extension))
        : thread.parse(text, extension);
    },
    close: () => thread.close(),
  };
}

function toContent(entries: readonly ContentEntry[]): ParsedContent {
  return { entries, locate: async (places) => places.map(({ entry, path }) => entries[entry]?.lineOf(path) ?? 1) };
}

class ParserThread {
  readonly #deadlineMs: number;
  /** Parses one text at a time, so that the deadline applies to that text alone. */
  readonly #inTurn = limitConcurrency(1);
  #worker: Worker | undefined;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  async parse(text: string, extension: string): Promise<ParsedContent> {
    const entries: ParsedEntry[] = [];
    await this.#ask({ text, extension }, (reply) => {
      if ('entries' in reply) for (const entry of reply.entries) entries.push(entry);
      return 'end' in reply;
    });
    return { entries, locate: (places) => this.#locate({ text, extension, places }) };
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #locate(request: ParseRequest): Promise<readonly number[]> {
    let lines: readonly number[] = [];
    await this.#ask(request, (reply) => {
      if ('lines' in reply) lines = reply.lines;
      return true;
    });
    return lines;
  }

  #ask(request: ParseRequest, take: (reply: ParseReply) => boolean): Promise<void> {
    return this.#inTurn(async () => {
      try {
        this.#worker ??= await startThread();
        await exchange(this.#worker, { request, take, deadlineMs: this.#deadlineMs });
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
        await this.close();
        throw new ContentError(error.message, 1);
      }
    });
  }
}

/** The thread did not respond and can't be used any longer. */
class ThreadError extends Error {
  override readonly name = 'ThreadError';
}

async function startThread(): Promise<Worker> {
  const worker = openThread('content/content-worker', { resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
  await exchange(worker, { take: (reply) => 'ready' in reply, deadlineMs: START_MS });
  // An open site must not keep the process alive.
  worker.unref();
  return worker;
}

interface Exchange {
  /** The message to send to the thread first. */
  readonly request?: ParseRequest;
  /** Processes a reply and returns whether it is the last one. */
  readonly take: (reply: ParseReply) => boolean;
  readonly deadlineMs: number;
}

function exchange(worker: Worker, { request, take, deadlineMs }: Exchange): Promise<void> {
  return new Promise((resolve, reject) => {
    const seconds = deadlineMs / 1000;
    const late = (): void => end(new ThreadError(`takes more than ${seconds} seconds to parse; it is skipped.`));
    const timer = setTimeout(late, deadlineMs);
    const onMessage = (reply: ParseReply): void => {
      if ('error' in reply) end(new ContentError(reply.error, reply.line));
      else if (take(reply)) end();
    };
    const onError = (error: Error): void => end(new ThreadError(describeEnd(error)));
    const onExit = (): void => end(new ThreadError("can't be parsed: the parser thread has ended."));
    function end(error?: Error): void {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      if (error) reject(error);
      else resolve();
    }
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    if (request) worker.postMessage(request);
  });
}

function describeEnd(error: Error): string {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory
    ? `needs more than ${MEMORY_MB} MB of memory to parse; it is skipped.`
    : `can't be parsed: ${error.message}`;
}
