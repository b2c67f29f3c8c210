import type { TypedQuery } from '@trellis/client/site-client';
import type { KindDescription } from '@trellis/core/record-types';
import { limitWait, requireData, toProblem, waitToRetry } from '../api.js';
import { loadSession } from '../session.js';

type ServerErrors = readonly { readonly message: string; readonly extensions?: { readonly field?: string } }[];

interface GraphqlResponse<T> {
  readonly data?: T | null;
  readonly errors?: ServerErrors;
}

/** The first error of a query, with the message of the server. */
export class SiteQueryError extends Error {
  override readonly name = 'SiteQueryError';

  /** The invalid argument, such as `traceSVG.threshold`. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * Runs a GraphQL query against the site.
 *
 * @throws SiteQueryError with the first error, also when the response contains data.
 */
export async function querySite<Result, Given = Variables>(
  query: TypedQuery<Result, Given>,
  variables?: Given,
): Promise<Result> {
  const { data, errors } = await send<Result>(query, variables);
  if (errors.length === 0) return data;
  throw toError(errors);
}

/** Like {@link querySite}, but accepts partial results: a field that failed is null, such as an unreadable image. */
export const querySitePartially = async <Result, Given = Variables>(
  query: TypedQuery<Result, Given>,
  variables?: Given,
): Promise<Result> => (await send<Result>(query, variables)).data;

/** The outcome of a query: its result, or why it failed. */
export type QueryOutcome<Result> =
  { readonly result: Result; readonly error?: undefined } | { readonly result?: undefined; readonly error: unknown };

/**
 * Queries the site after a pause, in which the user may continue to type, and after an outage again and again. Returns a function
 * that stops this.
 */
export function queryLater<Result>(
  [query, variables]: readonly [query: string, variables?: Variables],
  delayMs: number,
  settle: (outcome: QueryOutcome<Result>) => void,
): () => void {
  const left = new AbortController();
  const { signal } = left;
  const attempt = async (failures: number): Promise<void> => {
    const outcome: QueryOutcome<Result> = await querySite<Result>(query, variables).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    if (signal.aborted) return;
    settle(outcome);
    if (outcome.result !== undefined || toProblem(outcome.error).isTemporary !== true) return;
    void waitToRetry(failures + 1, signal).then(() => (signal.aborted ? undefined : attempt(failures + 1)));
  };
  const timer = setTimeout(() => void attempt(0), delayMs);
  return () => {
    clearTimeout(timer);
    left.abort();
  };
}

let recordTypes: Promise<readonly KindDescription[]> | undefined;

/** Loads the record types of the site, with those of its project, once. */
export function loadRecordTypes(): Promise<readonly KindDescription[]> {
  return (recordTypes ??= fetchRecordTypes().catch((error: unknown) => {
    recordTypes = undefined;
    throw error;
  }));
}

async function fetchRecordTypes(): Promise<readonly KindDescription[]> {
  const response = await fetch('/site/record-types.json', { signal: limitWait() });
  // The session has ended. Loading it leads to the sign-in page.
  if (response.status === 401) await loadSession();
  const data = await readBody(response);
  return requireData<readonly KindDescription[]>(
    response.ok ? { response, data: data as readonly KindDescription[] } : { response, error: data },
  );
}

async function send<T>(query: string, variables: unknown = {}) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
    signal: limitWait(),
  });
  // The session has ended. Loading it leads to the sign-in page.
  if (response.status === 401) await loadSession();
  const body = await readBody(response);
  const { data, errors = [] } = body as GraphqlResponse<T>;
  if (data) return { data, errors };
  if (errors.length > 0) throw toError(errors);
  requireData({ response, error: body });
  throw new SiteQueryError(`The server responded with status ${response.status} and without data.`);
}

/** @throws ApiError for an error response that is not JSON, such as the page of a proxy. */
const readBody = (response: Response): Promise<unknown> =>
  response.json().catch((error: unknown) => {
    requireData({ response });
    throw error;
  });

const toError = ([first]: ServerErrors): SiteQueryError =>
  new SiteQueryError(first?.message ?? 'The server gave no reason.', first?.extensions?.field);

/** A reference to a record in a response. */
export interface RecordReference {
  readonly id: string;
  readonly internal: { readonly type: string; readonly description: string | null };
}
