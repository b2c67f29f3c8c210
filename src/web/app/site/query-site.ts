import type { TypedQuery } from '@trellis/client/site-client';
import { requireData } from '../api.js';
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

async function send<T>(query: string, variables: unknown = {}) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
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
