import { hkdfSync, randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { seal, unseal } from './seal.js';
import { StateFolderError } from './state-folder.js';

/** In the state folder. Whoever restores the database needs this file too. */
export const SERVER_KEY_FILE = 'server.key';

const KEY_BYTES = 32;
const KEY = /^[\w-]{43}\n?$/;

/** Encrypts what the server must read again, such as tokens for forges (AES-256-GCM), and derives other keys. */
export interface ServerKey {
  /** @param purpose What the text is and whose: sealed for one purpose, it can't be unsealed for another. */
  seal(text: string, purpose: string): Buffer;
  /** The inverse. @throws Error when it was sealed with another key, for another purpose, or a bit changed. */
  unseal(sealed: Uint8Array, purpose: string): string;
  /** Derives a key of 32 bytes for another algorithm (HKDF, RFC 5869); each purpose has its own. */
  derive(purpose: string): Uint8Array;
}

/**
 * Reads the key of a state folder, or makes it on the first start, for its
 * owner's eyes only.
 *
 * @throws StateFolderError when the file holds something else: what was sealed with the lost key stays sealed.
 */
export async function openServerKey(folder: string): Promise<ServerKey> {
  return (await findServerKey(folder)) ?? parse(await create(join(folder, SERVER_KEY_FILE)), folder);
}

/** Like {@link openServerKey}, but makes none. */
export async function findServerKey(folder: string): Promise<ServerKey | undefined> {
  const text = await readIfThere(join(folder, SERVER_KEY_FILE));
  return text === undefined ? undefined : parse(text, folder);
}

function parse(text: string, folder: string): ServerKey {
  if (!KEY.test(text)) {
    throw new StateFolderError(
      `expected a key in ${join(folder, SERVER_KEY_FILE)}; restore it, or remove it to enter the tokens for forges anew`,
    );
  }
  return createServerKey(text.trim());
}

/** @param secret 32 random bytes in base64url. */
export function createServerKey(secret: string): ServerKey {
  const keyFor = (purpose: string): string => `${secret} ${purpose}`;
  return {
    seal: (text, purpose) => seal(text, keyFor(purpose)),
    unseal: (sealed, purpose) => unseal(sealed, keyFor(purpose)),
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

/** All of it is there under its name, or nothing. Two servers at once are kept out by the folder's lock. */
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
  return text;
}
