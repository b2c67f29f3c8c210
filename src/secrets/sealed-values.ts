/** Sealed values: storing current and previous ones in the caller's transaction, and reading their age header. */
import { AppError } from '@trellis/core/errors';
import type { Database } from '../storage/database.js';
import { prepare, prepareInsert } from '../storage/prepared.js';
import type { Actor } from './audit/chain.js';
import type { SecretTableRow } from './secret-records.js';

/** The number of previous values, enough to undo several bad rotations. With values of 1 MiB, a secret has 11 MiB. */
const MAX_REPLACED = 10;

/** A value to store, with its recipients, author and time. */
export interface NewSealedValue extends SealedValue {
  /** The recorded public keys; may be incomplete. */
  readonly recipients: readonly string[];
  /** The recipients that a previous sender chose explicitly; for a new value, `markExplicitRecipients` finds them. */
  readonly explicitRecipients?: readonly string[];
  readonly by: Actor;
  readonly at: number;
}

interface ValueKey {
  readonly objectId: string;
  readonly version: number;
}

const findRow = prepare((database, { objectId, version }: ValueKey) =>
  database
    .selectFrom('secret_object_values')
    .select(['recipient_count', 'sealed'])
    .where('object_id', '=', objectId)
    .where('version', '=', version),
);

const insertValue = prepareInsert('secret_object_values');
const insertRecipient = prepareInsert('secret_object_recipients');

/** Returns a current or previous value; `undefined` when it never existed or was deleted. */
export async function findValue(database: Database, key: ValueKey): Promise<SealedValue | undefined> {
  const [row] = await findRow(database, key);
  return row && { sealed: row.sealed, recipientCount: row.recipient_count };
}

export async function storeValue(
  database: Database,
  { objectId, version }: ValueKey,
  value: NewSealedValue,
): Promise<void> {
  const { sealed, recipientCount, recipients, explicitRecipients = [], by, at } = value;
  await insertValue(database, {
    object_id: objectId,
    version,
    created_at: at,
    created_by_type: by.type,
    created_by_id: by.id,
    replaced_at: null,
    replaced_by_type: null,
    replaced_by_id: null,
    recipient_count: recipientCount,
    sealed,
  });
  for (const recipient of new Set(recipients)) {
    const isExplicit = explicitRecipients.includes(recipient) ? 1 : 0;
    await insertRecipient(database, { object_id: objectId, version, recipient, is_explicit: isExplicit });
  }
}

/**
 * Replaces the value of a secret; the previous value becomes one of its last 10 versions. Returns the changed row of the
 * secret.
 */
export async function replaceValue(
  database: Database,
  object: SecretTableRow,
  value: NewSealedValue,
): Promise<SecretTableRow> {
  const { id, version } = object;
  const { by, at } = value;
  const change = { objectId: id, version, at, type: by.type, by: by.id };
  await markReplaced(database, change);
  await storeValue(database, { objectId: id, version: version + 1 }, value);
  const last = version - MAX_REPLACED;
  if (last > 0) await deleteUntil(database, { objectId: id, version: last });
  await pointToValue(database, { ...change, version: version + 1 });
  return { ...object, version: version + 1, updated_at: at, updated_by_type: by.type, updated_by_id: by.id };
}

interface ValueChange extends ValueKey {
  readonly at: number;
  readonly type: string;
  readonly by: string;
}

const markReplaced = prepare((database, { objectId, version, at, type, by }: ValueChange) =>
  database
    .updateTable('secret_object_values')
    .set({ replaced_at: at, replaced_by_type: type, replaced_by_id: by })
    .where('object_id', '=', objectId)
    .where('version', '=', version),
);

const deleteUntil = prepare((database, { objectId, version }: ValueKey) =>
  database.deleteFrom('secret_object_values').where('object_id', '=', objectId).where('version', '<=', version),
);

const pointToValue = prepare((database, { objectId, version, at, type, by }: ValueChange) =>
  database
    .updateTable('secret_objects')
    .set({ version, updated_at: at, updated_by_type: type, updated_by_id: by })
    .where('id', '=', objectId),
);

/** Returns the recorded public keys of one value in alphabetical order. */
export async function listRecipients(database: Database, key: ValueKey): Promise<string[]> {
  return (await listRecipientRows(database, key)).map(({ recipient }) => recipient);
}

/** Returns the recorded public keys of one value that its sender chose explicitly, in alphabetical order. */
export async function listExplicitRecipients(database: Database, key: ValueKey): Promise<string[]> {
  const rows = await listRecipientRows(database, key);
  return rows.filter((row) => row.is_explicit === 1).map(({ recipient }) => recipient);
}

function listRecipientRows(database: Database, { objectId, version }: ValueKey) {
  return database
    .selectFrom('secret_object_recipients')
    .select(['recipient', 'is_explicit'])
    .where('object_id', '=', objectId)
    .where('version', '=', version)
    .orderBy('recipient')
    .execute();
}

export interface SealedValue {
  /** The bytes of the age file, which the server can't decrypt. */
  readonly sealed: Uint8Array;
  readonly recipientCount: number;
}

/** 1 MiB, far more than any key or certificate needs. */
const MAX_BYTES = 1024 ** 2;

/** The length of the base64 text of {@link MAX_BYTES}. */
const MAX_CHARACTERS = Math.ceil(MAX_BYTES / 3) * 4;

/**
 * Decodes a sealed value from base64 with padding, and reads its age header.
 *
 * @throws AppError `too_large` above 1 MiB; `unprocessable` unless the text is canonical base64 of an age file with at
 * least one recipient.
 */
export function parseSealedValue(text: string): SealedValue {
  if (text.length > MAX_CHARACTERS) throw tooLarge();
  const sealed = Buffer.from(text, 'base64');
  if (sealed.toString('base64') !== text) throw unprocessable('Expected value to be base64 with padding.');
  if (sealed.length > MAX_BYTES) throw tooLarge();
  try {
    return { sealed, ...readAgeHeader(sealed) };
  } catch (cause) {
    if (cause instanceof AgeHeaderError) throw unprocessable(cause.message);
    throw cause;
  }
}

function tooLarge(): AppError {
  return new AppError('too_large', `Expected value to be at most ${MAX_BYTES} bytes.`, {
    field: 'value',
  });
}

function unprocessable(message: string): AppError {
  return new AppError('unprocessable', message, { field: 'value' });
}

interface AgeHeader {
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
 * Reads the header of an age file, armored or not, as specified in https://c2sp.org/age. The encrypted payload is never
 * read.
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
