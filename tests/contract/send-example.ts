import type { DocumentedOperation } from './contract.js';

/** Changes an example request into another. */
export interface Change {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  /** The query string as it is sent, instead of `query`. */
  readonly rawQuery?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the example's body. */
  readonly body?: unknown;
  /** Sent as it is, instead of the example's body. */
  readonly text?: string;
}

export interface Answer {
  readonly response: Response;
  readonly error?: { readonly error: string; readonly code: string; readonly field?: string };
}

/** Sends an operation's example request with a generated client of its service. */
export async function sendExample(
  client: object,
  operation: DocumentedOperation,
  change: Change = {},
): Promise<Answer> {
  const { spec, example } = operation;
  const { path, query, rawQuery, headers, text } = change;
  const params = { path: { ...example.params.path, ...path }, query: { ...example.params.query, ...query } };
  const body =
    text === undefined
      ? { body: 'body' in change ? change.body : example.body }
      : { body: text, bodySerializer: (sent: string) => sent };
  const search = rawQuery === undefined ? {} : { querySerializer: () => rawQuery };
  const init = {
    params,
    headers: { 'content-type': 'application/json', ...headers },
    ...search,
    ...body,
    parseAs: 'stream',
  };
  // The example fits the operation, which no type can know.
  const { request } = client as { request: Send };
  const { response, data, error } = await request(
    spec.method,
    spec.path,
    spec.body === undefined ? without(init) : init,
  );
  await data?.cancel();
  return { response, error: error as Answer['error'] };
}

type Send = (method: string, path: string, init: object) => Promise<Sent>;

interface Sent {
  readonly response: Response;
  readonly data?: ReadableStream | null;
  readonly error?: unknown;
}

/** The request of an operation that takes no body has neither one nor a type for it. */
function without(init: { readonly headers: Readonly<Record<string, string>> }) {
  const { 'content-type': type, ...others } = init.headers;
  return { ...init, body: undefined, headers: type === 'application/json' ? others : init.headers };
}
