/** Answers that are streams of server-sent events. */
import { once } from 'node:events';
import type { Response } from 'express';
import { PRIVATE } from './headers.js';
import type { HandlerResponse, OperationSpec, ServerSentEvent } from './operation.js';
import type { ToPayload } from './payload.js';

const EVENT_STREAM = 'text/event-stream';

/** Proxies give a silent connection up after 30 to 60 seconds. */
const HEARTBEAT_MS = 15_000;

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
  const heart = setInterval(() => void beat(response, stream, end), heartbeatMs);
  try {
    open(response);
    if (response.req.method !== 'HEAD') await pump(response, stream, over.signal);
  } finally {
    clearInterval(heart);
    stopping?.removeEventListener('abort', end);
    response.end();
  }
}

function open(response: Response): void {
  response.status(200).set({
    'Content-Type': EVENT_STREAM,
    'Cache-Control': PRIVATE,
    // Proxies that know it hand events on at once.
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
}

async function beat(response: Response, { isAllowed }: EventStream, end: () => void): Promise<void> {
  if (!(await isAllowed().catch(() => false))) end();
  else if (!response.writableNeedDrain && !response.writableEnded) response.write(':\n\n');
}

async function pump(response: Response, stream: EventStream, over: AbortSignal): Promise<void> {
  const ended = new Promise<undefined>((resolve) => {
    if (over.aborted) resolve(undefined);
    over.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const events = stream.events[Symbol.asyncIterator]();
  while (!over.aborted) {
    const next = await Promise.race([events.next(), ended]);
    if (next === undefined || next.done === true) return;
    if (stream.validate) requireContractEvent(stream.operation, next.value);
    if (!write(response, stream, next.value)) await once(response, 'drain', { signal: over }).catch(() => undefined);
  }
}

/**
 * JSON has no line breaks, so an event is one line of data. That leaves by itself, so that its bytes are never copied.
 *
 * @returns false when the peer has more to take than it does.
 */
function write(response: Response, { toPayload }: EventStream, { id, data }: ServerSentEvent): boolean {
  response.cork();
  response.write(`id: ${id}\ndata: `);
  response.write(toPayload(data).bytes);
  const isTaken = response.write('\n\n');
  response.uncork();
  return isTaken;
}

function requireContractEvent({ id, responses }: OperationSpec, { data }: ServerSentEvent): void {
  const validate = responses[200]?.validate;
  if (validate === undefined || validate(JSON.parse(JSON.stringify(data)))) return;
  const [error] = validate.errors ?? [];
  throw new Error(`Operation ${id}: an event at "${error?.instancePath ?? ''}" ${error?.message ?? 'does not fit'}.`);
}
