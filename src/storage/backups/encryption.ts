/** The encryption of backups: age files, which the `age` program reads too. */
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ArchiveError } from './archive.js';

/** The beginning of every binary age file. */
const MAGIC = 'age-encryption.org/';

/** Returns whether the first bytes of a file are those of an encrypted backup. */
export const isEncrypted = (start: Uint8Array): boolean =>
  Buffer.from(start.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;

/** Encrypts a stream to public keys (`age1…`). @throws ArchiveError for an invalid key. */
export async function encryptBackup(content: Readable, recipients: readonly string[]): Promise<Readable> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw new ArchiveError('A recipient of the backup is not an age public key (age1…)', { cause });
    }
  }
  return toNode(await encrypter.encrypt(toWeb(content)));
}

/**
 * Decrypts a stream with a file of identities.
 *
 * @throws ArchiveError if the file has no identity, or none for this backup. Reading the stream fails if the content
 * was modified or is incomplete.
 */
export async function decryptBackup(content: Readable, identityFile: string): Promise<Readable> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of await readIdentities(identityFile)) decrypter.addIdentity(identity);
  try {
    return toNode(await decrypter.decrypt(toWeb(content)));
  } catch (cause) {
    content.destroy();
    throw new ArchiveError(`The identities in ${identityFile} can't decrypt the backup`, { cause });
  }
}

/** Reads the output of `age-keygen`: one identity per line, and comments. */
async function readIdentities(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ArchiveError(`The identity file can't be read: ${String(cause)}`, { cause });
  });
  const identities = text.split(/\r?\n/u).filter((line) => line.startsWith('AGE-SECRET-KEY-1'));
  if (identities.length > 0) return identities;
  throw new ArchiveError(`${file} contains no age identity (AGE-SECRET-KEY-1…)`);
}

const toWeb = (content: Readable): ReadableStream<Uint8Array> => Readable.toWeb(content) as ReadableStream<Uint8Array>;

const toNode = (content: ReadableStream<Uint8Array>): Readable =>
  Readable.fromWeb(content as Parameters<typeof Readable.fromWeb>[0]);
