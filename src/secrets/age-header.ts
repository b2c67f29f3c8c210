/** The header of an age file, as https://c2sp.org/age says it. What follows it is never looked at. */

export interface AgeHeader {
  /** How many stanzas wrap the file's key; those that are there for practice alone don't count. */
  readonly recipientCount: number;
}

/** Why something is no age file that anybody could open. */
export class AgeHeaderError extends Error {
  override readonly name = 'AgeHeaderError';
}

const VERSION = 'age-encryption.org/v1';
const ARMOR_BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';

/** Space before an armored file is allowed; a text that begins with more of it is something else. */
const MAX_SPACE = 1024;

/**
 * Reads the header of an age file, armored or not.
 *
 * @throws AgeHeaderError when it is none, or has no recipients. The message says what was expected and quotes nothing.
 */
export function readAgeHeader(file: Uint8Array): AgeHeader {
  const lines = readLines(toChunks(file));
  if (nextLine(lines) !== VERSION) throw new AgeHeaderError('Expected an age file of version 1.');
  const types: string[] = [];
  for (;;) {
    const line = nextLine(lines);
    if (line.startsWith('--- ')) {
      requireMac(line.slice(4));
      return { recipientCount: countRecipients(types) };
    }
    types.push(readType(line));
    skipBody(lines);
  }
}

function countRecipients(types: readonly string[]): number {
  if (types.includes('scrypt') && types.length > 1) {
    throw new AgeHeaderError('Expected a passphrase to be the only recipient of an age file.');
  }
  // Some programs add stanzas that nobody can open, so that readers stay used to unknown ones.
  const { length } = types.filter((type) => !type.endsWith('-grease'));
  if (length === 0) throw new AgeHeaderError('Expected an age file with at least one recipient; it has none.');
  return length;
}

/** @returns the first argument, which says what kind of recipient it is. */
function readType(line: string): string {
  const [, type] = /^-> ([\x21-\x7e]+)(?: [\x21-\x7e]+)*$/.exec(line) ?? [];
  if (type === undefined) throw new AgeHeaderError('Expected a recipient stanza or the end of the age header.');
  return type;
}

/** Lines of 64 columns, and a shorter one that may be empty. */
function skipBody(lines: Iterator<string, void>): void {
  for (;;) {
    const line = nextLine(lines);
    if (line.length > 64 || !isUnpadded(line)) throw new AgeHeaderError("Expected a stanza's body in an age header.");
    if (line.length < 64) return;
  }
}

/** 32 bytes are 43 columns. */
function requireMac(text: string): void {
  if (text.length !== 43 || !isUnpadded(text)) throw new AgeHeaderError('Expected the MAC of an age header.');
}

/** Whether a text is base64 without padding, in its one spelling. */
function isUnpadded(text: string): boolean {
  return /^[A-Za-z0-9+/]*$/.test(text) && Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === text;
}

function nextLine(lines: Iterator<string, void>): string {
  const { value } = lines.next();
  if (value === undefined) throw new AgeHeaderError('Expected a whole age header; it ends early.');
  return value;
}

/** The lines that end in a line feed, as far as they are asked for. */
function* readLines(chunks: Iterable<Buffer>): Generator<string, void> {
  let rest = '';
  for (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const CHUNK_BYTES = 4096;

/** The bytes of the file itself, in pieces, so that no more than the header is ever taken in. */
function* toChunks(file: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const armor = findArmor(bytes);
  if (armor !== undefined) {
    yield* unarmor(bytes, armor);
    return;
  }
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** @returns where the line behind the armor's first one begins. */
function findArmor(bytes: Buffer): number | undefined {
  const start = bytes.toString('latin1', 0, MAX_SPACE + ARMOR_BEGIN.length + 2);
  const [found] = /^\s*-----BEGIN AGE ENCRYPTED FILE-----\r?\n/.exec(start) ?? [];
  return found?.length;
}

/** Strict PEM: lines of 64 columns of padded base64, the last of which may be shorter. */
function* unarmor(bytes: Buffer, start: number): Generator<Buffer> {
  for (let at = start, isLast = false; !isLast;) {
    const end = bytes.indexOf('\n', at);
    // A line, and what ends it; the marker of the end is shorter.
    if (end === -1 || end - at > 65) throw notArmored();
    const line = bytes.toString('latin1', at, end).replace(/\r$/, '');
    if (line.startsWith('-----END')) return;
    const chunk = Buffer.from(line, 'base64');
    if (chunk.toString('base64') !== line) throw notArmored();
    yield chunk;
    isLast = chunk.length < 48;
    at = end + 1;
  }
}

function notArmored(): AgeHeaderError {
  return new AgeHeaderError('Expected the armor of an age file in its strict form.');
}
