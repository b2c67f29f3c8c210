import type { IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';
import { HeldBytes } from './rate-limits.js';
import { getClientAddress, hasBody, isJson } from './request.js';

/** The body that an operation accepts. */
export interface BodySpec {
  readonly required: boolean;
  /** Media types and ranges such as `image/*`. */
  readonly contentTypes: readonly string[];
  /** Larger bodies are rejected with 413 (`x-max-bytes`, by default 1 MiB). */
  readonly maxBytes: number;
  /** Whether the handler receives a function that reads the unparsed bytes (`x-body: deferred`). */
  readonly isDeferred?: true;
}

/**
 * Reads the bytes of a body.
 *
 * @returns `undefined` if the request has no body and none is required.
 * @throws AppError `unsupported_media_type`, `too_large` (before a byte is read if the length is declared),
 * `malformed_body`, or `unavailable` while too many bodies of the client are incomplete.
 */
export async function readBodyBytes(request: IncomingMessage, spec: BodySpec): Promise<Buffer | undefined> {
  const type = findContentType(request, spec);
  if (type !== undefined) {
    requireIdentity(request);
    const bytes = await bufferRequestBody(request, spec.maxBytes)();
    if (bytes.length > 0 || mayBeEmpty(type, spec)) return bytes;
  }
  requireOptional(spec);
  return undefined;
}

/**
 * Lets a handler decide whether and when to read the body, as unparsed bytes. The returned function throws AppError
 * `unsupported_media_type`, `too_large`, `malformed_body` or `unavailable`.
 */
export function deferBody(request: IncomingMessage, spec: BodySpec): () => Promise<Buffer> {
  const read = bufferRequestBody(request, spec.maxBytes);
  return async () => {
    const type = findContentType(request, spec);
    requireIdentity(request);
    const bytes = await read();
    if (bytes.length === 0 && !(type && mayBeEmpty(type, spec))) requireOptional(spec);
    return bytes;
  };
}

function requireOptional({ required }: BodySpec): void {
  if (required) throw new AppError('malformed_body', 'The request has no body.');
}

/** A media type and its parameters, whose values may be quoted (RFC 9110, 5.6.6 and 8.3.1). */
const CONTENT_TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*((?:;(?:[^;,"]|"(?:[^"\\]|\\.)*")*)*)$/;
const PARAMETER = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;

/** The content type of a request. */
export interface ContentType {
  /** The media type as sent, without parameters and in lower case. */
  readonly type: string;
  /** The media type or range of the contract that accepts it. */
  readonly declared: string;
}

/**
 * Returns the content type of the body; `undefined` without one. A required body of no bytes counts if it is an empty
 * text, file or form.
 *
 * @throws AppError `unsupported_media_type`
 */
export function findContentType(request: IncomingMessage, spec: BodySpec): ContentType | undefined {
  const { headers } = request;
  const { contentTypes } = spec;
  const [, text = '', parameters = ''] = CONTENT_TYPE.exec(headers['content-type'] ?? '') ?? [];
  const type = text.toLowerCase();
  const declared = findDeclaredType(type, contentTypes);
  const found = declared === undefined || !isUtf8(parameters) ? undefined : { type, declared };
  // Many clients announce a type, but send nothing, for a request without a body.
  if (!hasBody(request))
    return found && headers['content-length'] === '0' && mayBeEmpty(found, spec) ? found : undefined;
  if (found !== undefined) return found;
  throw new AppError(
    'unsupported_media_type',
    `Expected a body of type ${contentTypes.join(' or ')} in UTF-8; received a different Content-Type.`,
  );
}

const mayBeEmpty = ({ type }: ContentType, { required }: BodySpec): boolean =>
  required && !isJson(type) && !type.startsWith('multipart/');

/** Returns the most specific of the media types and ranges that include a type. */
export function findDeclaredType(type: string, declared: readonly string[]): string | undefined {
  if (type === '') return undefined;
  const range = `${type.slice(0, type.indexOf('/'))}/*`;
  // Not of HTTP, but every contract that ASP.NET writes has it.
  const suffixed = type.endsWith('+json') ? [`${range}+json`] : [];
  return [type, ...suffixed, range, '*/*'].find((candidate) => declared.includes(candidate));
}

function isUtf8(parameters: string): boolean {
  const charsets = [...parameters.matchAll(PARAMETER)].filter(([, name]) => name?.toLowerCase() === 'charset');
  return charsets.every(([, , quoted, token]) => /^\s*utf-?8\s*$/i.test(quoted?.replaceAll('\\', '') ?? token ?? ''));
}

/** Rejects compressed bodies, whose size is known only after decompression. */
export function requireIdentity({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', `Expected a body without Content-Encoding; received an encoded body.`);
  }
}

/** How much is buffered before the body is requested: about as much as the connection itself buffers. */
const PREFETCHED_BYTES = 65_536;

/**
 * Starts to buffer a request body that a handler may read later. The beginning is buffered at once, because Node
 * discards it when the client disconnects. The rest is read on demand.
 *
 * @returns a function that waits for the whole body. It throws AppError `too_large` (before a byte is read if the
 * length is declared), `malformed_body` if the connection closes early, or `unavailable` while too many bodies of the
 * client are incomplete.
 */
function bufferRequestBody(request: IncomingMessage, maxBytes: number): () => Promise<Buffer> {
  const isTooLong = Number(request.headers['content-length'] ?? 0) > maxBytes;
  const tooLarge = (): AppError =>
    new AppError('too_large', `Expected a body of at most ${maxBytes} bytes; received more.`);
  let isRequested = false;
  const buffered = isTooLong ? undefined : collect(request, { maxBytes, tooLarge, mustPause });

  function mustPause(size: number): boolean {
    return !isRequested && size >= PREFETCHED_BYTES;
  }

  // The connection may fail before the body is requested, or if it never is.
  buffered?.catch(() => undefined);
  return async () => {
    isRequested = true;
    if (buffered === undefined) throw tooLarge();
    request.resume();
    return buffered;
  };
}

interface CollectOptions {
  readonly maxBytes: number;
  readonly tooLarge: () => AppError;
  readonly mustPause: (size: number) => boolean;
}

function collect(request: IncomingMessage, { maxBytes, tooLarge, mustPause }: CollectOptions): Promise<Buffer> {
  const incomplete = new IncompleteBody(request);
  const body = new GrowingBuffer(Number(request.headers['content-length'] ?? maxBytes), incomplete);
  // Leaving a `for await` loop would close the connection before the error response is sent.
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      try {
        if (body.size + chunk.length > maxBytes) throw tooLarge();
        body.append(chunk);
        if (mustPause(body.size)) request.pause();
      } catch (error) {
        request.removeAllListeners('data').pause();
        body.clear();
        reject(error instanceof Error ? error : new Error('The body could not be read.', { cause: error }));
      }
    });
    request.once('end', () => resolve(body.bytes));
    request.once('error', (cause) => reject(endedEarly(cause)));
    const close = (): void => {
      if (!request.readableEnded) reject(endedEarly());
    };
    request.once('close', close);
    // The client disconnected earlier, such as while its credential was verified. No event follows.
    if (request.closed) close();
  });
}

