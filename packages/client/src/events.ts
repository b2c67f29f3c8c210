import { decodeError } from './errors.js';
import { delay } from './retry.js';

/** An event of a stream, with its data parsed as JSON. */
export interface StreamEvent<Data> {
  /** `undefined` until the server sends an id. */
  readonly id: string | undefined;
  readonly data: Data;
}

/** The options of a stream request. A type alias, as openapi-fetch doesn't accept an interface here. */
export type StreamInit = Readonly<{
  headers: Readonly<Record<string, string>>;
  parseAs: 'stream';
  signal: AbortSignal;
}>;

/** The result of a stream request. */
interface StreamResponse {
  readonly data?: ReadableStream<Uint8Array> | null;
  readonly error?: unknown;
  readonly response: Response;
}

export interface StreamOptions {
  /** Ends the stream, also during the wait before a reconnect. */
  readonly signal?: AbortSignal;
  /** The wait before a reconnect, unless the server sends `retry`. Defaults to 3,000. */
  readonly reconnectMs?: number;
  /**
   * The time without any byte after which a connection counts as lost, as that of a laptop which changed its network does
   * not end. The time of a sleep counts. Defaults to 60,000; servers of the toolkit send a comment every 15 seconds. 0 for
   * no limit.
   */
  readonly idleMs?: number;
}

/** With a longer wait the stream would appear to be dead. */
const MAX_RECONNECT_MS = 60_000;

/**
 * Boards of thousands of pull requests have some million characters. The limit bounds the memory for endless events.
 */
const MAX_EVENT_LENGTH = 2 ** 26;

/**
 * Yields server-sent events. After a stream ends or breaks, it reconnects with the id of the last event, so that the
 * server doesn't repeat events. Leaving the loop closes the connection.
 *
 * ```ts
 * const boards = readEvents<Dashboard>((init) => client.GET('/api/dashboard/stream', init));
 * for await (const { data } of boards) …
 * ```
 *
 * @throws ApiError for an error response; the error of the client when the request fails; the abort reason of the
 * signal.
 */
export async function* readEvents<Data>(
  open: (init: StreamInit) => Promise<StreamResponse>,
  { signal = new AbortController().signal, reconnectMs = 3000, idleMs = 60_000 }: StreamOptions = {},
): AsyncGenerator<StreamEvent<Data>, void, undefined> {
  let lastId: string | undefined;
  let delayMs = reconnectMs;
  for (;;) {
    const body = await requireStream(open({ headers: toHeaders(lastId), parseAs: 'stream', signal }));
    for await (const text of readTexts(body, { signal, idleMs })) {
      const { id, data, retryMs } = parseEvent(text);
      lastId = id ?? lastId;
      delayMs = Math.min(retryMs ?? delayMs, MAX_RECONNECT_MS);
      // The standard has no event without data, as some servers send to keep a connection.
      if (data) yield { id: lastId, data: JSON.parse(data) as Data };
    }
    await delay(delayMs, signal);
  }
}

/** Headers have one character for each byte. */
const toHeaders = (lastId: string | undefined): Record<string, string> =>
  lastId === undefined ? {} : { 'Last-Event-ID': toByteString(lastId) };

const toByteString = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');

async function requireStream(result: Promise<StreamResponse>): Promise<ReadableStream<Uint8Array>> {
  const { data, error, response } = await result;
  const apiError = decodeError(response, error);
  if (apiError) throw apiError;
  if (!data) throw new TypeError(`Expected a stream of events; received status ${response.status} without a body.`);
  const type = response.headers.get('Content-Type') ?? EVENT_STREAM;
  if (!type.toLowerCase().startsWith(EVENT_STREAM)) {
    await data.cancel().catch(() => undefined);
    throw new TypeError(
      `Expected a stream of events; received status ${response.status} with a body of type "${type}".`,
    );
  }
  return data;
}

/** The type of a stream. A page of a proxy has a different one, and has no events however often it is requested. */
const EVENT_STREAM = 'text/event-stream';

/** Yields the text of each event until the connection ends or breaks, or nothing arrives for some time. */
async function* readTexts(
  body: ReadableStream<Uint8Array>,
  { signal, idleMs }: Required<Pick<StreamOptions, 'idleMs' | 'signal'>>,
): AsyncGenerator<string> {
  // Some browsers can't iterate a `ReadableStream`.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const chunk = await readBefore(reader, idleMs);
      signal.throwIfAborted();
      if (chunk.done) return;
      const searched = rest.length;
      rest += decoder.decode(chunk.value, { stream: true });
      for (let end = findEventEnd(rest, searched); end > 0; end = findEventEnd(rest)) {
        yield rest.slice(0, end);
        rest = rest.slice(end);
      }
      if (rest.length > MAX_EVENT_LENGTH)
        throw new RangeError(`Expected events of at most ${MAX_EVENT_LENGTH} characters; received more.`);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

const END: Chunk = { done: true, value: undefined };

/** How often a silent connection is checked. */
const CHECK_MS = 1000;

async function readBefore(reader: ReadableStreamDefaultReader<Uint8Array>, idleMs: number): Promise<Chunk> {
  const next = reader.read().catch(() => END);
  if (idleMs === 0) return next;
  // The timers of a computer stand still while it sleeps; its clock does not.
  const lostAt = Date.now() + idleMs;
  let timer: ReturnType<typeof setInterval> | undefined;
  const idle = new Promise<Chunk>((resolve) => {
    timer = setInterval(() => Date.now() >= lostAt && resolve(END), Math.min(idleMs, CHECK_MS));
  });
  try {
    return await Promise.race([next, idle]);
  } finally {
    clearInterval(timer);
  }
}

/** The fields of one server-sent event. The last value of each field wins, and data lines are joined. */
interface SseFields {
  readonly id?: string;
  readonly data?: string;
  readonly retryMs?: number;
}

const LINE_END = /\r\n|\n|\r/;

/** A line end followed by a blank line; at most four characters. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n|$)){2}/g;

/**
 * Returns the length of the first complete event with its blank line; 0 when the text contains no complete event.
 *
 * @param searched The length of the prefix that was already searched without a match. Skipping it keeps large events,
 * which arrive in many chunks, linear.
 */
export function findEventEnd(text: string, searched = 0): number {
  const blankLine = new RegExp(BLANK_LINE);
  blankLine.lastIndex = Math.max(0, searched - 3);
  return blankLine.test(text) ? blankLine.lastIndex : 0;
}

/** Parses the lines of one event. Comments and unknown fields are ignored. */
export function parseEvent(text: string): SseFields {
  const data: string[] = [];
  const fields: { id?: string; retryMs?: number } = {};
  for (const line of text.split(LINE_END)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    if (name === 'id' && !value.includes('\0')) fields.id = value;
    if (name === 'retry' && /^\d+$/.test(value)) fields.retryMs = Number(value);
  }
  return data.length === 0 ? fields : { ...fields, data: data.join('\n') };
}
