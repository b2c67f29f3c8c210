/** Results of subscriptions and live queries as server-sent events, by graphql-sse in its mode of distinct connections. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConcurrencyLimit, limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import {
  type ExecutionResult,
  getDirectiveValues,
  getVariableValues,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { toEtag } from '../http/payload.js';
import { UsageByAddress } from '../http/rate-limits.js';
import { getClientAddress } from '../http/request.js';
import { PRIVATE } from '../http/responses.js';
import { EVENT_STREAM_TYPE, HEARTBEAT, HEARTBEAT_MS, startHeart } from '../rest/event-stream.js';
import type { GraphqlRequest } from './request.js';

export interface SubscriptionOptions {
  /** The largest number of open streams. One address, or IPv6 network, may have a tenth of them. */
  readonly max: number;
  /** The name of the setting that changes the limit, for messages. */
  readonly setting: string;
  /** Aborted when the server stops, which ends every stream. */
  readonly stopping: AbortSignal;
  /** Checks at every heartbeat that the caller may still read; absent if everyone may. */
  readonly readmit?: (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined;
  readonly heartbeatMs?: number;
}

/** Whether a client accepts a stream of events. */
export const acceptsEvents = (accept = ''): boolean =>
  accept.includes(EVENT_STREAM_TYPE) &&
  accept
    .toLowerCase()
    .split(',')
    .some((range) => /^\s*text\/event-stream\s*(?:;(?!\s*q=0(?:\.0*)?\s*$).*)?$/u.test(range));

/** Limits the number of open streams. */
export class SubscriptionLimit {
  readonly #options: Pick<SubscriptionOptions, 'max' | 'setting'>;
  readonly #open = new UsageByAddress();

  constructor(options: Pick<SubscriptionOptions, 'max' | 'setting'>) {
    this.#options = options;
  }

  /**
   * Counts a stream until its connection is closed.
   *
   * @throws AppError `unavailable` when too many are open.
   */
  open(request: IncomingMessage, response: ServerResponse): void {
    const { max, setting } = this.#options;
    if (max === 0) throw new AppError('unavailable', `Subscriptions are switched off on this server (${setting}).`);
    const address = getClientAddress(request);
    if (this.#open.total >= max || this.#open.of(address) >= Math.ceil(max / 10)) {
      throw new AppError('unavailable', `Too many subscriptions are open. ${setting} sets the limit. Retry later.`, {
        headers: { 'Retry-After': '30' },
      });
    }
    response.once('close', this.#open.add(address, 1));
  }
}

/** The results of an operation. */
export interface ResultStream {
  readonly results: AsyncIterable<ExecutionResult>;
  /** Whether the stream ends with its last result. Otherwise its end means that the client should connect again. */
  readonly completes: boolean;
  /** Whether a result that equals the previous one is left out. */
  readonly skipsEqual?: boolean;
}

/** Returns the stream of an operation with one result. */
export const singleResult = (result: Pick<ExecutionResult, 'data'> & { readonly errors?: readonly unknown[] }) =>
  ({ results: only(result as ExecutionResult), completes: true }) satisfies ResultStream;

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value;
}

interface SendOptions extends Pick<SubscriptionOptions, 'heartbeatMs' | 'readmit'> {
  readonly stopping?: AbortSignal;
  /** Headers of the response, as names and values in turns. */
  readonly headers: readonly string[];
  readonly show: (error: unknown) => GraphQLFormattedError;
  /** Counts characters that the client has not read, until the returned function is called. */
  readonly countUnread: (characters: number) => () => void;
}

/**
 * Sends results as they arrive, with backpressure, and a comment at every heartbeat. Ends when the results end, the client
 * disconnects, the server stops, or the caller is no longer admitted.
 */
