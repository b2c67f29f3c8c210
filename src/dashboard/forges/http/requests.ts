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

/** Forges ask for few requests at the same time; more of them run into limits that nobody can see. */
const MAX_CONCURRENT = 4;

export interface RequestsOptions {
  /** Makes the connections. */
  readonly dispatcher: Dispatcher;
  /** Whose credential it is, for the log of requests. */
  readonly account?: string | undefined;
  /** Is told of every request; it must not fail. */
  readonly record: (request: NewRequest) => Promise<void>;
  /** Where answers are kept; by default in a place of its own. */
  readonly answers?: Answers | undefined;
  readonly now?: (() => number) | undefined;
  readonly timeoutMs?: number | undefined;
}

/** How a forge is spoken to. */
export interface Dialect {
  readonly forge: ForgeName;
  /** The credential among them, if it is always the same. */
  readonly headers: Readonly<Record<string, string>>;
  /** Gives the credential of the next request, if it changes. */
  readonly authorize?: (() => Promise<string>) | undefined;
  readonly readBudget: (headers: Headers) => Budget | undefined;
  /** @returns `undefined` when the answer isn't about a limit. */
  readonly findLimit: (answer: ForgeAnswer, at: number) => Limited | undefined;
}

/** Some limits are of one budget, others of everything that the credential asks. */
export interface Limited {
  readonly of: 'everything' | 'this budget';
  readonly until: number;
}

export type Resource = 'graphql' | 'rest';

export interface Ask<T> {
  readonly resource: Resource;
  readonly url: string;
  /** As the log shows it. */
  readonly endpoint: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Makes of an answer what was asked for; throws ForgeError. */
  readonly read: (answer: ForgeAnswer) => T;
}

export interface Requests {
  readonly budgets: Partial<Record<Resource, Budget>>;
  readonly answers: Answers;
  readonly now: () => number;
  /** Asks in turn, and nothing at all while the forge says so. */
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
    pauses.require(resource, 'everything');
    const credential = authorize && { Authorization: await authorize() };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    let answer: ForgeAnswer | undefined;
    let outcome: NewRequest['outcome'] = 'success';
    try {
      const sentHeaders = { ...own, ...credential, ...headers };
      answer = await exchange(url, { method, headers: sentHeaders, ...sent, dispatcher, timeoutMs });
      noteBudget(resource, answer);
      requireTaken(resource, answer);
      return read(answer);
    } catch (error) {
      const failure = toForgeError(error);
      outcome = failure.kind;
      // Some tell of it in the body, which is read last.
      if (failure.resetsAt !== undefined) pauses.begin(resource, failure.resetsAt);
      throw failure;
    } finally {
      const rateLimit = answer && readBudget(answer.headers);
      const status = answer && { statusCode: answer.status };
      await record({ forge, method, endpoint, outcome, ...owner, ...status, ...(rateLimit && { rateLimit }) });
    }
  }

  function noteBudget(resource: Resource, { headers }: ForgeAnswer): void {
    const budget = readBudget(headers);
    if (budget !== undefined) budgets[resource] = { ...budgets[resource], ...budget };
  }

  function requireTaken(resource: Resource, answer: ForgeAnswer): void {
    const limited = findLimit(answer, now());
    if (limited === undefined) return;
    const resetsAt = pauses.begin(limited.of === 'everything' ? 'everything' : resource, limited.until);
    throw new ForgeError('rate_limited', { status: answer.status, resetsAt, cause: new Error(excerptOf(answer)) });
  }

  return { budgets, answers, now, ask: (ask) => run(() => send(ask)) };
}

/** @throws ForgeError of the kind that the status stands for. */
export function requireSuccess(answer: ForgeAnswer): ForgeAnswer {
  const { status } = answer;
  if (status >= 200 && status < 300) return answer;
  const timedOut = status === 502 || status === 504;
  throw new ForgeError(kindOfStatus(status), { status, timedOut, cause: new Error(excerptOf(answer)) });
}

/** For logs; a page of HTML says nothing after its first lines. */
function excerptOf({ status, text }: ForgeAnswer): string {
  return `The forge answered ${status}: ${text.slice(0, 500)}`;
}
