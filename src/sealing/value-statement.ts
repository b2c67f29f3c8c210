/** The statement that a writer signs about a value, its text, and its signature. */
import { formatSignature, joinBytes, parseSignature, type SshSignature, toSignedBytes } from './ssh-signature.js';

/**
 * Everything that identifies one stored value. A signature of it is not valid for the value of a different secret or variant,
 * for an older value, for other bytes, or with other recorded recipients.
 */
export interface ValueStatement {
  readonly slug: string;
  /** The id of the variant. */
  readonly id: string;
  /** The number of the value, from 1. */
  readonly version: number;
  /** The SHA-256 of the sealed bytes, in hexadecimal. */
  readonly digest: string;
  /** The SHA-256 of the recorded recipients, in hexadecimal, see {@link digestRecipients}. */
  readonly recipientsDigest: string;
  /** The time of the signature, in milliseconds since the epoch. */
  readonly time: number;
}

const TITLE = 'trellis-secret-value-v1';

/** Returns the text that is signed: seven lines, each with one value. Equal statements have equal texts. */
export function formatStatement({ slug, id, version, digest, recipientsDigest, time }: ValueStatement): string {
  const lines = [`name: ${slug}`, `id: ${id}`, `version: ${version}`, `value: ${digest}`];
  return [TITLE, ...lines, `recipients: ${recipientsDigest}`, `time: ${new Date(time).toISOString()}`, ''].join('\n');
}

const STATEMENT = new RegExp(
  [
    `^${TITLE}`,
    'name: ([A-Za-z0-9][A-Za-z0-9_-]{0,127})',
    'id: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})',
    'version: ([1-9]\\d{0,9})',
    'value: ([0-9a-f]{64})',
    'recipients: ([0-9a-f]{64})',
    'time: (\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)\n$',
  ].join('\n'),
);

function parseStatement(text: string): ValueStatement | undefined {
  const [, slug, id, version, digest, recipientsDigest, time] = STATEMENT.exec(text) ?? [];
  if (!slug || !id || !digest || !recipientsDigest) return undefined;
  const statement = { slug, id, version: Number(version), digest, recipientsDigest, time: Date.parse(time ?? '') };
  return Number.isNaN(statement.time) ? undefined : statement;
}

/** A statement with its signature, which has not been verified. */
export interface SignedStatement extends SshSignature {
  readonly statement: ValueStatement;
  /** The text that is signed. */
  readonly text: string;
}

/** The limit of the contract; a signature has about 750 characters. */
const MAX_LENGTH = 2048;

/** Separates the text of a `ValueSignature`; returns `undefined` for anything else. Verifies nothing. */
export function parseValueSignature(signature: string): SignedStatement | undefined {
  const start = signature.indexOf('-----BEGIN');
  if (start < 0 || signature.length > MAX_LENGTH) return undefined;
  const text = signature.slice(0, start);
  const statement = parseStatement(text);
  const parts = parseSignature(signature.slice(start));
  return statement && parts && { ...parts, statement, text };
}

/** Signs values. The private key may be elsewhere, such as in a browser's key store. */
export interface Signer {
  /** The 32 bytes of the Ed25519 public key. */
  readonly publicKey: Uint8Array;
  /** Returns the 64 bytes of the Ed25519 signature. */
  sign(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> | Uint8Array;
}

/** Returns a text followed by its armored signature. */
export async function signText(signer: Signer, text: string): Promise<string> {
  return text + formatSignature(signer.publicKey, await signer.sign(await toSignedBytes(text)));
}

/** Returns whether the key that a statement names has signed it. */
export async function isSignedByItsKey({ text, publicKey, signature }: SignedStatement): Promise<boolean> {
  const { ed25519 } = await import('./ed25519.js');
  try {
    return ed25519.verify(signature, await toSignedBytes(text), publicKey, { zip215: false });
  } catch {
    // The library throws for a key that is not a point of the curve.
    return false;
  }
}

export async function digestValue(sealed: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(sealed));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the digest of recorded recipients: of their fingerprints in alphabetical order, one per line. */
export async function digestRecipients(fingerprints: readonly string[]): Promise<string> {
  const lines = [...new Set(fingerprints)].sort().map((fingerprint) => `${fingerprint}\n`);
  return digestValue(joinBytes(lines.join('')));
}