export async function sendResults(
  response: ServerResponse,
  { results, completes, skipsEqual = false }: ResultStream,
  { headers, show, countUnread, stopping, readmit, heartbeatMs = HEARTBEAT_MS }: SendOptions,
): Promise<void> {
  const iterator = results[Symbol.asyncIterator]();
  const over = new AbortController();
  const end = (): void => {
    over.abort();
    void iterator.return?.();
  };
  const check = async (): Promise<void> => readmit?.(response.req, response);
  const beat = (): void => {
    if (!response.writableNeedDrain && !response.writableEnded) response.write(HEARTBEAT);
  };
  response.once('close', end);
  stopping?.addEventListener('abort', end, { once: true });
  if (stopping?.aborted === true || response.destroyed) end();
  const stopHeart = startHeart({ heartbeatMs, check, beat, end });
  let last: string | undefined;
  try {
    response.writeHead(200, [...headers, ...STREAM_HEADERS]);
    response.flushHeaders();
    for (;;) {
      const next: IteratorResult<ExecutionResult, unknown> = await iterator.next();
      if (next.done === true || over.signal.aborted) break;
      const { errors, data } = next.value;
      const text = JSON.stringify({ ...(errors && { errors: errors.map(show) }), data });
      const digest = skipsEqual ? toEtag(text) : undefined;
      if (digest !== undefined && digest === last) continue;
      last = digest;
      const hasCapacity = response.write(`event: next\ndata: ${text}\n\n`);
      if (hasCapacity) continue;
      const release = countUnread(text.length);
      await once(response, 'drain', { signal: over.signal }).catch(() => undefined);
      release();
    }
    if (completes && !over.signal.aborted) response.write(COMPLETE);
  } finally {
    stopHeart();
    stopping?.removeEventListener('abort', end);
    end();
    response.end();
  }
}

/** The `EventSource` of browsers ignores events without data. */
const COMPLETE = 'event: complete\ndata: \n\n';

const STREAM_HEADERS = [
  ...['Content-Type', `${EVENT_STREAM_TYPE}; charset=utf-8`, 'Cache-Control', PRIVATE, 'Vary', 'Accept'],
  // Disables buffering in nginx and compatible proxies.
  ...['X-Accel-Buffering', 'no', 'X-Content-Type-Options', 'nosniff'],
];

/**
 * Returns whether an operation is a live query: one with the directive `@live`, which sends a new result when a change of
 * the data has altered it. A query whose variables are invalid is not, so that it fails once.
 */
export function isLive(
  operation: OperationDefinitionNode,
  schema: GraphQLSchema,
  variables: GraphqlRequest['variables'] = {},
): boolean {
  const directive = schema.getDirective('live');
  if (!directive || operation.operation !== OperationTypeNode.QUERY || !operation.directives?.length) return false;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return coerced !== undefined && getDirectiveValues(directive, operation, coerced)?.if === true;
}

/** Queries that run at the same time after a change. Others have requests of their own to wait for. */
const MAX_RUNNING = 4;

/** The longest pause of a place after its query. */
const MAX_PAUSE_MS = 1000;

/** Repeats queries after changes. */
export class LiveQueries {
  readonly #places: ConcurrencyLimit = limitConcurrency(MAX_RUNNING);

  /** Returns the results of a query: the first at once, and one after each change of the data that it reads. */
  follow(query: LiveQuery): AsyncIterableIterator<ExecutionResult> {
    return new LiveResults(query, (run) => this.#runInTurn(run));
  }

  /** A place rests as long as its query took, so that requests have about half of the time during many changes. */
  #runInTurn<T>(run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      void this.#places(async () => {
        const startedAt = performance.now();
        await run().then(resolve, reject);
        await delay(Math.min(MAX_PAUSE_MS, performance.now() - startedAt), undefined, { ref: false });
      });
    });
  }
}

interface LiveQuery {
  readonly run: () => Promise<ExecutionResult>;
  /** Returns a text that changes with the data that the query reads. */
  readonly getVersion: () => string;
  /** Changes of the data, the first one at once. Changes that were not read yet are merged. */
  readonly changes: AsyncIterableIterator<unknown>;
}

type RunInTurn = <T>(run: () => Promise<T>) => Promise<T>;

/** A generator would not end before its next value. */
class LiveResults implements AsyncIterableIterator<ExecutionResult> {
  readonly #query: LiveQuery;
  readonly #runInTurn: RunInTurn;
  #version: string | undefined;
  #isOver = false;

  constructor(query: LiveQuery, runInTurn: RunInTurn) {
    this.#query = query;
    this.#runInTurn = runInTurn;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const { changes, getVersion } = this.#query;
    for (;;) {
      const { done } = await changes.next();
      if (done === true || this.#isOver) return OVER;
      if (getVersion() === this.#version) continue;
      const value = this.#version === undefined ? await this.#run() : await this.#runInTurn(() => this.#run());
      if (value) return { done: false, value };
    }
  }

  /** Returns the result for the current data, of which no later change is missed. */
  async #run(): Promise<ExecutionResult | undefined> {
    if (this.#isOver) return undefined;
    this.#version = this.#query.getVersion();
    return this.#query.run();
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#isOver = true;
    await this.#query.changes.return?.();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const OVER = { done: true, value: undefined } as const;
