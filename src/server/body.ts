import type { IncomingMessage } from 'node:http';
import { AppError } from '../core/errors.js';
import { bufferRequestBody } from './buffered-body.js';
import { parseUntrustedJson } from './json.js';
import type { BodySpec } from './operation.js';

/**
 * Reads the body of a request: JSON as a value, any other type as bytes.
 *
 * @returns `undefined` if the request has no body and none is required.
 * @throws AppError `unsupported_media_type`, `too_large` (before a byte is read if the length is declared) or
 * `malformed_body`.
 */
export async function readBody(request: IncomingMessage, spec: BodySpec): Promise<unknown> {
  if (!hasBody(request)) {
    requireOptional(spec);
    return undefined;
  }
  const type = requireContentType(request, spec);
  requireIdentity(request);
  const bytes = await bufferRequestBody(request, spec.maxBytes)();
  if (bytes.length > 0) return isJson(type) ? parseUntrustedJson(bytes) : bytes;
  requireOptional(spec);
  return undefined;
}

/**
 * Lets a handler decide whether and when to read the body, as unparsed bytes. The returned function throws as
 * {@link readBody} does.
 */
export function deferBody(request: IncomingMessage, spec: BodySpec): () => Promise<Buffer> {
  const read = bufferRequestBody(request, spec.maxBytes);
  return async () => {
    if (hasBody(request)) requireContentType(request, spec);
    requireIdentity(request);
    const bytes = await read();
    if (bytes.length === 0) requireOptional(spec);
    return bytes;
  };
}

export function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json(?:;|$)/.test(contentType);
}

/** Returns whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireOptional({ required }: BodySpec): void {
  if (required) throw new AppError('malformed_body', 'The request has no body.');
}

/** A media type and its parameters. */
const CONTENT_TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*((?:;[^;,]*)*)$/;

function requireContentType({ headers }: IncomingMessage, { contentTypes }: BodySpec): string {
  const [, type = '', parameters = ''] = CONTENT_TYPE.exec(headers['content-type'] ?? '') ?? [];
  const known = contentTypes.find((candidate) => candidate === type.toLowerCase());
  if (known === undefined || !isUtf8(parameters)) {
    throw new AppError(
      'unsupported_media_type',
      `Expected a body of type ${contentTypes.join(' or ')} in UTF-8; received a different Content-Type.`,
    );
  }
  return known;
}

function isUtf8(parameters: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";]*)"?/i.exec(parameters)?.[1]?.trim().toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
}

/** Rejects compressed bodies, whose size is known only after decompression. */
function requireIdentity({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', `Expected a body without Content-Encoding; received an encoded body.`);
  }
}
