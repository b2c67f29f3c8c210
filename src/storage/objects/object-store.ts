/** Describes a stored object. */
export interface ObjectInfo {
  /** The key below the prefix of the store. */
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
  readonly etag: string;
  /** SHA-256 of the content in hexadecimal, if Trellis stored the object. Lists do not contain it. */
  readonly sha256?: string;
}

/** A part of an object: from `start` to `end`, both included, or to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

interface StoredObject extends ObjectInfo {
  /**
   * The requested bytes. A lost connection is resumed. The length is verified, and so is the digest of a whole object; a
   * mismatch throws after the last byte.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface PutOptions {
  /**
   * Stores the object only if the key is free. A server that does not support this may overwrite an object which
   * another process stores at the same moment.
   */
  readonly ifAbsent?: boolean;
  readonly signal?: AbortSignal;
}

/** Content to store: bytes, or the path of a file, which is read in parts. */
export type ObjectContent = Uint8Array | { readonly file: string };

/**
 * A bucket and a prefix of its keys. Every method retries requests that fail for a reason which may pass, takes a
 * bounded time, and throws an {@link ObjectStoreError}.
 */
export interface ObjectStore {
  /** The address without credentials: `s3://bucket/prefix`. */
  readonly address: string;
  /** Returns `undefined` for a missing object. */
  head(key: string, signal?: AbortSignal): Promise<ObjectInfo | undefined>;
  /** Returns `undefined` for a missing object. */
  get(
    key: string,
    options?: { readonly range?: ByteRange; readonly signal?: AbortSignal },
  ): Promise<StoredObject | undefined>;
  /** Returns whether the object was stored; `false` only for `ifAbsent` and an existing object. */
  put(key: string, content: ObjectContent, options?: PutOptions): Promise<boolean>;
  /** Returns an object unless its ETag is still `etag`: then `unchanged`. Returns `undefined` for a missing object. */
  getChanged(
    key: string,
    etag: string | undefined,
    signal?: AbortSignal,
  ): Promise<StoredObject | 'unchanged' | undefined>;
  /**
   * Replaces an object that still has the ETag `expected`, or creates one if `expected` is `undefined` and the key is
   * free. A server that does not support conditional writes is asked before, which leaves a short time for another writer.
   *
   * @returns the new ETag; `undefined` if the object is a different one. A repeated request may find its own object.
   */
  replace(
    key: string,
    content: Uint8Array,
    expected: string | undefined,
    signal?: AbortSignal,
  ): Promise<string | undefined>;
  /** Succeeds for a missing object too. */
  delete(key: string): Promise<void>;
  /** Lists the objects whose key starts with the prefix, in the order of their keys. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  /** Closes the connections. */
  close(): Promise<void>;
}

// Reasons for failed requests, in sentences for the operator.

/** The code of the error about content that differs from the stored digest. */
export const DAMAGED = 'Damaged';

/** A failure of the object storage. Its message contains no credentials. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
  /** Whether the same request may succeed later without a change of settings. */
  readonly isTemporary: boolean;
  /** The error code of S3, such as `AccessDenied`; `undefined` if no response has one. */
  readonly code: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly isTemporary: boolean; readonly code?: string }) {
    super(message, options);
    this.isTemporary = options.isTemporary;
    this.code = options.code;
  }
}

/** The part of an error response that identifies its reason. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string[] | string | undefined>>;
  /** The XML document; empty for HEAD. */
  readonly body: string;
}

interface RequestTarget {
  /** The method and the key, as messages show them. */
  readonly action: string;
  readonly bucket: string;
  readonly region: string;
  readonly host: string;
}

/** Statuses of an overloaded or restarting server, and of requests that arrived too slowly. */
export const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const TEMPORARY_CODES = new Set(['ConditionalRequestConflict', 'OperationAborted', 'RequestTimeout', 'SlowDown']);

