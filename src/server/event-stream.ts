/** Answers that are streams of server-sent events. */
import { once } from 'node:events';
import type { Response } from 'express';
import { chooseEncoding } from './content-encoding.js';
import { GzipStream } from './gzip-stream.js';
import { PRIVATE } from './headers.js';
import type { HandlerResponse, OperationSpec, ServerSentEvent } from './operation.js';
import type { ToPayload } from './payload.js';

const EVENT_STREAM = 'text/event-stream';

/** Proxies give a silent connection up after 30 to 60 seconds. */
const HEARTBEAT_MS = 15_000;

/** A comment, which clients ignore. */
const BEAT = ':\n\n';

/** After the data of an event. */
const END = '\n\n';

export interface EventStreamOptions {
  /** Ends every stream, as the server stops. */
  readonly stopping?: AbortSignal;
  readonly heartbeatMs?: number;
}

export interface EventStream extends EventStreamOptions {
  readonly operation: OperationSpec;
  readonly events: AsyncIterable<ServerSentEvent>;
  /** Makes the data of an event into JSON; streams that are sent the same share what it keeps. */
  readonly toPayload: ToPayload;
  /** Whether events may be sent compressed. */
  readonly isCompressible: boolean;
  /** Whether the caller may still have it; asked at every heartbeat. */
  readonly isAllowed: () => Promise<boolean>;
  /** Holds each event to the contract. */
  readonly validate: boolean;
}

/** The events of an answer, when it is a stream of them. */
export function findEvents(
  { responses }: OperationSpec,
  { status, body }: HandlerResponse,
): AsyncIterable<ServerSentEvent> | undefined {
  // The contract says so, and the generated types hold handlers to it.
  const isStream = responses[status]?.contentTypes[0] === EVENT_STREAM;
  return isStream ? (body as AsyncIterable<ServerSentEvent>) : undefined;
}

/**
 * Sends events as they come, each only once the peer took the one before, and
 * a comment at every heartbeat. It ends with the events, the peer, the server,
 * or the caller's right to it.
 *
 * @throws what the events throw, and Error for one that differs from the contract.
 */
export async function sendEvents(response: Response, stream: EventStream): Promise<void> {
  const { stopping, heartbeatMs = HEARTBEAT_MS } = stream;
  const over = new AbortController();
  const end = (): void => over.abort();
  response.once('close', end);
  if (stopping?.aborted === true || response.destroyed) end();
  stopping?.addEventListener('abort', end, { once: true });
  const gzip = stream.isCompressible ? negotiateGzip(response) : undefined;
  const heart = setInterval(() => void beat({ response, gzip }, stream, end), heartbeatMs);
  try {
    open({ response, gzip });
    if (response.req.method !== 'HEAD') await pump({ response, gzip }, stream, over.signal);
  } finally {
    clearInterval(heart);
    stopping?.removeEventListener('abort', end);
    response.end(gzip?.end());
  }
}

/** Where events go. */
interface Sink {
  readonly response: Response;
  /** Absent where they are sent as they are. */
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
  response.status(200).set({
    'Content-Type': EVENT_STREAM,
    'Cache-Control': PRIVATE,
    // Proxies that know it hand events on at once.
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  if (gzip !== undefined) response.write(gzip.header);
}

async function beat({ response, gzip }: Sink, { isAllowed }: EventStream, end: () => void): Promise<void> {
  if (!(await isAllowed().catch(() => false))) end();
  else if (!response.writableNeedDrain && !response.writableEnded) response.write(gzip?.text(BEAT) ?? BEAT);
}

async function pump(sink: Sink, stream: EventStream, over: AbortSignal): Promise<void> {
  const ended = new Promise<undefined>((resolve) => {
    if (over.aborted) resolve(undefined);
    over.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const events = stream.events[Symbol.asyncIterator]();
  while (!over.aborted) {
    const next = await Promise.race([events.next(), ended]);
    if (next === undefined || next.done === true) return;
    if (stream.validate) requireContractEvent(stream.operation, next.value);
    if (await write(sink, stream, next.value)) continue;
    await once(sink.response, 'drain', { signal: over }).catch(() => undefined);
  }
}

/**
 * JSON has no line breaks, so an event is one line of data. That leaves by itself, so that its bytes are never copied.
 *
 * @returns false when the peer has more to take than it does.
 */
async function write(
  { response, gzip }: Sink,
  { toPayload }: EventStream,
  { id, data }: ServerSentEvent,
): Promise<boolean> {
  const payload = toPayload(data);
  const segment = gzip && (await payload.segment);
  const begin = `id: ${id}\ndata: `;
  response.cork();
  response.write(gzip?.text(begin) ?? begin);
  response.write(gzip && segment ? gzip.segment(segment) : payload.bytes);
  const isTaken = response.write(gzip?.text(END) ?? END);
  response.uncork();
  return isTaken;
}

function requireContractEvent({ id, responses }: OperationSpec, { data }: ServerSentEvent): void {
  const validate = responses[200]?.validate;
  if (validate === undefined || validate(JSON.parse(JSON.stringify(data)))) return;
  const [error] = validate.errors ?? [];
  throw new Error(`Operation ${id}: an event at "${error?.instancePath ?? ''}" ${error?.message ?? 'does not fit'}.`);
}
