import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { AppError, rateLimitError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import { type Caller, toCallerId } from './security.js';
import { createSharedBudget, type RateCount, type SharedCounter } from './shared-budget.js';

/** The limits of contracts (`x-rate-limit`). */
export type RateLimitName = 'create' | 'default' | 'none' | 'sign-in';

interface RateLimiterOptions {
  /** Requests per minute of one credential, or of one address without a credential; 0 turns off all limits. */
  readonly perMinute: number;
  /**
   * The limit for each of: sign-in steps and failed credentials of one address, credentials that one caller creates.
   */
  readonly tightPerMinute: number;
  /** A counter that several servers, or the processes of one, share. */
  readonly shared?: SharedCounter;
  /** Exchanges the counts with the other processes of a server. */
  readonly exchange?: CountExchange;
  readonly now?: () => number;
}

/** Exchanges the counts of the processes that serve the requests of one server together. */
export interface CountExchange {
  /**
   * Joins a counter of this process to those with the same name in the others.
   *
   * @param raise Receives the counts of all processes together.
   * @returns the function that reports each count of this process.
   */
  join(name: string, raise: (key: string, count: RateCount) => void): (key: string) => void;
}

/** The sender of a request, counted by credential if it has one, otherwise by address. */
interface RateLimitSubject {
  readonly caller: Caller | undefined;
  readonly address: string;
}

export interface RateLimiter {
  /**
   * Counts a request against the limit of its operation, and sets the `RateLimit-*` headers of the response.
   *
   * @throws AppError `rate_limited` above the limit.
   */
  countRequest(budget: RateLimitName, sender: RateLimitSubject, response: ServerResponse): Promise<void>;
  /**
   * Looks up a credential, unless its address had too many failed credentials within a minute. Concurrent requests may
   * exceed the limit slightly. Credentials that were valid before are still looked up, so that a script with an old
   * token does not lock out others behind the same address.
   *
   * @throws AppError `rate_limited`, or any error of `find`.
   */
  lookUpCredential(shown: PresentedCredential, find: () => Promise<Caller | undefined>): Promise<Caller | undefined>;
}

interface PresentedCredential {
  readonly address: string;
  /** The credential as sent; empty for none. */
  readonly credential: string;
}

/** More than the credentials in use at one server. A credential that was evicted is treated like a new one. */
const MAX_PROVEN = 10_000;

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { perMinute, tightPerMinute, shared, exchange, now = () => performance.now() } = options;
  if (perMinute === 0) return { countRequest: async () => undefined, lookUpCredential: (_shown, find) => find() };
  const counter = createJoinedCounter('callers', { exchange, now });
  /** Hashes of valid credentials. */
  const proven = new LRUCache<string, true>({ max: MAX_PROVEN });
  const countLocally = (key: string) => counter.take(key);
  const takeDefault =
    shared === undefined || shared.isLocal === true
      ? countLocally
      : createSharedBudget({ shared, limit: perMinute, countLocally, now });
  const bounds = { default: perMinute, create: tightPerMinute, 'sign-in': tightPerMinute };
  /**
   * Counts locally first: requests above the limit do not reach the shared counter, so a flood can't load the database.
   */
  const takeTight = async (key: string): Promise<RateCount> => {
    const count = counter.take(key);
    if (shared === undefined || count.taken > tightPerMinute) return count;
    // Falls back to the local count while the database is unavailable.
    const all = await shared.take(key).catch(() => count);
    return counter.raise(key, all);
  };

  return {
    async countRequest(budget, { caller, address }, response) {
      if (budget === 'none') return;
      const sender = caller === undefined ? toRateLimitKey(address) : toCallerId(caller);
      const key = `${budget} ${sender}`;
      const count = await (budget === 'default' ? takeDefault(key) : takeTight(key));
      setHeaders(response, bounds[budget], count);
      if (count.taken > bounds[budget]) throw limitError('requests', bounds[budget], count);
    },
    async lookUpCredential({ address, credential }, find) {
      const key = `failed ${toRateLimitKey(address)}`;
      const failed = counter.find(key);
      const id = hash('sha256', credential, 'base64');
      if (failed !== undefined && failed.taken >= tightPerMinute && !proven.has(id)) {
        throw limitError('failed credentials', tightPerMinute, failed);
      }
      try {
        const caller = await find();
        if (caller !== undefined) proven.set(id, true);
        return caller;
      } catch (error) {
        proven.delete(id);
        if (error instanceof AppError && error.code === 'unauthenticated') await takeTight(key);
        throw error;
      }
    },
  };
}

interface AddressLimitOptions {
  /** The limit per minute of one address; `undefined` for none. */
  readonly perMinute: number | undefined;
  /** The unit in the error message, such as "images". */
  readonly what: string;
  /** Exchanges the counts with the other processes of a server. */
  readonly exchange?: CountExchange;
  readonly now?: () => number;
}