/** Messages by error code. The reader can correct all of these. */
const MESSAGES: Readonly<Record<string, (target: RequestTarget, response: ErrorResponse) => string>> = {
  AccessDenied: ({ action }) =>
    `Access denied to ${action}. The credentials need s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject.`,
  AllAccessDisabled: ({ bucket }) => `All access to the bucket "${bucket}" is disabled.`,
  ExpiredToken: () => 'The session token has expired.',
  InvalidAccessKeyId: ({ host }) => `${host} does not know the access key.`,
  InvalidToken: () => 'The session token is not valid.',
  NoSuchBucket: ({ bucket, host }) => `No bucket named "${bucket}" at ${host}.`,
  QuotaExceeded: ({ bucket }) => `The quota of the bucket "${bucket}" is exceeded.`,
  RequestTimeTooSkewed: (_target, { headers }) => `The clock of this machine is wrong${clockDifference(headers.date)}.`,
  SignatureDoesNotMatch: () => 'The secret access key is not valid for the access key.',
  XAmzContentSHA256Mismatch: ({ action }) => `The content of ${action} was damaged on the way.`,
  BadDigest: ({ action }) => `The content of ${action} was damaged on the way.`,
};

/** Returns the error for a response that is not a success. */
export function toStoreError(target: RequestTarget, response: ErrorResponse): ObjectStoreError {
  const code = readElement(response.body, 'Code') ?? codeOf(response.status);
  const isTemporary = TEMPORARY_STATUSES.has(response.status) || (code !== undefined && TEMPORARY_CODES.has(code));
  return new ObjectStoreError(describe(target, response, code), { isTemporary, ...(code !== undefined && { code }) });
}

/** Responses to HEAD have a status only. */
const codeOf = (status: number): string | undefined => (status === 403 ? 'AccessDenied' : undefined);

function describe(target: RequestTarget, response: ErrorResponse, code: string | undefined): string {
  const region = regionOf(response);
  if (region !== undefined && region !== target.region) {
    return `The bucket "${target.bucket}" is in the region ${region}, not in ${target.region}. Set AWS_REGION=${region}.`;
  }
  if (code !== undefined && Object.hasOwn(MESSAGES, code)) return MESSAGES[code]?.(target, response) ?? code;
  const reason = code === undefined ? '' : ` (${code})`;
  return `${target.host} responded to ${target.action} with status ${response.status}${reason}.`;
}

/** Returns the region that a redirect or a refused signature names. */
function regionOf({ status, headers, body }: ErrorResponse): string | undefined {
  if (![301, 307, 400].includes(status)) return undefined;
  const named = headers['x-amz-bucket-region'];
  const region = (Array.isArray(named) ? named[0] : named) ?? readElement(body, 'Region');
  return region !== undefined && /^[\w-]{1,64}$/.test(region) ? region : undefined;
}

function clockDifference(date: string[] | string | undefined): string {
  const serverTime = Date.parse(String(date));
  if (Number.isNaN(serverTime)) return '';
  const minutes = Math.round((Date.now() - serverTime) / 60_000);
  return `: it is ${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'} the storage`;
}

/** Returns the error for a request without a response. */
export function toConnectionError({ action, host }: RequestTarget, cause: unknown): ObjectStoreError {
  const { code = '', name = '' } = (cause ?? {}) as { code?: string; name?: string };
  const isSlow = code.includes('TIMEOUT') || name === 'TimeoutError';
  const reason = code === '' ? name : code;
  const message = isSlow
    ? `${host} did not respond to ${action} in time.`
    : `The connection to ${host} failed during ${action} (${reason}).`;
  return new ObjectStoreError(message, { cause, isTemporary: true });
}

/** Documents of errors and of credentials have a few kilobytes. */
const MAX_TEXT_BYTES = 64 * 1024;

/** Reads a short document; the beginning of one that is longer. */
export async function readDocumentText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > MAX_TEXT_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the text of the first element with a name, from a document of S3. */
export function readElement(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? undefined : decodeEntities(text);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal ?? hex)
      return String.fromCodePoint(Math.min(decimal ? Number(decimal) : parseInt(hex ?? '', 16), 0x10ffff));
    return ENTITIES[name ?? ''] ?? whole;
  });
