import type { Dispatcher } from 'undici';
import { limitConcurrency } from '../../../core/concurrency.js';
import type { NewRequestLogEntry } from '../../request-log.js';
import type { ForgeName } from '../model.js';
import type { ApiQuota } from '../forge.js';
import { ForgeError, toForgeError } from '../forge-error.js';
import { createEtagCache } from './etag-cache.js';
import type { EtagCache } from './etag-cache.js';
import { fetchResponse } from './fetch-response.js';
import type { ForgeResponse } from './fetch-response.js';
import { errorKindFromStatus } from './error-kind-from-status.js';
import { createRateLimitPauses } from './rate-limit-pauses.js';

/** Forges recommend few concurrent requests; more can exceed undocumented secondary limits. */
const MAX_CONCURRENT = 4;

export interface ForgeRequestsOptions {
  /** Makes the connections. */
  readonly dispatcher: Dispatcher;
  /** The username of the credential, for the request log. */
  readonly account?: string | undefined;
  /** Logs a request; called for every request and must not reject. */
  readonly record: (request: NewRequestLogEntry) => Promise<void>;
  /** The response cache. Defaults to a new one. */
  readonly answers?: EtagCache | undefined;
  readonly now?: (() => number) | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The conventions of a forge's API. */
export interface ForgeProtocol {
  readonly forge: ForgeName;
  /** Headers of every request, including the credential unless {@link ForgeProtocol.authorize} returns it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the `Authorization` header of the next request, for credentials that change. */
  readonly authorize?: (() => Promise<string>) | undefined;
  readonly readBudget: (headers: Headers) => ApiQuota | undefined;
  /** Finds the exceeded rate limit in a response. @returns `undefined` for any other response. */
  readonly findLimit: (response: ForgeResponse, at: number) => LimitScope | undefined;
}

/** An exceeded rate limit, which covers one quota or every request of the credential. */
export interface LimitScope {
  readonly of: 'all' | 'quota';
  readonly until: number;
}

export type ForgeResource = 'graphql' | 'rest';

export interface ForgeRequest<T> {
  readonly resource: ForgeResource;
  readonly url: string;
  /** The path in the request log. */
  readonly endpoint: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Converts the response to the result. Throws ForgeError. */
  readonly read: (response: ForgeResponse) => T;
}

export interface ForgeRequests {
  readonly budgets: Partial<Record<ForgeResource, ApiQuota>>;
  readonly answers: EtagCache;
  readonly now: () => number;
  /** Sends a request, with limited concurrency. Sends nothing while a rate limit is exceeded. */
  readonly ask: <T>(ask: ForgeRequest<T>) => Promise<T>;
}

export function createForgeRequests(
  { forge, headers: own, authorize, readBudget, findLimit }: ForgeProtocol,
  { dispatcher, account, record, answers = createEtagCache(), now = Date.now, timeoutMs }: ForgeRequestsOptions,
): ForgeRequests {
  const budgets: Partial<Record<ForgeResource, ApiQuota>> = {};
  const pauses = createRateLimitPauses(now);
  const run = limitConcurrency(MAX_CONCURRENT);
  const owner = account === undefined ? {} : { account };

  async function send<T>({ resource, url, endpoint, method, headers, body, read }: ForgeRequest<T>): Promise<T> {
    pauses.assertNotPaused(resource, 'all');
    const credential = authorize && { Authorization: await authorize() };
    const requestBody = body === undefined ? {} : { body: JSON.stringify(body) };
    let response: ForgeResponse | undefined;
    let outcome: NewRequestLogEntry['outcome'] = 'success';
    try {
      const requestHeaders = { ...own, ...credential, ...headers };
      response = await fetchResponse(url, { method, headers: requestHeaders, ...requestBody, dispatcher, timeoutMs });
      updateBudget(resource, response);
      assertNotLimited(resource, response);
      return read(response);
    } catch (error) {
      const failure = toForgeError(error);
      outcome = failure.kind;
      // Some forges report a rate limit in the body, which is read last.
      if (failure.resetsAt !== undefined) pauses.start(resource, failure.resetsAt);
      throw failure;
    } finally {
      const rateLimit = response && readBudget(response.headers);
      const status = response && { statusCode: response.status };
      await record({ forge, method, endpoint, outcome, ...owner, ...status, ...(rateLimit && { rateLimit }) });
    }
  }

  function updateBudget(resource: ForgeResource, { headers }: ForgeResponse): void {
    const budget = readBudget(headers);
    if (budget !== undefined) budgets[resource] = { ...budgets[resource], ...budget };
  }

  function assertNotLimited(resource: ForgeResource, response: ForgeResponse): void {
    const limited = findLimit(response, now());
    if (limited === undefined) return;
    const resetsAt = pauses.start(limited.of === 'all' ? 'all' : resource, limited.until);
    throw new ForgeError('rate_limited', {
      status: response.status,
      resetsAt,
      cause: new Error(describeResponse(response)),
    });
  }

  return { budgets, answers, now, ask: (ask) => run(() => send(ask)) };
}

/** Returns a response with status 2xx. @throws ForgeError of the kind that the status stands for. */
export function assertSuccess(response: ForgeResponse): ForgeResponse {
  const { status } = response;
  if (status >= 200 && status < 300) return response;
  const timedOut = status === 502 || status === 504;
  throw new ForgeError(errorKindFromStatus(status), { status, timedOut, cause: new Error(describeResponse(response)) });
}

/** Describes a response for logs, with the start of its body only: an HTML page says little after its first lines. */
function describeResponse({ status, text }: ForgeResponse): string {
  return `The forge responded with ${status}: ${text.slice(0, 500)}`;
}