/**
 * Counts one request of an address, and sets the `RateLimit-*` headers of its response.
 *
 * @throws AppError `rate_limited` above the limit.
 */
export type AddressLimit = (address: string, response: HeaderTarget) => void;

/** A response, or something that collects its headers. */
type HeaderTarget = Pick<ServerResponse, 'setHeader'>;

/**
 * Creates a limit with counts in the memory of this process, which several servers do not share. Shared counts would
 * add a database query to responses that need none.
 */
export function createAddressLimit({ perMinute, what, exchange, now }: AddressLimitOptions): AddressLimit {
  if (perMinute === undefined) return () => undefined;
  const counter = createJoinedCounter(what, { exchange, now });
  return (address, response) => {
    const count = counter.take(toRateLimitKey(address));
    if (count.taken > perMinute) throw limitError(what, perMinute, count);
    setHeaders(response, perMinute, count);
  };
}

/** Sets the headers one by one instead of from a list, because this runs for every query. */
function setHeaders(response: HeaderTarget, limit: number, { taken, resetsInMs }: RateCount): void {
  response.setHeader('RateLimit-Limit', String(limit));
  response.setHeader('RateLimit-Remaining', String(Math.max(0, limit - taken)));
  response.setHeader('RateLimit-Reset', String(toSeconds(resetsInMs)));
  response.setHeader('RateLimit-Policy', `${limit};w=${toSeconds(WINDOW_MS)}`);
}

function limitError(what: string, limit: number, count: RateCount): AppError {
  const budget = toBudget(limit, count);
  const message = `Rate limit exceeded: at most ${limit} ${what} per minute. Retry in ${budget.resetSeconds} s.`;
  return rateLimitError(message, budget);
}

function toBudget(limit: number, { resetsInMs }: RateCount) {
  return { limit, windowSeconds: toSeconds(WINDOW_MS), resetSeconds: toSeconds(resetsInMs) };
}

/** Rounds up, so that a retry after this time succeeds. */
function toSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

export interface RateCounter {
  /** Adds one, or a number, and returns the new count. */
  take(key: string, added?: number): RateCount;
  /** Raises the count to that of a shared counter, if that is higher. */
  raise(key: string, count: RateCount): RateCount;
  /** Returns the count without changing it. */
  find(key: string): RateCount | undefined;
}

const WINDOW_MS = 60_000;

/**
 * About 20 MB. The least recently used key is evicted first. Counting addresses can't stop an attacker who has more
 * networks than this.
 */
const MAX_KEYS = 100_000;

/**
 * Creates a counter in the memory of this process. The window of a key starts with its first count and lasts a minute.
 *
 * @param now Returns the milliseconds of a monotonic clock.
 */
export function createRateCounter(now: () => number = () => performance.now()): RateCounter {
  // A maximum of entries instead of their size would reserve memory for all of them, which takes 20 ms for each counter.
  const windows = new LRUCache<string, { taken: number; readonly endsAt: number }>({
    maxSize: MAX_KEYS,
    sizeCalculation: () => 1,
  });
  const findWindow = (key: string, at: number) => {
    const window = windows.get(key);
    return window !== undefined && window.endsAt > at ? window : undefined;
  };
  return {
    take(key, added = 1) {
      const at = now();
      const window = findWindow(key, at) ?? { taken: 0, endsAt: at + WINDOW_MS };
      if (window.taken === 0) windows.set(key, window);
      window.taken += added;
      return { taken: window.taken, resetsInMs: window.endsAt - at };
    },
    raise(key, count) {
      const at = now();
      const window = findWindow(key, at);
      if (window !== undefined && window.taken >= count.taken) return { ...window, resetsInMs: window.endsAt - at };
      windows.set(key, { taken: count.taken, endsAt: at + count.resetsInMs });
      return count;
    },
    find(key) {
      const at = now();
      const window = findWindow(key, at);
      return window && { taken: window.taken, resetsInMs: window.endsAt - at };
    },
  };
}

/** Creates a counter whose counts are exchanged with other processes, if there are any. */
function createJoinedCounter(
  name: string,
  { exchange, now }: { readonly exchange?: CountExchange; readonly now?: () => number },
): RateCounter {
  const counter = createRateCounter(now);
  const report = exchange?.join(name, (key, count) => void counter.raise(key, count));
  if (report === undefined) return counter;
  return {
    ...counter,
    take(key, added) {
      report(key);
      return counter.take(key, added);
    },
  };
}

/**
 * Returns the key by which requests of an address are counted: an IPv4 address itself, or the first 64 bits of an IPv6
 * address, because one subscriber can choose the others. Text that is not an address, which only a proxy can send,
 * shares the key `unknown`.
 */
