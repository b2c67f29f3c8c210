/** Reads the header of an age file, as specified in https://c2sp.org/age. The encrypted payload is never read. */

export interface AgeHeader {
  /** The number of stanzas that wrap the file key, without grease stanzas. */
  readonly recipientCount: number;
}

/** Thrown for bytes that are not an age file, and for an age file that no recipient can decrypt. */
export class AgeHeaderError extends Error {
  override readonly name = 'AgeHeaderError';
}

const VERSION = 'age-encryption.org/v1';
const ARMOR_BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';

/** The white space allowed before an armored file, in characters. */
const MAX_SPACE = 1024;

/**
 * Reads the header of an age file, armored or not.
 *
 * @throws AgeHeaderError for an invalid header or one without recipients. The message never quotes the file.
 */
export function readAgeHeader(file: Uint8Array): AgeHeader {
  const lines = readLines(toChunks(file));
  if (nextLine(lines) !== VERSION)
    throw new AgeHeaderError('Not a valid age file: the first line must be "age-encryption.org/v1".');
  const types: string[] = [];
  for (;;) {
    const line = nextLine(lines);
    if (line.startsWith('--- ')) {
      assertMac(line.slice(4));
      return { recipientCount: countRecipients(types) };
    }
    types.push(readType(line));
    skipBody(lines);
  }
}

function countRecipients(types: readonly string[]): number {
  if (types.includes('scrypt') && types.length > 1) {
    throw new AgeHeaderError('An age file that is encrypted with a passphrase cannot have other recipients.');
  }
  // Some programs add stanzas without a recipient (grease), so that parsers keep tolerating unknown types.
  const { length } = types.filter((type) => !type.endsWith('-grease'));
  if (length === 0) throw new AgeHeaderError('The age file has no recipients.');
  return length;
}

/** Returns the first argument of a stanza, which is the type of the recipient. */
function readType(line: string): string {
  const [, type] = /^-> ([\x21-\x7e]+)(?: [\x21-\x7e]+)*$/.exec(line) ?? [];
  if (type === undefined)
    throw new AgeHeaderError('Not a valid age file: the header contains an invalid recipient stanza.');
  return type;
}

/** Skips the body of a stanza: lines of 64 characters, then a shorter one, which may be empty. */
function skipBody(lines: Iterator<string, void>): void {
  for (;;) {
    const line = nextLine(lines);
    if (line.length > 64 || !isUnpadded(line))
      throw new AgeHeaderError('Not a valid age file: the body of a recipient stanza is invalid.');
    if (line.length < 64) return;
  }
}

/** @throws AgeHeaderError unless the text encodes 32 bytes, which are 43 characters. */
function assertMac(text: string): void {
  if (text.length !== 43 || !isUnpadded(text))
    throw new AgeHeaderError('Not a valid age file: the MAC of the header is invalid.');
}

/** Reports whether a text is canonical base64 without padding. */
function isUnpadded(text: string): boolean {
  return /^[A-Za-z0-9+/]*$/.test(text) && Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === text;
}

function nextLine(lines: Iterator<string, void>): string {
  const { value } = lines.next();
  if (value === undefined) throw new AgeHeaderError('Not a valid age file: the header is incomplete.');
  return value;
}

/** Yields the lines that end in a line feed; reads only as many chunks as the consumer needs. */
function* readLines(chunks: Iterable<Buffer>): Generator<string, void> {
  let rest = '';
  for (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const CHUNK_BYTES = 4096;

/** Yields the file without its armor in chunks, so that little more than the header is decoded. */
function* toChunks(file: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const armor = findArmor(bytes);
  if (armor !== undefined) {
    yield* unarmor(bytes, armor);
    return;
  }
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** Returns the offset of the line after the first armor line; `undefined` for a file without armor. */
function findArmor(bytes: Buffer): number | undefined {
  const start = bytes.toString('latin1', 0, MAX_SPACE + ARMOR_BEGIN.length + 2);
  const [found] = /^\s*-----BEGIN AGE ENCRYPTED FILE-----\r?\n/.exec(start) ?? [];
  return found?.length;
}

/** Decodes strict PEM: lines of 64 characters of padded base64, of which the last may be shorter. */
function* unarmor(bytes: Buffer, start: number): Generator<Buffer> {
  for (let at = start, isLast = false; !isLast;) {
    const end = bytes.indexOf('\n', at);
    // 64 characters and a carriage return at most; the end marker is shorter.
    if (end === -1 || end - at > 65) throw armorError();
    const line = bytes.toString('latin1', at, end).replace(/\r$/, '');
    if (line.startsWith('-----END')) return;
    const chunk = Buffer.from(line, 'base64');
    if (chunk.toString('base64') !== line) throw armorError();
    yield chunk;
    isLast = chunk.length < 48;
    at = end + 1;
  }
}

function armorError(): AgeHeaderError {
  return new AgeHeaderError('Not a valid age file: the armor is not strict PEM.');
}
