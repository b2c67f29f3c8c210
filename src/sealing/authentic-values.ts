/** Signing stored values, and deciding whether a received one comes from a trusted writer. */
import type { KnownKeys } from './known-keys.js';
import { SealingError } from './sealing-error.js';
import { formatSignerKey, parseSignerKey, toFingerprint, toSignerFingerprint } from './ssh-signature.js';
import {
  digestRecipients,
  digestValue,
  formatStatement,
  isSignedByItsKey,
  parseValueSignature,
  type Signer,
  signText,
  type ValueStatement,
} from './value-statement.js';

/** One stored value, or the one that is about to be stored. */
export interface SignedValue extends Pick<ValueStatement, 'id' | 'slug' | 'version'> {
  readonly sealed: Uint8Array;
  /** The public keys that the service records with the value. */
  readonly recipients?: readonly string[];
  /** The time of the previous signature of the same secret, if it is known. */
  readonly previousTime?: number;
}

/** Returns the signature of a value, for the field `signature` of the service. */
export async function signValue(signer: Signer, value: SignedValue): Promise<string> {
  const { slug, id, version, sealed, recipients = [], previousTime = 0 } = value;
  const statement = {
    ...{ slug, id, version },
    digest: await digestValue(sealed),
    recipientsDigest: await digestKeys(recipients),
    // Clocks of writers may differ; later signatures always have a later time.
    time: Math.max(Date.now(), previousTime + 1),
  };
  return signText(signer, formatStatement(statement));
}

const digestKeys = async (recipients: readonly string[]): Promise<string> =>
  digestRecipients(await Promise.all(recipients.map(toFingerprint)));

/** A value as the service returns it. */
export interface ReceivedValue {
  /** The name that was requested. */
  readonly slug: string;
  /** The id that was requested, or the reported one. */
  readonly id: string;
  /** The number of a previous value that was requested. */
  readonly version?: number;
  readonly sealed: Uint8Array;
  /** The content of the header `X-Object-Signature`, decoded. */
  readonly signature: string | undefined;
  /** The recorded recipients, as far as the caller may see them. */
  readonly recipients?: readonly string[];
}

/** A value whose bytes were not read; its signature shows the writer only. */
type StatedValue = Omit<ReceivedValue, 'sealed'> & Partial<Pick<ReceivedValue, 'sealed'>>;

/** The newest value of a secret that was used before, for comparison. */
export type LatestValue = Pick<ValueStatement, 'id' | 'time' | 'version'>;

/** The writers and values that a machine or browser trusts. */
export interface WriterTrust {
  readonly known: KnownKeys;
  /** Whether to reject values that no trusted writer has signed, also of names without trusted writers. */
  readonly requiresSignature?: boolean;
  /** Public keys of writers, or their fingerprints, that the user accepts now. */
  readonly acceptKey?: readonly string[];
  /** The newest values with this name or id that were used before. */
  readonly latest?: readonly LatestValue[];
}

/** The result for a value that may be used. */
export interface CheckedValue {
  /** The public key of the writer, `ssh-ed25519 AAAA…`; `undefined` for a value that is not signed. */
  readonly signer?: string;
  readonly fingerprint?: string;
  readonly statement?: ValueStatement;
  /** Whether the key was not known for this name before, and is trusted from now on. */
  readonly isNewWriter: boolean;
}

/**
 * Decides whether a received value may be used. If writers are trusted for its name, one of them must have signed it. The
 * first signature of a name without trusted writers is accepted, as `ssh` accepts the first key of a host, unless
 * signatures are required.
 *
 * @throws SealingError `not_signed`, `wrong_signature`, `unknown_signer`, or `older_value`.
 */
export const checkValue: (received: ReceivedValue, trust: WriterTrust) => Promise<CheckedValue> = checkSignature;

/**
 * Like {@link checkValue}, also for a value whose bytes were not read. Without them, the result is for lists only: before the
 * value is used, {@link checkValue} must compare the bytes.
 */
export async function checkSignature(received: StatedValue, trust: WriterTrust): Promise<CheckedValue> {
  const { slug, signature } = received;
  const writers = listWriters(trust.known, slug);
  const isFirst = writers.length === 0 && !trust.requiresSignature;
  if (signature === undefined) {
    if (isFirst) return { isNewWriter: false };
    throw await notSigned(slug, writers);
  }
  const { statement, publicKey } = await verifySignature(received, signature);
  const signer = formatSignerKey(publicKey);
  const fingerprint = await toSignerFingerprint(publicKey);
  const isTrusted = writers.includes(signer);
  const isAccepted = trust.acceptKey?.some((key) => key === fingerprint || isSameKey(key, signer)) === true;
  if (!isTrusted && !isAccepted && !isFirst) throw await unknownSigner(slug, fingerprint, writers);
  const newer = trust.latest?.find((latest) => isOlder(statement, latest));
  if (newer !== undefined) throw olderValue(statement, newer);
  return { signer, fingerprint, statement, isNewWriter: !isTrusted };
}

