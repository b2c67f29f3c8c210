/** The body of a request, in the form that its media type and the contract give it. */
import type { IncomingMessage } from 'node:http';
import {
  decodeText,
  parseUntrustedJson,
  readBodyBytes,
  requireContentType,
  requireIdentity,
  requireNoNul,
} from '../http/body.js';
import { hasBody, isJson } from '../http/request.js';
import { FORM_TYPE, MULTIPART_TYPE, readForm } from './forms.js';
import { readMultipart } from './multipart.js';
import type { FormSpec, RequestBodySpec } from './operation.js';
import { toFormSource } from './parameters.js';

/** A body with its media type. */
export interface ReadBody {
  /** The media type as sent, without parameters. */
  readonly contentType: string;
  /** The media type or range of the contract. */
  readonly declared: string;
  readonly value: unknown;
  /** The part that the contract's schema describes: the value, or the fields of a form with files. */
  readonly validated: unknown;
}

/**
 * Reads a body: JSON as a value, `text/*` as text, forms as objects, any other type as bytes.
 *
 * @returns `undefined` if the request has no body and none is required.
 * @throws AppError `unsupported_media_type`, `too_large` (before a byte is read if the length is declared),
 * `malformed_body`, or `invalid_input` for a field of a form.
 */
export async function readBody(request: IncomingMessage, spec: RequestBodySpec): Promise<ReadBody | undefined> {
  const type = hasBody(request) ? requireContentType(request, spec) : undefined;
  const form = type && spec.forms?.[type.declared];
  if (type?.type === MULTIPART_TYPE && form !== undefined) {
    requireIdentity(request);
    const { value, fields } = await readMultipart(request, { ...form, maxBytes: spec.maxBytes });
    return { contentType: type.type, declared: type.declared, value, validated: fields };
  }
  const bytes = await readBodyBytes(request, spec);
  if (type === undefined || bytes === undefined) return undefined;
  const value = toValue(bytes, type.type, form);
  return { contentType: type.type, declared: type.declared, value, validated: value };
}

function toValue(bytes: Buffer, type: string, form: FormSpec | undefined): unknown {
  if (isJson(type)) return parseUntrustedJson(bytes);
  if (form !== undefined && type === FORM_TYPE) {
    return readForm(form.fields, toFormSource(decodeText(bytes), 'field', 'body'));
  }
  if (!type.startsWith('text/')) return bytes;
  const text = decodeText(bytes);
  requireNoNul(text);
  return text;
}
