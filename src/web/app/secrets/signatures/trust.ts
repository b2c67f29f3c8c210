/** Checks the signatures of values against the writers that this browser trusts. Loaded on demand. */
import {
  addWriter,
  type CheckedValue,
  checkSignature,
  checkValue,
  describeSigner,
  type LatestValue,
  listWriters,
  readSignatureHeader,
  type ReceivedValue,
} from '../../../../sealing/authentic-values.js';
import { type SealingCode, SealingError } from '../../../../sealing/sealing-error.js';
import { formatSignerKey, parseSignerKey, toSignerFingerprint } from '../../../../sealing/ssh-signature.js';
import { requireData } from '../../api.js';
import { sharedStorage } from '../../ui/browser-storage.js';
import { findBrowserSigner, readBrowserKeys, saveBrowserKeys } from '../browser-keys.js';
import type { ObjectMetadata, ObjectVersion } from '../metadata.js';
import { locateSecret, secretsClient } from '../secrets.js';

/** Stores the number and time of the newest signed value of each secret that this browser has used, by id. */
const STORAGE_KEY = 'trellis-newest-values';

function readNewest(): Readonly<Record<string, LatestValue>> {
  try {
    return JSON.parse(sharedStorage.getItem(STORAGE_KEY) ?? '{}') as Readonly<Record<string, LatestValue>>;
  } catch {
    return {};
  }
}

/** Remembers a value, so that an older one in its place is found. */
export function rememberNewest({ id, version, time }: LatestValue): void {
  sharedStorage.setItem(STORAGE_KEY, JSON.stringify({ ...readNewest(), [id]: { id, version, time } }));
}

/** Returns what this browser knows about the values of a secret. */
function toTrust(id: string) {
  const newest = readNewest()[id];
  return { known: readBrowserKeys(), latest: newest === undefined ? [] : [newest] };
}

/** The result for a value whose signature was compared with everything except its bytes. */
export interface SignatureState {
  readonly kind: 'invalid' | 'not-signed' | 'trusted' | 'unknown';
  /** The public key of the writer, with its fingerprint and the name that this browser has for it. */
  readonly signer?: string;
  readonly fingerprint?: string;
  readonly name?: string;
  /** The time of the signature. */
  readonly time?: number;
  /** Whether the value must not be used. */
  readonly isRejected: boolean;
  /** The reason, if it is not valid. */
  readonly problem?: string;
}

/** Returns who signed the current value of a secret, or a previous one. Reads no value. */
export async function readSignatureState(
  { slug, id, recipients = [], signature, version }: ObjectMetadata,
  previous?: ObjectVersion,
): Promise<SignatureState> {
  const stated = previous
    ? { slug, id, version: previous.version, recipients: previous.recipients ?? [], signature: previous.signature }
    : { slug, id, version, recipients, signature };
  const { known, latest } = toTrust(id);
  const writers = listWriters(known, slug);
  if (stated.signature === undefined) return { kind: 'not-signed', isRejected: writers.length > 0 };
  try {
    // Every key is accepted here, to distinguish an unknown one from an invalid signature.
    const {
      signer = '',
      fingerprint,
      statement,
    } = await checkSignature(
      { ...stated, signature: stated.signature },
      { known: { ...known, writers: {} }, latest: previous ? [] : latest },
    );
    const name = known.writerNames?.[signer];
    const isTrusted = writers.includes(signer);
    return {
      kind: isTrusted ? 'trusted' : 'unknown',
      signer,
      isRejected: !isTrusted && writers.length > 0,
      ...(fingerprint !== undefined && { fingerprint }),
      ...(name !== undefined && { name }),
      ...(statement && { time: statement.time }),
    };
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    return { kind: 'invalid', isRejected: true, problem: PROBLEMS[error.code] ?? toReason(error.message) };
  }
}

const PROBLEMS: Partial<Record<SealingCode, string>> = {
  older_value: 'the value is older than one that this browser has used',
};

/** Returns the reason in a message such as “The signature of db is wrong: it is for a different value.” */
const toReason = (message: string): string => /is wrong: ([^\n]*)\.\n/.exec(message)?.[1] ?? message;

