import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../accounts/callers.js';
import { AppError, rateLimitError, rateLimitHeaders } from '../core/errors.js';
import { toRateLimitKey } from './rate-limit-key.js';
import type { RateLimitName } from './operation.js';
import { WINDOW_MS, createRateCounter } from './rate-counter.js';
import type { RateCount } from './rate-counter.js';
import { toCallerId } from './request-context.js';

export interface RateLimiterOptions {
  /** Requests per minute of one credential, or of one address without a credential; 0 turns off all limits. */
  readonly perMinute: number;
  /**
   * The limit for each of: sign-in steps and failed credentials of one address, credentials that one caller creates.
   */
  readonly tightPerMinute: number;
  /** A counter that several servers share, used for the tight limit only. */
  readonly shared?: SharedCounter | undefined;
  readonly now?: () => number;
}

interface SharedCounter {
  take(key: string): Promise<RateCount>;
}

/** The sender of a request, counted by credential if it has one, otherwise by address. */
export interface RateLimitSubject {
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

export interface PresentedCredential {
  readonly address: string;
  /** The credential as sent; empty for none. */
  readonly credential: string;
}

/** More than the credentials in use at one server. A credential that was evicted is treated like a new one. */
const MAX_PROVEN = 10_000;

export function createRateLimiter({ perMinute, tightPerMinute, shared, now }: RateLimiterOptions): RateLimiter {
  if (perMinute === 0) return { countRequest: async () => undefined, lookUpCredential: (_shown, find) => find() };
  const counter = createRateCounter(now);
  /** Hashes of valid credentials. */
  const proven = new LRUCache<string, true>({ max: MAX_PROVEN });
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
      const count = budget === 'default' ? counter.take(key) : await takeTight(key);
      const headers = toHeaders(bounds[budget], count);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
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

export interface AddressLimitOptions {
  /** The limit per minute of one address; `undefined` for none. */
  readonly perMinute: number | undefined;
  /** The unit in the error message, such as "images". */
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
 * Creates a limit with counts in the memory of this process, which several servers do not share. Shared counts would
 * add a database query to responses that need none.
 */
export function createAddressLimit({ perMinute, what, now }: AddressLimitOptions): AddressLimit {
  if (perMinute === undefined) return () => undefined;
  const counter = createRateCounter(now);
  const [limit, policy] = [String(perMinute), policyOf(perMinute)];
  return (address, response) => {
    const count = counter.take(toRateLimitKey(address));
    if (count.taken > perMinute) throw limitError(what, perMinute, count);
    // Sets the headers one by one instead of from a list, because this runs for every query.
    response.setHeader('RateLimit-Limit', limit);
    response.setHeader('RateLimit-Remaining', String(perMinute - count.taken));
    response.setHeader('RateLimit-Reset', String(toSeconds(count.resetsInMs)));
    response.setHeader('RateLimit-Policy', policy);
  };
}

function toHeaders(limit: number, count: RateCount): Readonly<Record<string, string>> {
  return rateLimitHeaders({ ...toBudget(limit, count), remaining: Math.max(0, limit - count.taken) });
}

const policyOf = (limit: number): string => `${limit};w=${toSeconds(WINDOW_MS)}`;

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
