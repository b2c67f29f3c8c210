import type { DocumentedOperation } from './contract.js';

/** Changes to an example request. */
export interface RequestChange {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  /** The query string as it is sent, instead of `query`. */
  readonly rawQuery?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the body of the example. */
  readonly body?: unknown;
  /** Sent unchanged instead of the body of the example. */
  readonly text?: string;
}

export interface ExampleResponse {
  readonly response: Response;
  readonly error?: { readonly error: string; readonly code: string; readonly field?: string };
}

/** Sends the example request of an operation with the generated client of its service. */
export async function sendExample(
  client: object,
  operation: DocumentedOperation,
  change: RequestChange = {},
): Promise<ExampleResponse> {
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
  // The example matches the operation, which the types can't express.
  const { request } = client as { request: Send };
  const { response, data, error } = await request(
    spec.method,
    spec.path,
    spec.body === undefined ? withoutBody(init) : init,
  );
  await data?.cancel();
  return { response, error: error as ExampleResponse['error'] };
}

type Send = (method: string, path: string, init: object) => Promise<ClientResult>;

interface ClientResult {
  readonly response: Response;
  readonly data?: ReadableStream | null;
  readonly error?: unknown;
}

/** Removes the body and its content type for operations without a body. */
function withoutBody(init: { readonly headers: Readonly<Record<string, string>> }) {
  const { 'content-type': type, ...others } = init.headers;
  return { ...init, body: undefined, headers: type === 'application/json' ? others : init.headers };
}
