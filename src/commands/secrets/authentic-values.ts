/** Fetching values of trusted writers, and the newest values that this machine has used. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapWithConcurrency } from '@trellis/core/concurrency';
import { CommandError } from '../../config/startup-error.js';
import type { components } from '../../generated/secrets/client.js';
import {
  addWriter,
  type CheckedValue,
  checkValue,
  describeSigner,
  type LatestValue,
  listWriters,
  readSignatureHeader,
  type ReceivedValue,
  signValue,
} from '../../sealing/authentic-values.js';
import { SealingError } from '../../sealing/sealing-error.js';
import { type CommandContext, unwrapResult } from './context.js';
import { readKnownKeys, recordKeys } from './known-keys-file.js';
import { EXIT, readNamed, omitUndefined } from './options.js';
import { stateFolder, writePrivateFile } from './settings.js';

/** The metadata of a secret. */
export type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** Selects one value of a secret, and the accepted exceptions. */
export interface WantedValue {
  readonly id?: string;
  /** The number of a previous value. */
  readonly version?: number;
  /** The recorded recipients, where the metadata of the secret was read. */
  readonly recipients?: readonly string[];
  /** The values of `--accept-key`. */
  readonly acceptKey?: readonly string[];
  /** Whether an older value than the one used before is accepted. */
  readonly acceptsOlder?: boolean;
  /** Whether the secret has no other variant, though its id is given. */
  readonly isOnly?: boolean;
}

/** Returns the selection of the current value of a secret whose metadata was read. */
export function toWanted({ isConsumer }: CommandContext, { id, recipients = [] }: ObjectMetadata): WantedValue {
  // The service hides the recipients from consumers.
  return isConsumer ? { id } : { id, recipients };
}

/** Returns the sealed bytes of a value from a trusted writer, and remembers it. @throws CommandError otherwise. */
export async function fetchSealedValue(
  session: CommandContext,
  slug: string,
  wanted: WantedValue,
): Promise<Uint8Array> {
  return (await fetchCheckedValue(session, slug, wanted)).sealed;
}

/**
 * Returns the values of several secrets in their order, as {@link fetchSealedValue} does. Errors name the secret, and few
 * further values are read after one.
 */
export function fetchSealedValues(
  session: CommandContext,
  secrets: readonly (WantedValue & { readonly slug: string })[],
): Promise<Uint8Array[]> {
  return mapWithConcurrency(secrets, ({ slug, ...wanted }) =>
    readNamed(slug, () => fetchSealedValue(session, slug, wanted)),
  );
}

/** Like {@link fetchSealedValue}, with the result of the check. */
export async function fetchCheckedValue(
  session: CommandContext,
  slug: string,
  wanted: WantedValue,
): Promise<ReceivedValue & { readonly checked: CheckedValue }> {
  const received = await fetchReceivedValue(session, slug, wanted);
  return { ...received, checked: await checkReceived(session, received, wanted) };
}

/** Returns a value without a check of its signature. */
export async function fetchReceivedValue(
  { client }: CommandContext,
  slug: string,
  wanted: WantedValue,
): Promise<ReceivedValue> {
  const { version, recipients } = wanted;
  const query = omitUndefined({ id: wanted.id });
  const parseAs = 'arrayBuffer';
  const answer =
    version === undefined
      ? client.GET('/objects/{slug}', { params: { path: { slug }, query }, parseAs })
      : client.GET('/objects/{slug}/versions/{version}', { params: { path: { slug, version }, query }, parseAs });
  // An empty body is never parsed; an age file is never empty.
  const sealed = new Uint8Array((await unwrapResult<ArrayBuffer | undefined>(answer)) ?? new ArrayBuffer(0));
  const { headers } = (await answer).response;
  const id = wanted.id ?? headers.get('X-Object-Id') ?? '';
  return { slug, id, sealed, signature: readSignatureHeader(headers), ...omitUndefined({ version, recipients }) };
}

/** Checks a received value, and remembers its writer and number. @throws CommandError unless it may be used. */
export async function checkReceived(
  session: CommandContext,
  received: ReceivedValue,
  { id, version, acceptKey, acceptsOlder, isOnly }: WantedValue,
): Promise<CheckedValue> {
  const { slug } = received;
  const known = await readKnownKeys(session);
  // A consumer has one variant of a name, and a name without an id has one too: a new secret replaces the previous one.
  const names = [received.id, ...(session.isConsumer || isOnly || id === undefined ? [''] : [])];
  const files = names.map((name) => latestValuePath(session, slug, name));
  const latest = version === undefined && !acceptsOlder ? await readLatest(files) : [];
  const { requiresSignatures: requiresSignature } = session;
  try {
    const checked = await checkValue(received, { known, requiresSignature, latest, ...omitUndefined({ acceptKey }) });
    const { signer, statement, isNewWriter } = checked;
    if (signer !== undefined && isNewWriter) await recordKeys(session, (current) => addWriter(current, signer, slug));
    if (statement !== undefined && version === undefined) await saveLatest(session, files, statement);
    return checked;
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    const hints = version === undefined ? HINTS : { ...HINTS, ...HINTS_FOR_VERSIONS };
    const hint = hints[error.code]?.replaceAll('NAME', slug).replaceAll('VERSION', String(version));
    throw hint === undefined ? error : new CommandError(`${error.message}\n${hint}`, EXIT.notAuthentic);
  }
}