/**
 * Reads the encrypted bytes of a value, of a writer that this browser trusts for the name. Like `ssh` with hosts, the first
 * writer of a name is trusted, and remembered with the number of the value.
 *
 * @throws SealingError for a value that must not be used.
 */
export async function readCheckedValue(
  object: ObjectMetadata,
  previous?: ObjectVersion,
): Promise<{ readonly sealed: Uint8Array<ArrayBuffer>; readonly checked: CheckedValue }> {
  const received = await fetchValue(object, previous);
  const { known, latest } = toTrust(object.id);
  const checked = await checkValue(received, { known, latest: previous ? [] : latest });
  const { signer, statement, isNewWriter } = checked;
  if (signer !== undefined && isNewWriter) saveBrowserKeys({ ...known, ...addWriter(known, signer, object.slug) });
  if (statement !== undefined && previous === undefined) rememberNewest(statement);
  return { sealed: received.sealed, checked };
}

/** Reads a value without a check of its signature. */
export async function fetchValue(
  object: ObjectMetadata,
  previous?: ObjectVersion,
): Promise<ReceivedValue & { readonly sealed: Uint8Array<ArrayBuffer> }> {
  const { slug, id, recipients = [] } = object;
  const { path, query } = locateSecret(object);
  const parseAs = 'arrayBuffer';
  const result = previous
    ? await secretsClient.GET('/objects/{slug}/versions/{version}', {
        params: { path: { ...path, version: previous.version }, query },
        parseAs,
      })
    : await secretsClient.GET('/objects/{slug}', { params: { path, query }, parseAs });
  const sealed = new Uint8Array(requireData<unknown>(result) as ArrayBuffer);
  const signature = readSignatureHeader(result.response.headers);
  // The server may have a newer value than the one of the metadata, so only a previous one has an expected number.
  if (previous)
    return { slug, id, sealed, signature, version: previous.version, recipients: previous.recipients ?? [] };
  return { slug, id, sealed, signature, recipients };
}

/** A writer that this browser trusts, and the name that it has for them. */
export interface Writer {
  /** The public key, `ssh-ed25519 AAAA…`. */
  readonly key: string;
  readonly fingerprint: string;
  readonly name: string | undefined;
  /** Names of secrets, or their start with `*`. */
  readonly patterns: readonly string[];
}

interface WriterList {
  /** The key of this browser. */
  readonly own: Writer | undefined;
  readonly trusted: readonly Writer[];
}

export async function listTrustedWriters(): Promise<WriterList> {
  const { writers = {}, writerNames = {} } = readBrowserKeys();
  const signer = await findBrowserSigner();
  const toWriter = async (key: string): Promise<Writer> => {
    const fingerprint = await toSignerFingerprint(parseSignerKey(key) ?? new Uint8Array());
    return { key, fingerprint, name: writerNames[key], patterns: writers[key] ?? [] };
  };
  const own = signer && (await toWriter((await describeSigner(signer)).key));
  return { own, trusted: await Promise.all(Object.keys(writers).map(toWriter)) };
}

/** Trusts a writer for names. @throws Error for a text that is not a public key of Ed25519. */
export async function trustWriter(
  writer: Pick<Writer, 'key' | 'patterns'> & { readonly name?: string },
): Promise<void> {
  const key = parseSignerKey(writer.key);
  if (key === undefined) throw new Error('Expected an Ed25519 public key: ssh-ed25519 AAAA…');
  const line = formatSignerKey(key);
  let known = readBrowserKeys();
  for (const pattern of writer.patterns) known = { ...known, ...addWriter(known, line, pattern) };
  saveBrowserKeys(known);
  if (writer.name) nameWriter(line, writer.name);
}

export function nameWriter(key: string, name: string): void {
  const known = readBrowserKeys();
  saveBrowserKeys({ ...known, writerNames: { ...known.writerNames, [key]: name } });
}

export function distrustWriter({ key }: Writer): void {
  const known = readBrowserKeys();
  const { [key]: _removed, ...writers } = known.writers ?? {};
  saveBrowserKeys({ ...known, writers });
}
