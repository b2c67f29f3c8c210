/** Responses that are streams of server-sent events. */
import { once } from 'node:events';
import { AppError } from '@trellis/core/errors';
import type { Response } from 'express';
import { chooseEncoding, GzipStream, type ToPayload } from '../http/payload.js';
import { isJson } from '../http/request.js';
import { PRIVATE } from '../http/responses.js';
import type { ResponseSpec, ServerSentEvent, Validator } from './operation.js';

export const EVENT_STREAM_TYPE = 'text/event-stream';

/** Proxies close an idle connection after 30 to 60 seconds. */
export const HEARTBEAT_MS = 15_000;

/** A comment, which clients ignore. */
export const HEARTBEAT = ':\n\n';

/** A stream ends when the caller could not be checked at this number of heartbeats in a row. */
const MAX_UNCHECKED = 4;

export interface Heart {
  readonly heartbeatMs: number;
  /** Rejects with an AppError below 500 when the caller is no longer authorized, and with any other error when it fails. */
  readonly check: () => Promise<unknown>;
  readonly beat: () => void;
  readonly end: () => void;
}

/**
 * Checks the caller at every heartbeat, and ends the stream of one who is refused. A check that fails, such as one by a
 * busy database, refuses nobody, until it has failed 4 times in a row. A heartbeat is skipped while the last check runs.
 *
 * @returns a function that stops the heartbeats.
 */
export function startHeart({ heartbeatMs, check, beat, end }: Heart): () => void {
  let isChecking = false;
  let unchecked = 0;
  const onBeat = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    try {
      await check();
      unchecked = 0;
    } catch (error) {
      unchecked += 1;
      const isRefused = error instanceof AppError && error.status < 500;
      if (isRefused || unchecked === MAX_UNCHECKED) {
        end();
        return;
      }
    } finally {
      isChecking = false;
    }
    beat();
  };
  const timer = setInterval(() => void onBeat(), heartbeatMs);
  return () => clearInterval(timer);
}

/** The end of an event. */
const END = '\n\n';

export interface EventStreamOptions {
  /** Aborted when the server stops, which ends every stream. */
  readonly stopping?: AbortSignal;
  readonly heartbeatMs?: number;
}

export interface EventStream extends EventStreamOptions {
  /** Named in the error for an event that violates the contract. */
  readonly operationId: string;
  readonly events: AsyncIterable<ServerSentEvent>;
  /** Converts the data of an event to JSON. Its cache is shared by streams that send the same data. */
  readonly toPayload: ToPayload;
  /** Whether events may be sent compressed. */
  readonly isCompressible: boolean;
  /** Checks at every heartbeat that the caller is still authorized. */
  readonly check: Heart['check'];
  /** Validates the data of each event; absent if they are not validated. */
  readonly validate: Validator | undefined;
}

/**
 * Sends events as they arrive, with backpressure, and a comment at every heartbeat. The stream ends when the events
 * end, the client disconnects, the server stops or the caller is no longer authorized.
 *
 * @throws any error of the events, and Error for an event that violates the contract.
 */
export async function sendEvents(response: Response, stream: EventStream): Promise<void> {
  const { stopping, check, heartbeatMs = HEARTBEAT_MS } = stream;
  const over = new AbortController();
  const end = (): void => over.abort();
  response.once('close', end);
  if (stopping?.aborted === true || response.destroyed) end();
  stopping?.addEventListener('abort', end, { once: true });
  const gzip = stream.isCompressible ? negotiateGzip(response) : undefined;
  const stopHeart = startHeart({ heartbeatMs, check, beat: () => sendHeartbeat({ response, gzip }), end });
  try {
    open({ response, gzip });
    if (response.req.method !== 'HEAD') await pump({ response, gzip }, stream, over.signal);
  } finally {
    stopHeart();
    stopping?.removeEventListener('abort', end);
    response.end(gzip?.end());
  }
}

/** The destination of events. */
interface Sink {
  readonly response: Response;
  /** Absent if events are sent uncompressed. */
  readonly gzip: GzipStream | undefined;
}

function negotiateGzip(response: Response): GzipStream | undefined {
  response.vary('Accept-Encoding');
  // Segments of gzip can be shared by many streams; brotli has no such segments.
  const encoding = chooseEncoding(response.req.headers['accept-encoding'], ['gzip']);
  if (encoding === undefined) return undefined;
  response.setHeader('Content-Encoding', encoding);
  return new GzipStream();
}

function open({ response, gzip }: Sink): void {
  response.set({
    'Content-Type': EVENT_STREAM_TYPE,
    'Cache-Control': PRIVATE,
    // Disables buffering in nginx and compatible proxies.
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  if (gzip !== undefined) response.write(gzip.header);
}

function sendHeartbeat({ response, gzip }: Sink): void {
  if (response.writableNeedDrain || response.writableEnded) return;
  response.write(gzip?.text(HEARTBEAT) ?? HEARTBEAT);
}

async function pump(sink: Sink, stream: EventStream, over: AbortSignal): Promise<void> {
  let leave: () => void = () => undefined;
  over.addEventListener('abort', () => leave(), { once: true });
  const events = stream.events[Symbol.asyncIterator]();
  try {
    while (!over.aborted) {
      // Promise.race() with one promise for the end would keep every event until then.
      const next = await new Promise<IteratorResult<ServerSentEvent, unknown> | undefined>((resolve, reject) => {
        leave = () => resolve(undefined);
        events.next().then(resolve, reject);
      });
      if (next === undefined || next.done === true) return;
      assertContractEvent(stream, next.value);
      if (await write(sink, stream, next.value)) continue;
      await once(sink.response, 'drain', { signal: over }).catch(() => undefined);
    }
  } finally {
    // A generator that waits at a yield releases what it holds. One that waits for an event ends by its signal first.
    void events.return?.(undefined).catch(() => undefined);
  }
}

/**
 * JSON has no line breaks, so an event is one line of data. Its bytes are written separately, which avoids a copy.
 *
 * @returns false when the buffer of the connection is full.
 */
async function write(
  { response, gzip }: Sink,
  { toPayload }: EventStream,
  { id, data }: ServerSentEvent,
): Promise<boolean> {
  const payload = toPayload(data);
  const segment = gzip && (await payload.segment);
  const begin = `id: ${id}\ndata: `;
  // Node corks the socket itself. After cork() of the response, Node 22 and 24 may never emit "drain".
  response.write(gzip?.text(begin) ?? begin);
  response.write(gzip && segment ? gzip.segment(segment) : payload.bytes);
  return response.write(gzip?.text(END) ?? END);
}

/** Returns whether the schema of a response is that of its events: the schema of the first JSON or event stream. */
export const isEventSchema = ({ contentTypes }: ResponseSpec): boolean =>
  contentTypes.find((type) => type === EVENT_STREAM_TYPE || isJson(type)) === EVENT_STREAM_TYPE;

function assertContractEvent({ operationId, validate }: EventStream, { data }: ServerSentEvent): void {
  if (validate === undefined || validate(JSON.parse(JSON.stringify(data)))) return;
  const [error] = validate.errors ?? [];
  throw new Error(
    `Operation ${operationId}: an event at "${error?.instancePath ?? ''}" ${error?.message ?? 'does not fit'}.`,
  );
}
