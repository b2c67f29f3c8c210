import { ForgeError } from '../forge-error.js';
import type { ForgeErrorKind } from '../forge-error.js';
import { parseJson } from '../http/exchange.js';
import type { ForgeAnswer } from '../http/exchange.js';
import { readBudget } from './limits.js';

interface GraphqlError {
  readonly type?: string;
}

const OF_TYPE: Readonly<Record<string, ForgeErrorKind>> = {
  RATE_LIMITED: 'rate_limited',
  RATE_LIMIT: 'rate_limited',
  NOT_FOUND: 'not_found',
  FORBIDDEN: 'unauthorized',
  INSUFFICIENT_SCOPES: 'unauthorized',
  UNPROCESSABLE: 'conflict',
};

/** Nodes that are gone or hidden are null in the data; the others are there. */
const PARTIAL: ReadonlySet<ForgeErrorKind> = new Set(['not_found', 'unauthorized']);

/** Limits are refilled every hour; when GitHub doesn't say when, a minute is worth another try. */
const DEFAULT_PAUSE_MS = 60_000;

/**
 * Reads a GraphQL answer, in which GitHub tells most errors with a status of 200.
 *
 * @throws ForgeError of the first error, unless all are of nodes that are null in the data.
 */
export function readPartialData(answer: ForgeAnswer, at: number): unknown {
  const { data, errors } = parseAnswer(answer);
  const isPartial = data !== null && kindsOf(errors).every((kind) => PARTIAL.has(kind));
  return isPartial ? data : readWholeData(answer, at);
}

/** @throws ForgeError of the first error. */
export function readWholeData(answer: ForgeAnswer, at: number): unknown {
  const { data, errors } = parseAnswer(answer);
  if (data !== null && errors.length === 0) return data;
  throw toError(errors, { answer, at });
}

function parseAnswer({ text }: ForgeAnswer): { data: object | null; errors: readonly GraphqlError[] } {
  // The shape that GraphQL over HTTP has; anything else comes without data.
  const { data, errors } = (parseJson(text) ?? {}) as { readonly data?: unknown; readonly errors?: unknown };
  return { data: typeof data === 'object' ? data : null, errors: Array.isArray(errors) ? errors : [] };
}

function kindsOf(errors: readonly GraphqlError[]): ForgeErrorKind[] {
  return errors.map(({ type }) => OF_TYPE[type ?? ''] ?? 'unknown');
}

function toError(
  errors: readonly GraphqlError[],
  { answer: { headers, status }, at }: { readonly answer: ForgeAnswer; readonly at: number },
): ForgeError {
  const kinds = kindsOf(errors);
  const cause = new Error(`GitHub answered with errors: ${JSON.stringify(errors).slice(0, 500)}`);
  if (!kinds.includes('rate_limited')) return new ForgeError(kinds[0] ?? 'unknown', { status, cause });
  const budget = readBudget(headers);
  const resetsAt = budget?.remaining === 0 ? Date.parse(budget.resetsAt) : at + DEFAULT_PAUSE_MS;
  return new ForgeError('rate_limited', { status, resetsAt, cause });
}