export function toRateLimitKey(address: string): string {
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return `${firstGroups(address).join(':')}::/64`;
    default:
      return 'unknown';
  }
}

/** What the clients use at the moment, in all and by the key of their address. */
export class UsageByAddress {
  readonly #byKey = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(address: string): number {
    return this.#byKey.get(toRateLimitKey(address)) ?? 0;
  }

  /** @returns a function that ends the use. */
  add(address: string, amount: number): () => void {
    this.#change(toRateLimitKey(address), amount);
    return () => this.#change(toRateLimitKey(address), -amount);
  }

  #change(key: string, by: number): void {
    this.#total += by;
    const left = (this.#byKey.get(key) ?? 0) + by;
    if (left > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
  }
}

/** As much as 16 of the largest responses of GraphQL. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** One client leaves room for others. */
const MAX_HELD_BY_ADDRESS = MAX_HELD_BYTES / 4;

/** Bounds the memory of bytes that the server holds while it waits for clients. */
export class HeldBytes {
  readonly #bytes = new UsageByAddress();
  readonly #message: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param message The error above the limit, without the advice to retry. */
  constructor(message: string, headers: Readonly<Record<string, string>> = {}) {
    this.#message = message;
    this.#headers = headers;
  }

  /** @throws AppError `unavailable` until clients have sent or read enough, or have disconnected. */
  assertFew(address: string): void {
    if (this.#bytes.total < MAX_HELD_BYTES && this.#bytes.of(address) < MAX_HELD_BY_ADDRESS) return;
    const headers = { 'Retry-After': '5', ...this.#headers };
    throw new AppError('unavailable', `${this.#message} Retry shortly.`, { headers });
  }

  /** Counts bytes until the returned function is called. */
  add(address: string, bytes: number): () => void {
    return this.#bytes.add(address, bytes);
  }
}

/** Returns the first four of the eight groups, without leading zeros. */
function firstGroups(address: string): string[] {
  const [start = '', end] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const left = toGroups(start);
  const right = toGroups(end ?? '');
  const zeros = end === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
}

/** Splits into groups. A trailing IPv4 address counts as two groups; their value is irrelevant for the first four. */
function toGroups(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+(?=.)/, '')]));
}

/** Counts that a process has added since its last report: the name of the counter, the key, and the number. */
export type AddedCounts = readonly (readonly [name: string, key: string, added: number])[];

/** Counts of all processes together: the name of the counter, the key, the count, and the time until its window ends. */
export type TotalCounts = readonly (readonly [name: string, key: string, taken: number, resetsInMs: number])[];

/** Between two messages. Processes may exceed a limit by the requests of about twice this time. */
const INTERVAL_MS = 5;

/** Collects items by name and key, and passes them on together. */
function createBatch<T>(send: (items: ReadonlyMap<string, ReadonlyMap<string, T>>) => void) {
  let waiting = new Map<string, Map<string, T>>();
  return (name: string, key: string, update: (known: T | undefined) => T): void => {
    if (waiting.size === 0) {
      setTimeout(() => {
        const items = waiting;
        waiting = new Map();
        send(items);
      }, INTERVAL_MS).unref();
    }
    const keys = waiting.get(name) ?? new Map<string, T>();
    waiting.set(name, keys);
    keys.set(key, update(keys.get(key)));
  };
}

interface ReceivingExchange extends CountExchange {
  /** Raises the counters of this process. */
  receive(counts: TotalCounts): void;
}

/** Creates the exchange of a process that serves requests. */
export function createCountExchange(send: (counts: AddedCounts) => void): ReceivingExchange {
  const raises = new Map<string, Parameters<CountExchange['join']>[1]>();
  const add = createBatch<number>((items) => {
    send([...items].flatMap(([name, keys]) => [...keys].map(([key, added]) => [name, key, added] as const)));
  });
  return {
    join(name, raise) {
      raises.set(name, raise);
      return (key) => add(name, key, (known = 0) => known + 1);
    },
    receive(counts) {
      for (const [name, key, taken, resetsInMs] of counts) raises.get(name)?.(key, { taken, resetsInMs });
    },
  };
}

/** Creates the function that adds the counts of all processes, and sends the sums to all of them. */
export function createCountHub(
  broadcast: (counts: TotalCounts) => void,
  now?: () => number,
): (counts: AddedCounts) => void {
  const counters = new Map<string, RateCounter>();
  const share = createBatch<readonly [taken: number, resetsInMs: number]>((items) => {
    broadcast([...items].flatMap(([name, keys]) => [...keys].map(([key, count]) => [name, key, ...count] as const)));
  });
  return (counts) => {
    for (const [name, key, added] of counts) {
      const counter = counters.get(name) ?? createRateCounter(now);
      counters.set(name, counter);
      const { taken, resetsInMs } = counter.take(key, added);
      share(name, key, () => [taken, resetsInMs]);
    }
  };
}
