import { decodeError } from './errors.js';
import { findEnd, parseEvent } from './event-text.js';
import { wait } from './wait.js';

/** An event of a stream, its data read as JSON. */
export interface StreamEvent<Data> {
  /** `undefined` while the server has named none. */
  readonly id: string | undefined;
  readonly data: Data;
}

/** What a stream's request needs of its options. Not an interface, which would not do as options as it is. */
export type StreamInit = Readonly<{
  headers: Readonly<Record<string, string>>;
  parseAs: 'stream';
  signal: AbortSignal;
}>;

/** What a call of a stream answers. */
export interface StreamAnswer {
  readonly data?: ReadableStream<Uint8Array> | null | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

export interface StreamOptions {
  /** Ends the stream, also while it waits. */
  readonly signal?: AbortSignal;
  /** The wait before a stream that ended is opened again, unless the server names another; 3,000 unless told. */
  readonly reconnectMs?: number;
}

/** A minute: a server that asks for more would look like one that is gone. */
const MAX_RECONNECT_MS = 60_000;

/** Boards of thousands of pull requests are some millions of characters; what never ends would fill the memory. */
const MAX_EVENT_LENGTH = 2 ** 26;

/**
 * Follows server-sent events for as long as they are iterated. A stream that
 * ends or breaks is opened again, with the last id, so that what is known is
 * not sent again.
 *
 * ```ts
 * const boards = readEvents<Dashboard>((init) => client.GET('/api/dashboard/stream', init));
 * for await (const { data } of boards) …
 * ```
 *
 * @throws ApiError when the stream is refused; what the client throws when it
 * can't be opened; the signal's reason when it is aborted.
 */
export async function* readEvents<Data>(
  open: (init: StreamInit) => Promise<StreamAnswer>,
  { signal = new AbortController().signal, reconnectMs = 3000 }: StreamOptions = {},
): AsyncGenerator<StreamEvent<Data>, void, undefined> {
  let lastId: string | undefined;
  let delayMs = reconnectMs;
  for (;;) {
    const body = await requireStream(open({ headers: toHeaders(lastId), parseAs: 'stream', signal }));
    for await (const text of readTexts(body, signal)) {
      const { id, data, retryMs } = parseEvent(text);
      lastId = id ?? lastId;
      delayMs = Math.min(retryMs ?? delayMs, MAX_RECONNECT_MS);
      if (data !== undefined) yield { id: lastId, data: JSON.parse(data) as Data };
    }
    await wait(delayMs, signal);
  }
}

const toHeaders = (lastId: string | undefined): Record<string, string> =>
  lastId === undefined ? {} : { 'Last-Event-ID': lastId };

async function requireStream(answer: Promise<StreamAnswer>): Promise<ReadableStream<Uint8Array>> {
  const { data, error, response } = await answer;
  const refusal = decodeError(response, error);
  if (refusal) throw refusal;
  if (!data) throw new TypeError(`Expected a stream of events; received status ${response.status} without a body.`);
  return data;
}

/** The text of one event after the other, until the connection ends, in whichever way. */
async function* readTexts(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  // Not iterated directly, which some browsers can't.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const chunk = await reader.read().catch(() => ({ done: true, value: undefined }));
      signal.throwIfAborted();
      if (chunk.done) return;
      const searched = rest.length;
      rest += decoder.decode(chunk.value, { stream: true });
      for (let end = findEnd(rest, searched); end > 0; end = findEnd(rest)) {
        yield rest.slice(0, end);
        rest = rest.slice(end);
      }
      if (rest.length > MAX_EVENT_LENGTH)
        throw new RangeError(`Expected events of at most ${MAX_EVENT_LENGTH} characters.`);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
