import { ForgeError } from '../forge-error.js';
import type { ForgeErrorKind } from '../forge-error.js';
import { FieldError } from '../http/connections.js';
import { parseJson } from '../http/exchange.js';
import type { ForgeAnswer } from '../http/exchange.js';
import { readBudget } from './limits.js';

interface GraphqlError {
  readonly type?: unknown;
  readonly path?: unknown;
}

/** The type of the error with which GitHub ends a query that takes it too much. */
const RESOURCE_LIMITS = 'RESOURCE_LIMITS_EXCEEDED';

const OF_TYPE: ReadonlyMap<unknown, ForgeErrorKind> = new Map<unknown, ForgeErrorKind>([
  ['RATE_LIMITED', 'rate_limited'],
  ['RATE_LIMIT', 'rate_limited'],
  ['NOT_FOUND', 'not_found'],
  ['FORBIDDEN', 'unauthorized'],
  ['INSUFFICIENT_SCOPES', 'unauthorized'],
  ['UNPROCESSABLE', 'conflict'],
  [RESOURCE_LIMITS, 'unreachable'],
]);

/** Errors of a part that is null in the data; the other parts are there. */
const PARTIAL: ReadonlySet<ForgeErrorKind> = new Set(['not_found', 'unauthorized']);

/** Limits are refilled every hour; when GitHub doesn't say when, a minute is worth another try. */
const DEFAULT_PAUSE_MS = 60_000;

/**
 * Reads a GraphQL answer, in which GitHub tells most errors with a status of 200. An error without a type is of the
 * part that its path names, which GitHub failed to compute.
 *
 * @returns The data, in which a {@link FieldError} stands for an item of a list, a list or a rollup that GitHub has but
 * did not give. Other parts with errors are null.
 * @throws ForgeError of the first error, unless all are of parts.
 */
export function readPartialData(answer: ForgeAnswer, at: number): unknown {
  const { data, errors } = parseAnswer(answer);
  if (data === null || !errors.every(isOfPart)) return readWholeData(answer, at);
  for (const error of errors) placeError(data, error);
  return data;
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
  const list = Array.isArray(errors) ? errors.map((error: unknown) => (error ?? {}) as GraphqlError) : [];
  return { data: typeof data === 'object' ? data : null, errors: list };
}

const kindOf = ({ type }: GraphqlError): ForgeErrorKind => OF_TYPE.get(type) ?? 'unknown';

function isOfPart(error: GraphqlError): boolean {
  const { type, path } = error;
  return PARTIAL.has(kindOf(error)) || ((type === undefined || type === null) && Array.isArray(path));
}

/** Where it makes a difference whether GitHub has nothing, or has something and did not give it. */
const isMarked = (key: unknown): boolean => typeof key === 'number' || key === 'nodes' || key === 'statusCheckRollup';

/** An error of a value that can't be null makes its parent null: it is at the first null on its path. */
function placeError(data: object, error: GraphqlError): void {
  let parent: unknown = data;
  for (const key of Array.isArray(error.path) ? error.path : []) {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, String(key))) return;
    const record = parent as Record<string, unknown>;
    const value = record[String(key)];
    if (value === null && isMarked(key)) record[String(key)] = new FieldError(kindOf(error));
    parent = value;
  }
}

function toError(
  errors: readonly GraphqlError[],
  { answer: { headers, status }, at }: { readonly answer: ForgeAnswer; readonly at: number },
): ForgeError {
  const kinds = errors.map(kindOf);
  const cause = new Error(`GitHub answered with errors: ${JSON.stringify(errors).slice(0, 500)}`);
  if (!kinds.includes('rate_limited')) {
    const timedOut = errors.some(({ type }) => type === RESOURCE_LIMITS);
    return new ForgeError(timedOut ? 'unreachable' : (kinds[0] ?? 'unknown'), { status, timedOut, cause });
  }
  const budget = readBudget(headers);
  const resetsAt = budget?.remaining === 0 ? Date.parse(budget.resetsAt) : at + DEFAULT_PAUSE_MS;
  return new ForgeError('rate_limited', { status, resetsAt, cause });
}
