import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../accounts/callers.js';
import { AppError, rateLimited, rateLimitHeaders } from '../errors.js';
import { networkOf } from './network.js';
import type { RateLimitName } from './operation.js';
import { WINDOW_MS, createRateCounter } from './rate-counter.js';
import type { Count } from './rate-counter.js';
import { callerId } from './request-context.js';

export interface RateLimitOptions {
  /** Requests a minute of one credential, or of one address that shows none; 0 turns every limit off. */
  readonly perMinute: number;
  /** The same for each of: sign-in steps and failed credentials of one address, credentials that one caller makes. */
  readonly tightPerMinute: number;
  /** Counts together with other servers what is tight; what is not, each server counts by itself. */
  readonly shared?: SharedCounter | undefined;
  readonly now?: () => number;
}

interface SharedCounter {
  take(key: string): Promise<Count>;
}

/** Who sent a request: the credential counts where there is one, else the address. */
export interface Sender {
  readonly caller: Caller | undefined;
  readonly address: string;
}

export interface RateLimits {
  /**
   * Counts a request against the budget that its operation names, and tells in the headers of its answer how much is left.
   *
   * @throws AppError `rate_limited` past the budget.
   */
  spend(budget: RateLimitName, sender: Sender, response: ServerResponse): Promise<void>;
  /**
   * Looks a credential up, unless too many from this address were wrong within a minute: guesses are held off before
   * anything is asked. Those under way at the same moment may still be looked up, and so may one that was right before:
   * a script with an old token does not shut out who shares its address.
   *
   * @throws AppError `rate_limited`, or what `find` throws.
   */
  guard(shown: Shown, find: () => Promise<Caller | undefined>): Promise<Caller | undefined>;
}

export interface Shown {
  readonly address: string;
  /** What the request shows as its credential, empty when nothing. */
  readonly credential: string;
}

/** Credentials in use at one server; of one that was forgotten the address counts. */
const MAX_PROVEN = 10_000;

export function createRateLimits({ perMinute, tightPerMinute, shared, now }: RateLimitOptions): RateLimits {
  if (perMinute === 0) return { spend: async () => undefined, guard: (_shown, find) => find() };
  const counter = createRateCounter(now);
  /** Hashes of credentials that were right. */
  const proven = new LRUCache<string, true>({ max: MAX_PROVEN });
  const bounds = { default: perMinute, create: tightPerMinute, 'sign-in': tightPerMinute };
  /** What is past its bound already is not asked for: a flood reaches no database. */
  const takeTight = async (key: string): Promise<Count> => {
    const count = counter.take(key);
    if (shared === undefined || count.taken > tightPerMinute) return count;
    // Without the others' count, when the database is away, one's own will do.
    const all = await shared.take(key).catch(() => count);
    return counter.raise(key, all);
  };

  return {
    async spend(budget, { caller, address }, response) {
      if (budget === 'none') return;
      const sender = caller === undefined ? networkOf(address) : callerId(caller);
      const key = `${budget} ${sender}`;
      const count = budget === 'default' ? counter.take(key) : await takeTight(key);
      const headers = toHeaders(bounds[budget], count);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (count.taken > bounds[budget]) throw refuse('requests', bounds[budget], count);
    },
    async guard({ address, credential }, find) {
      const key = `failed ${networkOf(address)}`;
      const failed = counter.find(key);
      const id = hash('sha256', credential, 'base64');
      if (failed !== undefined && failed.taken >= tightPerMinute && !proven.has(id)) {
        throw refuse('credentials that fail', tightPerMinute, failed);
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

export interface AddressLimitOptions {
  /** The largest number a minute of one address; `undefined` for no limit. */
  readonly perMinute: number | undefined;
  /** The name of the counted things in the error message, such as "images". */
  readonly what: string;
  readonly now?: () => number;
}

/**
 * Counts one request of an address, and sets the `RateLimit-*` headers of its response.
 *
 * @throws AppError `rate_limited` above the limit.
 */
export type AddressLimit = (address: string, response: ServerResponse) => void;

/**
 * Creates a limit whose counts are in the memory of this process: several servers do not share them. Shared
 * counts would add a database query to responses that need none.
 */
export function createAddressLimit({ perMinute, what, now }: AddressLimitOptions): AddressLimit {
  if (perMinute === undefined) return () => undefined;
  const counter = createRateCounter(now);
  const [limit, policy] = [String(perMinute), policyOf(perMinute)];
  return (address, response) => {
    const count = counter.take(networkOf(address));
    if (count.taken > perMinute) throw refuse(what, perMinute, count);
    // Without a list of headers: this runs for every query.
    response.setHeader('RateLimit-Limit', limit);
    response.setHeader('RateLimit-Remaining', String(perMinute - count.taken));
    response.setHeader('RateLimit-Reset', String(toSeconds(count.resetsInMs)));
    response.setHeader('RateLimit-Policy', policy);
  };
}

function toHeaders(limit: number, count: Count): Readonly<Record<string, string>> {
  return rateLimitHeaders({ ...toBudget(limit, count), remaining: Math.max(0, limit - count.taken) });
}

const policyOf = (limit: number): string => `${limit};w=${toSeconds(WINDOW_MS)}`;

function refuse(what: string, limit: number, count: Count): AppError {
  const budget = toBudget(limit, count);
  const message = `Expected at most ${limit} ${what} a minute; try again in ${budget.resetSeconds} s.`;
  return rateLimited(message, budget);
}

function toBudget(limit: number, { resetsInMs }: Count) {
  return { limit, windowSeconds: toSeconds(WINDOW_MS), resetSeconds: toSeconds(resetsInMs) };
}

/** Rounded up, so that whoever waits that long is let in. */
function toSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}
