/**
 * A gzip stream (RFC 1952) of segments that are compressed once and sent to many clients.
 *
 * A separate compressor for each connection would use up to 256 KiB of memory, and compress the same board repeatedly.
 * Instead, each segment is raw deflate data (RFC 1951) that refers to no other segment and ends at a byte boundary, due
 * to Z_FULL_FLUSH. So segments can be joined in any order, and clients can decode each one on arrival. A connection
 * stores only the checksum and the length of the data that it has sent.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

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
