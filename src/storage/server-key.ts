import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Database, inTransaction } from './database.js';
import { assertNoServers } from './notices.js';
import { StateFolderError, syncFolder } from './state-folder.js';

/** The name of the key file in the state folder. Restoring the database requires this file too. */
export const SERVER_KEY_FILE = 'server.key';

const KEY_BYTES = 32;
const KEY = /^[\w-]{43}\n?$/;

/** Encrypts data that the server must be able to read, such as forge tokens (AES-256-GCM), and derives other keys. */
export interface ServerKey {
  /**
   * Encrypts a text.
   *
   * @param purpose Identifies the kind and the owner of the text. Decryption requires the same purpose.
   */
  encrypt(text: string, purpose: string): Buffer;
  /** Decrypts a text. @throws Error if the key or the purpose is different, or the data was modified. */
  decrypt(sealed: Uint8Array, purpose: string): string;
  /** Derives a key of 32 bytes for use outside of this interface (HKDF, RFC 5869). Each purpose has its own key. */
  derive(purpose: string): Uint8Array;
}

/**
 * Reads the key of a state folder, or creates it on the first start, with mode 0600.
 *
 * @throws StateFolderError if the file does not contain a key. Data encrypted with a lost key can't be recovered.
 */
export async function openServerKey(folder: string): Promise<ServerKey> {
  return (await findServerKey(folder)) ?? parse(await create(join(folder, SERVER_KEY_FILE)), folder);
}

/** Reads the key of a state folder; returns `undefined` if it does not exist. */
export async function findServerKey(folder: string): Promise<ServerKey | undefined> {
  const text = await readIfThere(join(folder, SERVER_KEY_FILE));
  return text === undefined ? undefined : parse(text, folder);
}

function parse(text: string, folder: string): ServerKey {
  if (!KEY.test(text)) {
    throw new StateFolderError(
      `${join(folder, SERVER_KEY_FILE)} is not a valid key; restore it from a backup, or copy it from another server of the same database`,
    );
  }
  return createServerKey(text.trim());
}

