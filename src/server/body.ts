import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';
import { parseJson } from './json.js';
import type { BodySpec } from './operation.js';

/** How long a refused body may go on arriving, so that its sender gets to read the refusal. */
const LINGER_MS = 2_000;

/**
 * Reads a request's body: JSON as a value, anything else as bytes.
 *
 * @returns `undefined` when none came and none is required.
 * @throws AppError `unsupported_media_type`, `too_large` (before a byte is read
 * when the length is declared) or `malformed_body`.
 */
export async function readBody(request: IncomingMessage, spec: BodySpec): Promise<unknown> {
  if (!hasBody(request)) {
    requireOptional(spec);
    return undefined;
  }
  const type = requireContentType(request, spec);
  requireIdentity(request);
  const bytes = await readBytes(request, spec.maxBytes);
  if (bytes.length > 0) return isJson(type) ? parseJson(bytes) : bytes;
  requireOptional(spec);
  return undefined;
}

export function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json(?:;|$)/.test(contentType);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireOptional({ required }: BodySpec): void {
  if (required) throw new AppError('malformed_body', 'Expected a body; none came.');
}

/** A media type and what follows it. */
const CONTENT_TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*((?:;[^;,]*)*)$/;

function requireContentType({ headers }: IncomingMessage, { contentTypes }: BodySpec): string {
  const [, type = '', parameters = ''] = CONTENT_TYPE.exec(headers['content-type'] ?? '') ?? [];
  const known = contentTypes.find((candidate) => candidate === type.toLowerCase());
  if (known === undefined || !isUtf8(parameters)) {
    throw new AppError(
      'unsupported_media_type',
      `Expected a body of type ${contentTypes.join(' or ')} in UTF-8; received another.`,
    );
  }
  return known;
}

function isUtf8(parameters: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";]*)"?/i.exec(parameters)?.[1]?.trim().toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
}

/** A compressed body's size is known only once it is unpacked, so none is. */
function requireIdentity({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'Expected a body without Content-Encoding; received an encoded one.');
  }
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): AppError => {
    linger(request);
    return new AppError('too_large', `Expected a body of at most ${maxBytes} bytes; received more.`);
  };
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving a `for await` would close the connection, and with it the refusal's way back.
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      request.removeAllListeners('data');
      reject(tooLarge());
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', (cause) => reject(endedEarly(cause)));
    request.once('close', () => {
      if (!request.complete) reject(endedEarly());
    });
  });
}

function endedEarly(cause?: Error): AppError {
  return new AppError('malformed_body', 'Expected the whole body; the connection ended before.', { cause });
}

/** Reads on for a moment without keeping anything, then hangs up. */
function linger(request: IncomingMessage): void {
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS).unref();
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
}
