import { loadSession } from '../session.js';

type ServerErrors = readonly { readonly message: string; readonly extensions?: { readonly field?: string } }[];

interface Answer<T> {
  readonly data?: T | null;
  /** The reason why the server can't run queries now. */
  readonly error?: string;
  readonly errors?: ServerErrors;
}

/** What the site's data could not answer, in its own words. */
export class AskError extends Error {
  override readonly name = 'AskError';

  /** The argument that was refused, such as `traceSVG.threshold`. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * Asks the site's data for one thing.
 *
 * @throws AskError with the first error.
 */
export async function ask<T>(query: string, variables: Variables = {}): Promise<T> {
  const { data, errors } = await send<T>(query, variables);
  if (errors.length === 0) return data;
  throw toError(errors);
}

/** The same for what is of use also in part: a field that failed is null, as of a picture that can't be read. */
export const askInPart = async <T>(query: string, variables: Variables = {}): Promise<T> =>
  (await send<T>(query, variables)).data;

async function send<T>(query: string, variables: Variables) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  // The session has ended: the page leads to the sign-in page.
  if (response.status === 401) await loadSession();
  const { data, errors = [], error } = (await response.json()) as Answer<T>;
  if (data) return { data, errors };
  if (errors.length > 0) throw toError(errors);
  throw new AskError(error ?? `The server answered ${response.status} without data.`);
}

const toError = ([first]: ServerErrors): AskError =>
  new AskError(first?.message ?? 'The server did not say why.', first?.extensions?.field);
