/** Negotiation and compression of response bodies (RFC 9110, 8.4 and 12.5.3). */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

export type ContentEncoding = 'br' | 'gzip';

/** The compression effort: fast for a response that is sent once, thorough for a file that never changes. */
export type CompressionEffort = 'dynamic' | 'static';

/** A shorter response fits into one packet with its headers, so compression gains nothing. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** In order of preference for clients that accept both equally: brotli compresses better. */
const ENCODINGS: readonly ContentEncoding[] = ['br', 'gzip'];

const GZIP_LEVEL = { dynamic: 6, static: 9 } as const;

/**
 * Level 4 is as fast as gzip 6, with output a fifth smaller. Level 11 would need 3 seconds of CPU for the largest
 * script, for output 8 % smaller than that of level 9, which needs 0.2 seconds.
 */
const BROTLI_QUALITY = { dynamic: 4, static: 9 } as const;

/** Browsers of one version send the same header. The bound limits the effect of clients that vary it. */
const known = new LRUCache<string, { readonly encoding: ContentEncoding | undefined }>({ max: 200 });

/** Longer headers are evaluated each time, so that the cache stays small. */
const MAX_CACHED_CHARACTERS = 256;

/**
 * Chooses the encoding that a client prefers by the q-values of its `Accept-Encoding`.
 *
 * @returns `undefined` for no encoding: without the header, if identity is preferred, or if no encoding is accepted.
 */
export function chooseEncoding(
  header: string | undefined,
  available: readonly ContentEncoding[] = ENCODINGS,
): ContentEncoding | undefined {
  if (header === undefined) return undefined;
  const key = `${available.length} ${header}`;
  const found = known.get(key);
  if (found !== undefined) return found.encoding;
  const encoding = negotiate(header, available);
  if (header.length <= MAX_CACHED_CHARACTERS) known.set(key, { encoding });
  return encoding;
}

/** The type definitions lack this option, which is documented since 1.0. */
interface PreferringNegotiator {
  encoding(available: readonly string[], options: { readonly preferred: readonly string[] }): string | undefined;
}

function negotiate(header: string, available: readonly ContentEncoding[]): ContentEncoding | undefined {
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': header } });
  const chosen = negotiator.encoding([...available, 'identity'], { preferred: available });
  return available.find((encoding) => encoding === chosen);
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** Compresses in the thread pool, which keeps the event loop free. */
export function compress(
  bytes: Buffer | string,
  encoding: ContentEncoding,
  effort: CompressionEffort,
): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(bytes, { level: GZIP_LEVEL[effort] });
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = {
    [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort],
    [BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(bytes),
  };
  return brotliAsync(bytes, { params });
}

/** Compressed bodies that are sent again, such as those of a page's queries: some hundred pages of a site. */
const MAX_REPEATED_BYTES = 16 * 1024 * 1024;

/** Compresses a body like {@link compress}, once for all equal bodies that are sent within a short time. */
type CompressRepeated = (body: string, encoding: ContentEncoding) => Promise<Buffer>;

/**
 * Creates a cache of compressed bodies. A digest takes a twentieth of the time of the compression. For bodies without
 * secrets only, because the time of the response reveals whether an equal body was sent before.
 */
export function createRepeatedCompression(): CompressRepeated {
  const sent = new LRUCache<string, Buffer>({ maxSize: MAX_REPEATED_BYTES, sizeCalculation: ({ length }) => length });
  return async (body, encoding) => {
    const key = `${encoding} ${hash('sha256', body, 'base64')}`;
    const known = sent.get(key);
    if (known !== undefined) return known;
    const bytes = await compress(body, encoding, 'dynamic');
    sent.set(key, bytes);
    return bytes;
  };
}

/** A segment of a stream in plain and compressed form. */
export interface GzipSegment {
  readonly bytes: Buffer;
  readonly deflated: Buffer;
}

const deflateAsync = promisify(deflateRaw);

/** The level of other dynamic responses. */
const LEVEL = 6;

/** Compresses in the thread pool. */
export async function deflateSegment(bytes: Buffer): Promise<GzipSegment> {
  const deflated = await deflateAsync(bytes, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH });
  return { bytes, deflated };
}

/** The method deflate, no flags, no time, unknown operating system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty block that is marked as the last one. */
const LAST_BLOCK = Buffer.from([3, 0]);

/** The length field of a stored block has 16 bits. */
const MAX_STORED_BYTES = 0xffff;

/**
 * A gzip stream (RFC 1952) of segments that are compressed once and sent to many clients.
 *
 * A separate compressor for each connection would use up to 256 KiB of memory, and compress the same board repeatedly.
 * Instead, each segment is raw deflate data (RFC 1951) that refers to no other segment and ends at a byte boundary, due
 * to Z_FULL_FLUSH. So segments can be joined in any order, and clients can decode each one on arrival. A connection
 * stores only the checksum and the length of the data that it has sent.
 */
export class GzipStream {
  readonly header = HEADER;
  #crc = 0;
  #length = 0;

  /** Adds a short text uncompressed, because compression would make it longer. */
  text(text: string): Buffer {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_STORED_BYTES) throw new RangeError(`Expected at most ${MAX_STORED_BYTES} bytes of text.`);
    this.#count(bytes);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(bytes.length, 1);
    head.writeUInt16LE(bytes.length ^ MAX_STORED_BYTES, 3);
    return Buffer.concat([head, bytes]);
  }

  segment({ bytes, deflated }: GzipSegment): Buffer {
    this.#count(bytes);
    return deflated;
  }

  /** Returns the final bytes of the stream. */
  end(): Buffer {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#crc, 0);
    trailer.writeUInt32LE(this.#length, 4);
    return Buffer.concat([LAST_BLOCK, trailer]);
  }

  #count(bytes: Buffer): void {
    this.#crc = crc32(bytes, this.#crc);
    this.#length = (this.#length + bytes.length) % 2 ** 32;
  }
}
