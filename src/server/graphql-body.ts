import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';

/** A document is held to a few thousand tokens, so what is left is room for variables: long lists of ids. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * The JSON object in the body of a POST.
 *
 * @throws AppError `unsupported_media_type`, `too_large` or `malformed_body`.
 */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  requireJson(request);
  const text = decode(await collect(request));
  if (text === '') throw malformed('received an empty body');
  const body = parse(text);
  if (Array.isArray(body)) throw malformed('received an array: batches are not supported');
  if (!isMap(body)) throw malformed(`received ${describe(body)}`);
  return body;
}

function requireJson({ headers }: IncomingMessage): void {
  const received = headers['content-type'] ?? 'no content type';
  const [mediaType, ...parameters] = received.toLowerCase().replace(/[\s"]/g, '').split(';');
  const charset = parameters.find((parameter) => parameter.startsWith('charset=')) ?? 'charset=utf-8';
  if (mediaType !== 'application/json' || !/=utf-?8$/.test(charset)) {
    throw unsupported(`Expected a body of application/json in UTF-8; received ${received}.`);
  }
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') throw unsupported(`Expected a body without content coding; received "${coding}".`);
}

function collect(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = new AppError(
    'too_large',
    `Expected a body of at most ${MAX_BODY_BYTES} bytes; received a larger one.`,
  );
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) return Promise.reject(tooLarge);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge);
    });
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', (cause) => reject(malformed('received a body that broke off', cause)));
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed('received bytes that are not UTF-8', cause);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed('received text that is not JSON', cause);
  }
}

export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names what a JSON value is: `null`, `an array`, `a number`, … */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const malformed = (received: string, cause?: unknown) =>
  new AppError('malformed_body', `Expected a JSON object with a "query"; ${received}.`, { cause });

const unsupported = (message: string) =>
  new AppError('unsupported_media_type', message, { headers: { Accept: 'application/json' } });