const HINTS: Readonly<Partial<Record<string, string>>> = {
  not_signed: 'If the value is right, a trusted writer can sign it: trellis secrets sign NAME',
  wrong_signature:
    'Someone may have replaced the value. If it is right, a trusted writer can sign it: trellis secrets sign NAME',
  unknown_signer:
    'Verify the key with its holder, then accept it: trellis secrets verify NAME --accept-key FINGERPRINT',
  older_value: 'If it was restored on purpose, accept it: trellis secrets verify NAME --accept-older',
};

/** Only current values can be signed. */
const HINTS_FOR_VERSIONS: typeof HINTS = {
  not_signed: 'If the value is right, restore it, and sign it then: trellis secrets restore NAME VERSION',
  wrong_signature: undefined,
};

/**
 * Remembers a value that this command has stored with its signature, and trusts its own key for it. Without a signature, it
 * says how to sign the value.
 */
export async function recordSigned(
  session: CommandContext,
  stored: ObjectMetadata,
  { isSigned = true }: { readonly isSigned?: boolean } = {},
): Promise<void> {
  const signer = await session.readSigner();
  const { id, slug, version } = stored;
  const known = await readKnownKeys(session);
  if (signer === undefined || version === undefined || !isSigned) {
    if (listWriters(known, slug).length === 0) return;
    const after = signer === undefined ? ' after "trellis secrets keygen"' : '';
    session.say(
      `${slug} is stored without a signature, so machines that trust its writers reject it. ` +
        `Sign it${after}: trellis secrets sign ${slug}`,
    );
    return;
  }
  const { key } = await describeSigner(signer);
  if (!listWriters(known, slug).includes(key)) await recordKeys(session, (current) => addWriter(current, key, slug));
  const files = [latestValuePath(session, slug, id), latestValuePath(session, slug, '')];
  await saveLatest(session, files, { id, version, time: session.startedAt });
}

/** Signs a stored value, or one that is about to be stored, if a signing key is configured. */
export async function signStored(
  session: CommandContext,
  value: Pick<ReceivedValue, 'id' | 'recipients' | 'sealed' | 'slug'> & {
    readonly version: number;
    readonly previousTime?: number;
  },
): Promise<string | undefined> {
  const signer = await session.readSigner();
  return signer && signValue(signer, value);
}

/** Replaces the signature of the current value of a secret, under its name or a new one. @throws CommandError without a signing key. */
export async function replaceSignature(
  session: CommandContext,
  { slug, id, etag, version = 1, recipients = [] }: ObjectMetadata,
  sealed: Uint8Array,
  renamed: { readonly slug?: string; readonly previousTime?: number } = {},
): Promise<ObjectMetadata> {
  const { previousTime } = renamed;
  const value = { id, version, sealed, recipients, ...omitUndefined({ previousTime }) };
  const signature = await signStored(session, { ...value, slug: renamed.slug ?? slug });
  if (signature === undefined) {
    throw new CommandError(
      'No signing key: run "trellis secrets keygen" or set TRELLIS_SECRETS_SIGNING_KEY_FILE',
      EXIT.refused,
    );
  }
  const params = { path: { slug }, query: { id }, header: omitUndefined({ 'If-Match': etag }) };
  const body = { signature, ...omitUndefined({ slug: renamed.slug }) };
  return unwrapResult(session.client.PATCH('/objects/{slug}', { params, body }));
}

/** Returns the file of the newest value with a name and an id. Names of files have the same length for all secrets. */
function latestValuePath({ server, terminal: { env } }: CommandContext, slug: string, id: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([server, slug, id]))
    .digest('hex');
  return join(stateFolder(env), 'secret-values', `${name}.json`);
}

/** @throws CommandError for a file that can't be read: without it an older value would go unnoticed. */
async function readLatest(files: readonly string[]): Promise<LatestValue[]> {
  const latest: LatestValue[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new CommandError(`${file}: the file of the newest value cannot be read (${code})`, EXIT.usage);
    });
    if (text !== undefined) latest.push(parseLatest(file, text));
  }
  return latest;
}

function parseLatest(file: string, text: string): LatestValue {
  try {
    const { id, version, time } = JSON.parse(text) as Partial<LatestValue>;
    if (typeof id === 'string' && typeof version === 'number' && typeof time === 'number') return { id, version, time };
  } catch {
    // Reported below.
  }
  throw new CommandError(`${file}: this is not a valid file of the newest value; restore it or delete it`, EXIT.usage);
}

/** A file that cannot be written causes only a warning. */
async function saveLatest(session: CommandContext, files: readonly string[], value: LatestValue): Promise<void> {
  const { id, version, time } = value;
  const content = `${JSON.stringify({ id, version, time })}\n`;
  for (const file of files) {
    try {
      const before = await readFile(file, 'utf8').catch(() => '');
      if (before !== content) await writePrivateFile(file, content);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      session.say(`${file}: the number of the value could not be saved (${reason}). An older value may go unnoticed.`);
    }
  }
}
