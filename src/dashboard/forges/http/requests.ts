import type { Dispatcher } from 'undici';
import { inTurn } from '../../../in-turn.js';
import type { NewRequest } from '../../request-log.js';
import type { ForgeName } from '../facts.js';
import type { Budget } from '../forge.js';
import { ForgeError, toForgeError } from '../forge-error.js';
import { createAnswers } from './answers.js';
import type { Answers } from './answers.js';
import { exchange } from './exchange.js';
import type { ForgeAnswer } from './exchange.js';
import { kindOfStatus } from './kinds.js';
import { createPauses } from './pauses.js';

/** Forges recommend few concurrent requests; more can exceed undocumented secondary limits. */
const MAX_CONCURRENT = 4;

export interface RequestsOptions {
  /** Makes the connections. */
  readonly dispatcher: Dispatcher;
  /** The username of the credential, for the request log. */
  readonly account?: string | undefined;
  /** Logs a request; called for every request and must not reject. */
  readonly record: (request: NewRequest) => Promise<void>;
  /** The response cache. Defaults to a new one. */
  readonly answers?: Answers | undefined;
  readonly now?: (() => number) | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The conventions of a forge's API. */
export interface Dialect {
  readonly forge: ForgeName;
  /** Headers of every request, including the credential unless {@link Dialect.authorize} returns it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the `Authorization` header of the next request, for credentials that change. */
  readonly authorize?: (() => Promise<string>) | undefined;
  readonly readBudget: (headers: Headers) => Budget | undefined;
  /** Finds the exceeded rate limit in a response. @returns `undefined` for any other response. */
  readonly findLimit: (response: ForgeAnswer, at: number) => Limited | undefined;
}

/** An exceeded rate limit, which covers one quota or every request of the credential. */
export interface Limited {
  readonly of: 'all' | 'quota';
  readonly until: number;
}

export type Resource = 'graphql' | 'rest';

export interface Ask<T> {
  readonly resource: Resource;
  readonly url: string;
  /** The path in the request log. */
  readonly endpoint: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Converts the response to the result. Throws ForgeError. */
  readonly read: (response: ForgeAnswer) => T;
}

export interface Requests {
  readonly budgets: Partial<Record<Resource, Budget>>;
  readonly answers: Answers;
  readonly now: () => number;
  /** Sends a request, with limited concurrency. Sends nothing while a rate limit is exceeded. */
  readonly ask: <T>(ask: Ask<T>) => Promise<T>;
}

export function createRequests(
  { forge, headers: own, authorize, readBudget, findLimit }: Dialect,
  { dispatcher, account, record, answers = createAnswers(), now = Date.now, timeoutMs }: RequestsOptions,
): Requests {
  const budgets: Partial<Record<Resource, Budget>> = {};
  const pauses = createPauses(now);
  const run = inTurn(MAX_CONCURRENT);
  const owner = account === undefined ? {} : { account };

  async function send<T>({ resource, url, endpoint, method, headers, body, read }: Ask<T>): Promise<T> {
    pauses.require(resource, 'all');
    const credential = authorize && { Authorization: await authorize() };
    const requestBody = body === undefined ? {} : { body: JSON.stringify(body) };
    let response: ForgeAnswer | undefined;
    let outcome: NewRequest['outcome'] = 'success';
    try {
      const requestHeaders = { ...own, ...credential, ...headers };
      response = await exchange(url, { method, headers: requestHeaders, ...requestBody, dispatcher, timeoutMs });
      updateBudget(resource, response);
      assertNotLimited(resource, response);
      return read(response);
    } catch (error) {
      const failure = toForgeError(error);
      outcome = failure.kind;
      // Some forges report a rate limit in the body, which is read last.
      if (failure.resetsAt !== undefined) pauses.begin(resource, failure.resetsAt);
      throw failure;
    } finally {
      const rateLimit = response && readBudget(response.headers);
      const status = response && { statusCode: response.status };
      await record({ forge, method, endpoint, outcome, ...owner, ...status, ...(rateLimit && { rateLimit }) });
    }
  }

  function updateBudget(resource: Resource, { headers }: ForgeAnswer): void {
    const budget = readBudget(headers);
    if (budget !== undefined) budgets[resource] = { ...budgets[resource], ...budget };
  }

  function assertNotLimited(resource: Resource, response: ForgeAnswer): void {
    const limited = findLimit(response, now());
    if (limited === undefined) return;
    const resetsAt = pauses.begin(limited.of === 'all' ? 'all' : resource, limited.until);
    throw new ForgeError('rate_limited', {
      status: response.status,
      resetsAt,
      cause: new Error(describeResponse(response)),
    });
  }

  return { budgets, answers, now, ask: (ask) => run(() => send(ask)) };
}

/** Returns a response with status 2xx. @throws ForgeError of the kind that the status stands for. */
export function requireSuccess(response: ForgeAnswer): ForgeAnswer {
  const { status } = response;
  if (status >= 200 && status < 300) return response;
  const timedOut = status === 502 || status === 504;
  throw new ForgeError(kindOfStatus(status), { status, timedOut, cause: new Error(describeResponse(response)) });
}

/** Describes a response for logs, with the start of its body only: an HTML page says little after its first lines. */
function describeResponse({ status, text }: ForgeAnswer): string {
  return `The forge responded with ${status}: ${text.slice(0, 500)}`;
}
