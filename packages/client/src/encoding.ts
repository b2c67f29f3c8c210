/** How a parameter is written as text, where that is not the usual way. */
interface TextStyle {
  readonly style?: 'deepObject' | 'pipeDelimited' | 'spaceDelimited';
  /** By default true in queries and cookies. */
  readonly explode?: boolean;
  /** Whether the text is JSON. */
  readonly isJson?: boolean;
}

/** `query filter` → how the parameter is written. Others are written as lists that repeat the name, or as plain text. */
export type ParameterStyles = Readonly<Record<string, TextStyle>>;

type Values = Readonly<Record<string, unknown>>;

/** Writes the parameters of a query in their styles. */
export function writeQuery(values: Values, styles: ParameterStyles): string {
  return joinFields(listPresent(values).flatMap(([name, value]) => writeField(name, value, styles[`query ${name}`])));
}

const joinFields = (fields: readonly Field[]): string =>
  fields.map(([name, text]) => `${encodeURIComponent(name)}=${text}`).join('&');

/** Writes the fields of a form in their styles. Objects without a style are JSON. */
function writeForm(values: Values, styles: ParameterStyles): string {
  const fields = listPresent(values).flatMap(([name, value]) => {
    const style = styles[`body ${name}`];
    if (style !== undefined) return writeField(name, value, style);
    return [value].flat().flatMap((item) => writeField(name, item, { isJson: typeof item === 'object' }));
  });
  return joinFields(fields);
}

const SEPARATORS = { deepObject: ',', form: ',', pipeDelimited: '%7C', spaceDelimited: '%20' } as const;

type Field = readonly [name: string, text: string];

/**
 * Returns the fields of a form or query that a value is written as. The texts are encoded, the names are not.
 *
 * @throws TypeError for an item with the delimiter of its style, which URLs have encoded too (OpenAPI 3.1, Appendix E).
 */
function writeField(name: string, value: unknown, { style, explode, isJson }: TextStyle = {}): readonly Field[] {
  if (isJson === true) return [[name, encodeURIComponent(JSON.stringify(value))]];
  if (typeof value !== 'object' || value === null) return [[name, encode(value)]];
  const repeats = explode ?? (style === undefined || style === 'deepObject');
  const separator = SEPARATORS[style ?? 'form'];
  const items = Array.isArray(value) ? (value as unknown[]).map((item) => ['', item] as const) : Object.entries(value);
  if (!repeats) {
    const parts = items.flatMap(([key, item]) => [...(key === '' ? [] : [encode(key)]), encode(item)]);
    if (parts.some((part) => part.includes(separator))) throw delimiterError(name, decodeURIComponent(separator));
    return [[name, parts.join(separator)]];
  }
  return items.flatMap(([key, item]) => {
    const field = key === '' ? name : style === 'deepObject' ? `${name}[${key}]` : key;
    return [item]
      .flat()
      .filter((one) => one !== undefined)
      .map((one): Field => [field, encode(one)]);
  });
}

const delimiterError = (name: string, delimiter: string): TypeError =>
  new TypeError(`Expected items of "${name}" without "${delimiter}", their delimiter.`);

const encode = (value: unknown): string => encodeURIComponent(String(value));

/**
 * Writes the parameters of headers. Lists and objects have commas between their items.
 *
 * @throws TypeError for an item with a comma, as headers are not encoded.
 */
export const writeHeaders = (values: Values, styles: ParameterStyles): Record<string, string> =>
  Object.fromEntries(
    listPresent(values).map(([name, value]) => [
      name,
      writeSimple(value, styles[`header ${name.toLowerCase()}`], (text, isItem) => {
        if (isItem && text.includes(',')) throw delimiterError(name, ',');
        return text;
      }),
    ]),
  );

/** Replaces the parameters in a path. */
export const writePath = (path: string, values: Values, styles: ParameterStyles): string =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    writeSimple(values[name], styles[`path ${name}`], encodeURIComponent),
  );

/** Writes parameters as the header `Cookie`, which browsers do not let programs set. */
export const writeCookies = (values: Values, styles: ParameterStyles): string =>
  listPresent(values)
    .map(([name, value]) => `${name}=${writeSimple(value, styles[`cookie ${name}`], encodeURIComponent)}`)
    .join('; ');

const listPresent = (values: Values | readonly unknown[]): [name: string, value: unknown][] =>
  Object.entries(values).filter(([, value]) => value !== undefined && value !== null);

function writeSimple(
  value: unknown,
  { explode = false, isJson = false }: TextStyle = {},
  encodeText: (text: string, isItem?: boolean) => string,
): string {
  if (isJson) return encodeText(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return encodeText(String(value));
  const toText = (part: unknown): string => encodeText(String(part), true);
  if (Array.isArray(value)) return value.map(toText).join(',');
  return Object.entries(value)
    .map((entry) => entry.map(toText).join(explode ? '=' : ','))
    .join(',');
}

/** Bytes that are sent as they are. Streams are read to their end before they are sent, so that a retry can repeat them. */
export type Binary = ArrayBuffer | ArrayBufferView<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

/** The body of a request in the form that `fetch` accepts, with its content type unless `fetch` sets it. */
interface EncodedBody {
  readonly body: BodyInit;
  readonly contentType?: string;
}

/** Encodes the body of a request in a media type. Forms and bytes are sent as such in any case. */
export function encodeBody(value: unknown, mediaType: string, styles: ParameterStyles = {}): EncodedBody {
  if (value instanceof FormData) return { body: value };
  if (value instanceof URLSearchParams) return { body: value, contentType: FORM };
  if (isBinary(value)) return { body: value, contentType: toContentType(value, mediaType) };
  // Form data. The prefix is short because clients must be small.
  if (mediaType.startsWith('multipart/f')) return { body: toFormData(Object(value) as Record<string, unknown>) };
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
    else form.append(name, toFormText(value));
  }
  return form;
}

/** Lists the fields of a form. Each item of a list is a field of its own. As in other forms, null is no value. */
const listFields = (fields: Readonly<Record<string, unknown>>): (readonly [name: string, value: unknown])[] =>
  Object.entries(fields).flatMap(([name, value]) => listPresent([value].flat()).map(([, item]) => [name, item]));

const toFormText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
