import { type ParameterStyles, writeForm } from './parameters.js';

/** Bytes that are sent as they are. Streams are read to their end before they are sent, so that a retry can repeat them. */
export type Binary = ArrayBuffer | ArrayBufferView<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

/** The body of a request in the form that `fetch` accepts, with its content type unless `fetch` sets it. */
export interface EncodedBody {
  readonly body: BodyInit;
  readonly contentType?: string;
}

/** Encodes the body of a request in a media type. Forms and bytes are sent as such in any case. */
export function encodeBody(value: unknown, mediaType: string, styles: ParameterStyles = {}): EncodedBody {
  if (value instanceof FormData) return { body: value };
  if (value instanceof URLSearchParams) return { body: value, contentType: FORM };
  if (isBinary(value)) return { body: value, contentType: toContentType(value, mediaType) };
  if (mediaType.startsWith('multipart/')) return { body: toFormData(Object(value) as Record<string, unknown>) };
  if (mediaType.startsWith(FORM)) {
    return { body: writeForm(Object(value) as Record<string, unknown>, styles), contentType: mediaType };
  }
  const isText = typeof value === 'string' && !/json/i.test(mediaType);
  return { body: isText ? value : JSON.stringify(value), contentType: mediaType };
}

const FORM = 'application/x-www-form-urlencoded';

const isBinary = (value: unknown): value is Binary =>
  value instanceof Blob || value instanceof ArrayBuffer || ArrayBuffer.isView(value) || value instanceof ReadableStream;

/** A file has a type of its own, which applies where the contract accepts several. */
function toContentType(value: Binary, mediaType: string): string {
  if (!mediaType.includes('*')) return mediaType;
  return (value instanceof Blob && value.type) || 'application/octet-stream';
}

function toFormData(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of listFields(fields)) {
    if (value instanceof Blob) form.append(name, value);
    else if (isBinary(value)) form.append(name, new Blob([value as BlobPart]));
    else form.append(name, toText(value));
  }
  return form;
}

/** Lists the fields of a form. Each item of a list is a field of its own. As in other forms, null is no value. */
const listFields = (fields: Readonly<Record<string, unknown>>): (readonly [name: string, value: unknown])[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value])
      .filter((item) => item !== undefined && item !== null)
      .map((item) => [name, item] as const),
  );

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