/** Returns the keys of the writers that are trusted for a name. */
export function listWriters({ writers = {} }: KnownKeys, slug: string): string[] {
  return Object.entries(writers).flatMap(([key, patterns]) =>
    patterns.some((pattern) => matchesName(pattern, slug)) ? [key] : [],
  );
}

/** A pattern is a name, or the start of names followed by `*`. */
const matchesName = (pattern: string, slug: string): boolean =>
  pattern.endsWith('*') ? slug.startsWith(pattern.slice(0, -1)) : pattern === slug;

/** Returns the known keys, with a writer that is trusted for one more pattern. */
export function addWriter(known: KnownKeys, key: string, pattern: string): KnownKeys {
  const patterns = known.writers?.[key] ?? [];
  return { ...known, writers: { ...known.writers, [key]: [...new Set([...patterns, pattern])] } };
}

function isSameKey(line: string, signer: string): boolean {
  const key = parseSignerKey(line);
  return key !== undefined && formatSignerKey(key) === signer;
}

async function verifySignature(received: StatedValue, signature: string) {
  const { slug, id, version, sealed, recipients } = received;
  const signed = parseValueSignature(signature);
  if (signed === undefined) throw wrongSignature(slug, 'it has an unknown format');
  const { statement } = signed;
  if (!(await isSignedByItsKey(signed))) throw wrongSignature(slug, 'its statement was changed');
  if (statement.slug !== slug) throw wrongSignature(slug, `it is for the name ${statement.slug}`);
  if (statement.id !== id.toLowerCase()) throw wrongSignature(slug, `it is for the variant ${statement.id}`);
  if (version !== undefined && statement.version !== version)
    throw wrongSignature(slug, `it is for value ${statement.version}`);
  if (sealed !== undefined && statement.digest !== (await digestValue(sealed)))
    throw wrongSignature(slug, 'it is for a different value');
  if (recipients !== undefined && statement.recipientsDigest !== (await digestKeys(recipients)))
    throw wrongSignature(slug, 'it is for other recorded recipients');
  return signed;
}

/** A value is older if its number is lower; for a new secret of the same name, if it was signed before. */
function isOlder(statement: LatestValue, latest: LatestValue): boolean {
  if (statement.id !== latest.id) return statement.time <= latest.time;
  if (statement.version !== latest.version) return statement.version < latest.version;
  return statement.time < latest.time;
}

const NOT_USED = 'The value was not used.';

const toFingerprints = async (writers: readonly string[]): Promise<string> => {
  const keys = writers.flatMap((writer) => parseSignerKey(writer) ?? []);
  return (await Promise.all(keys.map(toSignerFingerprint))).join('\n           ');
};

async function notSigned(slug: string, writers: readonly string[]): Promise<SealingError> {
  const trusted = writers.length === 0 ? '' : `\n  trusted: ${await toFingerprints(writers)}`;
  return new SealingError('not_signed', `${slug} is not signed by a trusted writer.${trusted}\n${NOT_USED}`);
}

const wrongSignature = (slug: string, reason: string): SealingError =>
  new SealingError('wrong_signature', `The signature of ${slug} is wrong: ${reason}.\n${NOT_USED}`);

async function unknownSigner(slug: string, fingerprint: string, writers: readonly string[]): Promise<SealingError> {
  const trusted = writers.length === 0 ? 'none' : await toFingerprints(writers);
  const keys = `  trusted: ${trusted}\n  signer:  ${fingerprint}`;
  return new SealingError('unknown_signer', `${slug} is signed by a key that is not trusted:\n${keys}\n${NOT_USED}`);
}

function olderValue(statement: ValueStatement, latest: LatestValue): SealingError {
  const describe = ({ version, time }: LatestValue): string =>
    `value ${version}, signed ${new Date(time).toISOString()}`;
  const values = `  used before: ${describe(latest)}\n  received:    ${describe(statement)}`;
  return new SealingError(
    'older_value',
    `${statement.slug} is an older value than the one used before:\n${values}\n${NOT_USED}`,
  );
}

/** Decodes the header `X-Object-Signature`; `undefined` without one. */
export function readSignatureHeader(headers: Headers): string | undefined {
  const header = headers.get('X-Object-Signature');
  if (header === null) return undefined;
  try {
    return atob(header);
  } catch {
    // An invalid signature is reported as such, and not as a missing one.
    return header;
  }
}

/** Returns the key and fingerprint of a signer. */
export const describeSigner = async (signer: Signer) => ({
  key: formatSignerKey(signer.publicKey),
  fingerprint: await toSignerFingerprint(signer.publicKey),
});