/**
 * The beginning of a body that is not counted: as long as most bodies, so that clients that share an address with a slow
 * one can still send those. All connections together hold at most 64 MiB of it.
 */
const UNCOUNTED_BYTES = 16_384;

const incompleteBodies = new HeldBytes('Too many request bodies have not arrived completely.', { Connection: 'close' });

/** The memory of a body, which counts against the limit of its client until it has arrived or is rejected. */
export class IncompleteBody {
  readonly #request: IncomingMessage;
  readonly #address: string;
  #counted = UNCOUNTED_BYTES;
  #release: (() => void) | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.#address = getClientAddress(request);
  }

  /**
   * Counts the bytes that the body takes, in steps.
   *
   * @throws AppError `unavailable` if the client has too many.
   */
  hold(bytes: number): void {
    if (bytes <= this.#counted || this.#request.socket.closed) return;
    incompleteBodies.assertFew(this.#address);
    this.end();
    this.#counted = Math.ceil(bytes / UNCOUNTED_BYTES) * UNCOUNTED_BYTES;
    this.#release = incompleteBodies.add(this.#address, this.#counted - UNCOUNTED_BYTES);
    this.#request.once('end', this.end);
    // A request with a response has no further event of its own when the client disconnects.
    this.#request.socket.once('close', this.end);
  }

  readonly end = (): void => {
    this.#release?.();
    this.#release = undefined;
    this.#request.off('end', this.end).socket.off('close', this.end);
  };
}

/** Joins chunks. A list of chunks of one byte each, as a client may send them, takes 200 times as much memory. */
class GrowingBuffer {
  size = 0;
  readonly #maxBytes: number;
  readonly #incomplete: IncompleteBody;
  #buffer: Buffer;

  constructor(maxBytes: number, incomplete: IncompleteBody) {
    this.#maxBytes = maxBytes;
    this.#incomplete = incomplete;
    this.#buffer = Buffer.allocUnsafe(Math.min(UNCOUNTED_BYTES, maxBytes));
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.size);
  }

  /** @throws AppError `unavailable` */
  append(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (size > this.#buffer.length) this.#grow(Math.max(size, Math.min(2 * this.#buffer.length, this.#maxBytes)));
    chunk.copy(this.#buffer, this.size);
    this.size = size;
  }

  clear(): void {
    this.size = 0;
    this.#buffer = Buffer.alloc(0);
    this.#incomplete.end();
  }

  #grow(capacity: number): void {
    this.#incomplete.hold(capacity);
    const grown = Buffer.allocUnsafe(capacity);
    this.#buffer.copy(grown, 0, 0, this.size);
    this.#buffer = grown;
  }
}

function endedEarly(cause?: Error): AppError {
  return new AppError('malformed_body', 'The connection closed before the whole body arrived.', { cause });
}

/** More than twice the depth of any body in the contracts. The limit protects recursive functions. */
const MAX_DEPTH = 64;

/**
 * Parses JSON from an untrusted source.
 *
 * @throws AppError `malformed_body` if the bytes are not UTF-8 or not JSON, are nested too deeply, contain a property
 * `__proto__` (which would change the prototype of a copy) or a NUL (which PostgreSQL can't store).
 */
export function parseUntrustedJson(bytes: Uint8Array): unknown {
  const value = parseJson(decodeText(bytes, 'valid JSON in UTF-8'));
  const open: [unknown, number][] = [[value, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, depth] = next;
    if (typeof current === 'string') requireNoNul(current);
    // JavaScript reads numbers such as 1e999 as infinite, and writes them as null.
    if (current === Infinity || current === -Infinity)
      throw malformed('Expected numbers up to about 1.8e308; received a larger one.');
    if (typeof current !== 'object' || current === null) continue;
    if (depth > MAX_DEPTH)
      throw malformed(`Expected JSON nested at most ${MAX_DEPTH} levels deep; received more levels.`);
    for (const [name, member] of Object.entries(current)) {
      if (name === '__proto__') throw malformed('The property name "__proto__" is not allowed.');
      requireNoNul(name);
      open.push([member, depth + 1]);
    }
  }
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The message of the parser quotes the body, which may contain a secret.
    throw new AppError('malformed_body', 'The body is not valid JSON in UTF-8.', { cause });
  }
}

/** @throws AppError `malformed_body` if the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array, what = 'text in UTF-8'): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError('malformed_body', `The body is not ${what}.`, { cause });
  }
}

/** @throws AppError `malformed_body`, as PostgreSQL can't store a NUL. */
export function requireNoNul(text: string): void {
  if (text.includes('\0')) throw malformed('Text must not contain a NUL character.');
}

function malformed(message: string): AppError {
  return new AppError('malformed_body', message);
}
