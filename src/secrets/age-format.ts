/** Reads files and public keys of age, https://c2sp.org/age, as far as this is possible without an identity. */
import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import { AppError } from '@trellis/core/errors';

interface AgeFile {
  /** The number of stanzas that wrap the file key, without grease stanzas. */
  readonly recipientCount: number;
}

/** Thrown for bytes that are not an age file, and for an age file that no recipient can decrypt. */
export class AgeFileError extends Error {
  override readonly name = 'AgeFileError';
}

const VERSION = 'age-encryption.org/v1';
const ARMOR_BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const ARMOR_END = '-----END AGE ENCRYPTED FILE-----';

/** The white space allowed before an armored file, in characters. */
const MAX_SPACE = 1024;

/**
 * Reads an age file, armored or not, and rejects one that no identity could open: with an invalid header, without
 * recipients, or without a complete payload. Nothing is decrypted, so altered bytes are not found.
 *
 * @throws AgeFileError for such a file. The message never quotes the file.
 */
export function readAgeFile(file: Uint8Array): AgeFile {
  const bytes = removeArmor(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  const reader: Reader = { bytes, at: 0 };
  if (readLine(reader) !== VERSION) throw invalid('the first line must be "age-encryption.org/v1"');
  const types: string[] = [];
  for (;;) {
    const line = readLine(reader);
    if (line.startsWith('--- ')) {
      assertMac(line.slice(4));
      const recipientCount = countRecipients(types);
      assertPayload(bytes.length - reader.at);
      return { recipientCount };
    }
    types.push(readStanza(line, readBody(reader)));
  }
}

const invalid = (reason: string): AgeFileError => new AgeFileError(`Not a valid age file: ${reason}.`);

function countRecipients(types: readonly string[]): number {
  if (types.includes('scrypt') && types.length > 1) {
    throw new AgeFileError('An age file that is encrypted with a passphrase cannot have other recipients.');
  }
  // Some programs add stanzas without a recipient (grease), so that parsers keep tolerating unknown types.
  const { length } = types.filter((type) => !type.endsWith('-grease'));
  if (length === 0) throw new AgeFileError('The age file has no recipients.');
  return length;
}

/** The bytes of a nonce, of the tag of a chunk, and of a chunk with its tag. */
const [NONCE, TAG, CHUNK] = [16, 16, 65_536 + 16];

/** @throws AgeFileError unless the payload is a nonce and complete chunks. Only an empty payload has an empty chunk. */
function assertPayload(length: number): void {
  const sealed = length - NONCE;
  const last = sealed % CHUNK || CHUNK;
  if (sealed < TAG || last < TAG || (last === TAG && sealed > TAG))
    throw invalid('the payload is missing or incomplete');
}

/** The lengths in bytes of the arguments and of the body of a stanza; `undefined` for a body of any length. */
interface StanzaShape {
  readonly args: readonly number[];
  readonly body: number | undefined;
}

/** The file key with its tag. */
const WRAPPED = 32;

const SHAPES: ReadonlyMap<string, StanzaShape> = new Map([
  ['X25519', { args: [32], body: WRAPPED }],
  ['mlkem768x25519', { args: [1120], body: WRAPPED }],
  ['p256tag', { args: [4, 65], body: WRAPPED }],
  ['mlkem768p256tag', { args: [4, 1153], body: WRAPPED }],
  ['ssh-ed25519', { args: [4, 32], body: WRAPPED }],
  ['ssh-rsa', { args: [4], body: undefined }],
  ['scrypt', { args: [16], body: WRAPPED }],
]);

/** Returns the type of a stanza, which is its first argument. Stanzas of other types are not checked further. */
function readStanza(line: string, body: Buffer): string {
  if (!/^->(?: [\x21-\x7e]+)+$/.test(line)) throw invalid('the header contains an invalid recipient stanza');
  const [, type = '', ...args] = line.split(' ');
  const shape = SHAPES.get(type);
  if (shape === undefined) return type;
  const isFit =
    (type !== 'scrypt' || isWorkFactor(args.pop())) &&
    args.length === shape.args.length &&
    args.every((text, index) => isUnpadded(text) && Buffer.from(text, 'base64').length === shape.args[index]) &&
    (shape.body === undefined || body.length === shape.body) &&
    (!type.endsWith('25519') || isKeyShare(args.at(-1) ?? ''));
  if (!isFit) throw invalid(`the recipient stanza of type ${type} is malformed`);
  return type;
}

/** 22 is the limit of age. */
const isWorkFactor = (text = ''): boolean => /^[1-9]\d?$/.test(text) && Number(text) <= 22;

/**
 * The points of low order, without the highest bit, which X25519 ignores: they give a secret of zeros with every key, which
 * age rejects. The last two are 0 and 1 in a form that is not reduced.
 */
const LOW_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** Reports whether a share of X25519, which ends an argument, gives a secret. */
function isKeyShare(text: string): boolean {
  const share = Buffer.from(text, 'base64').subarray(-32);
  share.writeUInt8(share.readUInt8(31) & 0x7f, 31);
  return !LOW_ORDER.has(share.toString('hex'));
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

/** Returns the body of a stanza: lines of 64 characters, then a shorter one, which may be empty. */
function readBody(reader: Reader): Buffer {
  const lines: string[] = [];
  for (;;) {
    const line = readLine(reader);
    if (line.length > 64 || !isUnpadded(line)) throw invalid('the body of a recipient stanza is invalid');
    lines.push(line);
    if (line.length < 64) return Buffer.from(lines.join(''), 'base64');
  }
}

/** @throws AgeFileError unless the text encodes 32 bytes, which are 43 characters. */
function assertMac(text: string): void {
  if (text.length !== 43 || !isUnpadded(text)) throw invalid('the MAC of the header is invalid');
}

/** Reports whether a text is canonical base64 without padding. */
function isUnpadded(text: string): boolean {
  return /^[A-Za-z0-9+/]*$/.test(text) && Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === text;
}

/** Returns the next line, which ends in a line feed. */
function readLine(reader: Reader): string {
  const end = reader.bytes.indexOf(0x0a, reader.at);
  if (end === -1) throw invalid('the header is incomplete');
  const line = reader.bytes.toString('latin1', reader.at, end);
  reader.at = end + 1;
  return line;
}

/** Returns the binary file. */
function removeArmor(bytes: Buffer): Buffer {
  const start = findArmor(bytes);
  return start === undefined ? bytes : unarmor(bytes.toString('latin1', start));
}

/** Returns the offset of the line after the first armor line; `undefined` for a file without armor. */
function findArmor(bytes: Buffer): number | undefined {
  const start = bytes.toString('latin1', 0, MAX_SPACE + ARMOR_BEGIN.length + 2);
  const [found] = /^\s*-----BEGIN AGE ENCRYPTED FILE-----\r?\n/.exec(start) ?? [];
  return found?.length;
}

/** Decodes strict PEM: lines of 64 characters of padded base64, of which the last may be shorter. */
function unarmor(text: string): Buffer {
  const lines = text.split(/\r?\n/);
  const end = lines.indexOf(ARMOR_END);
  const isEnd = end > 0 && lines.slice(end + 1).every((line) => line.trim() === '');
  const content = lines.slice(0, end);
  const isStrict = content.every(
    ({ length }, index) => length === 64 || (index === end - 1 && length > 0 && length < 64),
  );
  const bytes = Buffer.from(content.join(''), 'base64');
  if (isEnd && isStrict && bytes.toString('base64') === content.join('')) return bytes;
  throw invalid('the armor is not strict PEM');
}

/** The bytes of a key by the prefix of its text: the kinds that the command line, the pages and the library encrypt to. */
const KEY_BYTES: ReadonlyMap<string, number> = new Map([
  ['age', 32],
  // ML-KEM-768 with X25519, resistant to quantum computers: 1,959 characters.
  ['age1pq', 1216],
  // Keys of hardware tokens: P-256, and ML-KEM-768 with P-256.
  ['age1tag', 33],
  ['age1tagpq', 1249],
]);

/**
 * Returns the public key of a consumer or of the owner after checking its kind, checksum and length.
 *
 * @throws AppError `invalid_input` for a key that no client can encrypt to. The message never quotes the text, which may
 * be an identity.
 */
export function parsePublicKey(text: string): string {
  const problem = findProblem(text);
  if (problem === undefined) return text;
  throw new AppError('invalid_input', `Expected public_key to be an age public key (age1…); ${problem}.`, {
    field: 'public_key',
  });
}

function findProblem(text: string): string | undefined {
  if (/^age-(?:secret-key|plugin)-/i.test(text)) return 'received an identity, which must stay secret';
  if (text.startsWith('ssh-')) return 'received an SSH key, which clients of this service cannot encrypt to';
  if (!/^age1[0-9a-z+._-]+$/.test(text)) return 'received something else';
  // The data of bech32 has no "1", so the last one ends the prefix.
  const prefix = text.slice(0, text.lastIndexOf('1'));
  const length = KEY_BYTES.get(prefix);
  if (length === undefined) return 'received a key of an age plugin, which clients of this service cannot encrypt to';
  return decodeLength(text) === length ? undefined : 'received a damaged one: its checksum or length is wrong';
}

/** Returns the number of encoded bytes; `undefined` for a wrong checksum. */
function decodeLength(text: string): number | undefined {
  try {
    const { words } = bech32.decode(text as `${string}1${string}`, false);
    return bech32.fromWords(words).length;
  } catch {
    return undefined;
  }
}

/**
 * Returns the fingerprint of a public key: `SHA256:` and the digest of its text in base64 without padding, as the clients
 * print it.
 */
export function toKeyFingerprint(publicKey: string): string {
  return `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`;
}