/** @param secret 32 random bytes in base64url. */
export function createServerKey(secret: string): ServerKey {
  const keyFor = (purpose: string): string => `${secret} ${purpose}`;
  return {
    encrypt: (text, purpose) => encryptAtRest(text, keyFor(purpose)),
    decrypt: (sealed, purpose) => decryptAtRest(sealed, keyFor(purpose)),
    derive: (purpose) => new Uint8Array(hkdfSync('sha256', secret, '', `trellis ${purpose}`, KEY_BYTES)),
  };
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the key file atomically. The lock of the state folder excludes other servers. */
async function create(file: string): Promise<string> {
  const text = `${randomBytes(KEY_BYTES).toString('base64url')}\n`;
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
  await syncFolder(dirname(file));
  return text;
}

/**
 * Replaces the key of a state folder, while no server uses it. `reencrypt` encrypts the data with the new key in the
 * transaction that also replaces the check value. The previous key remains as `server.key.before-rotation`.
 *
 * The new key is on the disk before the transaction, and gets its name afterwards. If the process ends in between, the
 * next call completes the rotation.
 *
 * @throws StateFolderError if the database, or a part of it, was encrypted with a different key; DatabaseError while servers
 * use it.
 */
export async function rotateServerKey(
  folder: string,
  database: Database,
  reencrypt: (transaction: Database, from: ServerKey, to: ServerKey) => Promise<void>,
): Promise<void> {
  await assertNoServers(database);
  const file = join(folder, SERVER_KEY_FILE);
  const next = `${file}.next`;
  const interrupted = await readIfThere(next);
  if (interrupted !== undefined && (await isKeyOf(database, parse(interrupted, folder)))) {
    await replaceKey(file, next);
    return;
  }
  const from = await findServerKey(folder);
  if (from === undefined) throw new StateFolderError(`${file} does not exist`);
  await assertServerKey(database, from);
  const to = parse(await create(next), folder);
  await inTransaction(database, async (transaction) => {
    await reencrypt(transaction, withClearErrors(from), to);
    await transaction
      .updateTable('server_key')
      .set({ sealed: to.encrypt(TEXT, PURPOSE) })
      .execute();
  });
  await replaceKey(file, next);
}

/** Returns the key, whose `decrypt` throws a StateFolderError that names what it can't decrypt. */
function withClearErrors(key: ServerKey): ServerKey {
  return {
    ...key,
    decrypt(sealed, purpose) {
      try {
        return key.decrypt(sealed, purpose);
      } catch (cause) {
        const problem = 'is not encrypted with server.key; the key and the data were not changed';
        throw new StateFolderError(`"${purpose}" in the database ${problem}`, { cause });
      }
    },
  };
}

/** Returns whether the stored data is encrypted with the key. */
export async function isKeyOf(database: Database, key: ServerKey): Promise<boolean> {
  const known = await database.selectFrom('server_key').select('sealed').executeTakeFirst();
  return known !== undefined && isEncryptedWith(key, known.sealed);
}

async function replaceKey(file: string, next: string): Promise<void> {
  // A link, so that there is a key with its name at every moment.
  await rm(`${file}.before-rotation`, { force: true });
  await link(file, `${file}.before-rotation`);
  await rename(next, file);
  await syncFolder(dirname(file));
}

/** A known text. A key is recognised by its ability to decrypt the stored ciphertext of it. */
const TEXT = 'trellis';
const PURPOSE = 'server key check';

/**
 * Ensures that all servers use the database with the same key. The first server stores a check value.
 *
 * @throws StateFolderError for a different key, which can't decrypt the stored data.
 */
export async function assertServerKey(database: Database, key: ServerKey): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const known = await transaction.selectFrom('server_key').select('sealed').executeTakeFirst();
    if (known === undefined) {
      await transaction
        .insertInto('server_key')
        .values({ id: 1, sealed: key.encrypt(TEXT, PURPOSE) })
        .execute();
    } else if (!isEncryptedWith(key, known.sealed)) {
      throw new StateFolderError(
        'server.key differs from the key of the database; copy the key from its state folder, or restore a backup',
      );
    }
  });
}

function isEncryptedWith(key: ServerKey, sealed: Uint8Array): boolean {
  try {
    return key.decrypt(sealed, PURPOSE) === TEXT;
  } catch {
    return false;
  }
}

/**
 * Returns the text of the key in a state folder that a database, or a copy of it, is encrypted with. During a rotation, and
 * after an interrupted one, it may be in a file beside `server.key`.
 *
 * @returns `undefined` if the folder does not have it, as with a key that is a setting.
 */
export async function findKeyText(folder: string, database: Database): Promise<string | undefined> {
  const known = await database.selectFrom('server_key').select('sealed').executeTakeFirst();
  // The key of a rotation may get its name while the files are read.
  for (const ending of ['', '.next', '', '.before-rotation']) {
    const text = await readIfThere(join(folder, SERVER_KEY_FILE + ending));
    if (text === undefined || !KEY.test(text)) continue;
    if (known === undefined || isEncryptedWith(createServerKey(text.trim()), known.sealed)) return text;
  }
  return undefined;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NO_SALT = Buffer.alloc(32);

/** Encrypts a text with a key derived from the secret (AES-256-GCM). Returns the nonce, the tag and the ciphertext. */
export function encryptAtRest(text: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secret), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Decrypts the result of {@link encryptAtRest}. @throws Error if the secret is different or the data was modified. */
export function decryptAtRest(sealed: Uint8Array, secret: string): string {
  const [nonce, rest] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)];
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(secret), nonce);
  decipher.setAuthTag(rest.subarray(0, TAG_BYTES));
  return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8');
}

/** Computes one block of HKDF (RFC 5869), in half the time of hkdfSync(). */
function deriveKey(secret: string): Buffer {
  const key = createHmac('sha256', NO_SALT).update(secret).digest();
  return createHmac('sha256', key).update('trellis seal\x01').digest();
}
