/**
 * Opens the usual kind of value with the ciphers of Node, without the age library, which takes half as long to load as
 * Node takes to start.
 */
import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { bech32 } from '@scure/base';
import { loadSealing } from '../context.js';
import type { Terminal } from '../terminal.js';

/**
 * Opens an age file with one or more identities. SSH keys and identities of plugins need the program `age`.
 *
 * @throws SealingError as `open` of `sealing` does, which also opens what {@link openWithNode} does not.
 */
export async function openStoredValue(sealed: Uint8Array, identity: string, terminal: Terminal): Promise<Uint8Array> {
  const value = openWithNode(sealed, identity);
  if (value !== undefined) return value;
  if (isForeignIdentity(identity)) return (await import('./age-program.js')).openWithAge(sealed, identity, terminal);
  return (await loadSealing()).open(sealed, identity);
}

/** Reports whether an identity has an SSH key or an identity of a plugin, or is encrypted. */
export const isForeignIdentity = (identity: string): boolean =>
  /^(?:AGE-PLUGIN-|-----BEGIN |age-encryption\.org)/im.test(identity);

/**
 * Opens a binary age file that is sealed to X25519 keys, as https://age-encryption.org/v1 describes it.
 *
 * @returns `undefined` for every other file or identity, for those that do not match, and for a file that is not intact.
 */
export function openWithNode(sealed: Uint8Array, identity: string): Buffer | undefined {
  const header = parseHeader(Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength));
  if (header === undefined) return undefined;
  try {
    for (const line of identity.split(/\r?\n/).map((each) => each.trim())) {
      if (line === '' || line.startsWith('#')) continue;
      const fileKey = findFileKey(header.stanzas, toKeyPair(line));
      if (fileKey) return isAuthentic(header, fileKey) ? openPayload(header.payload, fileKey) : undefined;
    }
  } catch {
    // The age library reports the reason, or opens the value.
  }
  return undefined;
}

interface Stanza {
  readonly share: Buffer;
  readonly wrapped: Buffer;
}

interface Header {
  readonly stanzas: readonly Stanza[];
  /** The bytes that the MAC protects. */
  readonly text: Buffer;
  readonly mac: Buffer;
  readonly payload: Buffer;
}

/** A header with X25519 stanzas only: base64 of 32 bytes has 43 characters. */
const HEADER =
  /^age-encryption\.org\/v1\n((?:-> X25519 [A-Za-z0-9+/]{43}\n[A-Za-z0-9+/]{43}\n){1,101})--- ([A-Za-z0-9+/]{43})\n/;

const MAX_HEADER_BYTES = 16_384;

function parseHeader(file: Buffer): Header | undefined {
  const [all = '', body = '', mac = ''] = HEADER.exec(file.toString('latin1', 0, MAX_HEADER_BYTES)) ?? [];
  if (all === '') return undefined;
  const texts = [mac, ...body.split(/-> X25519 |\n/).filter((text) => text !== '')];
  const [macBytes = NONE, ...parts] = texts.map((text) => Buffer.from(text, 'base64'));
  // Base64 has several texts for some bytes, of which one is valid.
  if (texts.some((text, index) => Buffer.from(text, 'base64').toString('base64').slice(0, 43) !== texts[index])) return;
  const stanzas = parts.flatMap((share, index) =>
    index % 2 === 0 ? [{ share, wrapped: parts[index + 1] ?? NONE }] : [],
  );
  const text = file.subarray(0, all.length - mac.length - 2);
  return { stanzas, text, mac: macBytes, payload: file.subarray(all.length) };
}

const NONE = Buffer.alloc(0);

interface KeyPair {
  readonly key: KeyObject;
  readonly recipient: Buffer;
}

/** The start of PKCS #8 and of SPKI for X25519 (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

/** @throws Error for other kinds of identities. */
function toKeyPair(identity: string): KeyPair {
  const { prefix, bytes } = bech32.decodeToBytes(identity);
  if (!identity.startsWith('AGE-SECRET-KEY-1') || prefix !== 'age-secret-key-' || bytes.length !== 32)
    throw new Error();
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, bytes]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { key, recipient: publicKey.subarray(PUBLIC_PREFIX.length) };
}

function findFileKey(stanzas: readonly Stanza[], { key, recipient }: KeyPair): Buffer | undefined {
  for (const { share, wrapped } of stanzas) {
    const publicKey = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, share]), format: 'der', type: 'spki' });
    const salt = Buffer.concat([share, recipient]);
    const secret = diffieHellman({ privateKey: key, publicKey });
    const fileKey = decrypt(derive(secret, salt, 'age-encryption.org/v1/X25519'), Buffer.alloc(12), wrapped);
    if (fileKey) return fileKey;
  }
  return undefined;
}

const derive = (secret: Buffer, salt: Buffer, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, 32));

const TAG_BYTES = 16;

/** Decrypts with ChaCha20-Poly1305; `undefined` when the tag does not match. */
function decrypt(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer | undefined {
  const cipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = cipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([text, cipher.final()]);
  } catch {
    return undefined;
  }
}

const isAuthentic = ({ text, mac }: Header, fileKey: Buffer): boolean =>
  timingSafeEqual(
    createHmac('sha256', derive(fileKey, NONE, 'header'))
      .update(text)
      .digest(),
    mac,
  );

const NONCE_BYTES = 16;
const CHUNK_BYTES = 65_536 + TAG_BYTES;

/** Decrypts the chunks; a nonce is the number of the chunk and whether it is the last. Only a sole chunk may be empty. */
function openPayload(payload: Buffer, fileKey: Buffer): Buffer | undefined {
  const key = derive(fileKey, payload.subarray(0, NONCE_BYTES), 'payload');
  const sealed = payload.subarray(NONCE_BYTES);
  const last = Math.ceil(sealed.length / CHUNK_BYTES) - 1;
  const texts: Buffer[] = [];
  for (let index = 0; index <= last; index += 1) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(index, 7);
    nonce[11] = index === last ? 1 : 0;
    const text = decrypt(key, nonce, sealed.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
    if (text === undefined || (text.length === 0 && index > 0)) return undefined;
    texts.push(text);
  }
  return texts.length === 0 ? undefined : Buffer.concat(texts);
}
