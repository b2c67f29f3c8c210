import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../config/startup-error.js';
import {
  addKnownKeys,
  type CheckKeys,
  findKeyChanges,
  type KeyChange,
  keyChangedError,
  type KnownKeys,
  NO_KNOWN_KEYS,
} from '../../sealing/known-keys.js';
import { parseSignerKey, toFingerprint } from '../../sealing/ssh-signature.js';
import type { CommandContext } from './context.js';
import { EXIT } from './options.js';
import { nonEmpty, settingsFolder, withFileLock, writePrivateFile } from './settings.js';
import type { Environment } from './terminal.js';

/** The content of the file: the keys of each service, by its URL. */
type KnownKeysFile = Readonly<Record<string, KnownKeys>>;

/** Enough for 10,000 consumers with post-quantum keys of 2 kB. */
const MAX_BYTES = 32 * 2 ** 20;

/** Longer keys are accepted by their fingerprint, which fits a line. */
const MAX_SHOWN_KEY = 100;

function knownKeysPath(env: Environment): string {
  return nonEmpty(env.TRELLIS_SECRETS_KNOWN_KEYS) ?? join(settingsFolder(env), 'known-keys.json');
}

export async function readKnownKeys({ server, terminal }: CommandContext): Promise<KnownKeys> {
  return findKnownKeys(await readKnownKeysFile(knownKeysPath(terminal.env)), server);
}

const findKnownKeys = (file: KnownKeysFile, server: string): KnownKeys =>
  Object.hasOwn(file, server) ? (file[server] ?? NO_KNOWN_KEYS) : NO_KNOWN_KEYS;

/** @throws CommandFailure for a file that cannot be read: without it a changed key would go unnoticed. */
async function readKnownKeysFile(path: string): Promise<KnownKeysFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '{}';
    throw new CommandError(`${path}: the file of known public keys cannot be read (${code})`, EXIT.usage);
  });
  const content = parse(text);
  if (content !== undefined) return content;
  throw new CommandError(`${path}: this is not a valid file of known public keys; restore it or delete it`, EXIT.usage);
}

function parse(text: string): KnownKeysFile | undefined {
  if (text.length > MAX_BYTES) return undefined;
  try {
    const content = JSON.parse(text) as KnownKeysFile;
    return Object.values(content).every(isKnownKeys) ? content : undefined;
  } catch {
    return undefined;
  }
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** A damaged key would never match, and its writer would go unnoticed. */
const isWriter = ([key, patterns]: [string, unknown]): boolean =>
  parseSignerKey(key) !== undefined && isTexts(patterns);

const isText = (value: unknown): value is string => typeof value === 'string';

function isKnownKeys(value: unknown): value is KnownKeys {
  const { consumers, owner, recipients, writers = {} } = Object(value) as Partial<KnownKeys>;
  const hasOwner = owner === undefined || isText(owner);
  return (
    hasOwner &&
    isTexts(recipients) &&
    Object.values(consumers ?? 0).every(isText) &&
    Object.entries(writers).every(isWriter)
  );
}

/**
 * Changes the keys that are known for the session's service.
 *
 * @param change Receives the keys as they are now, as other commands may have added some.
 * @throws CommandError or Error for a file that can't be read or written.
 */
export async function changeKnownKeys(
  { server, terminal }: CommandContext,
  change: (known: KnownKeys) => KnownKeys,
): Promise<void> {
  const path = knownKeysPath(terminal.env);
  await withFileLock(path, async () => {
    const file = await readKnownKeysFile(path);
    const content = Object.fromEntries([...Object.entries(file), [server, change(findKnownKeys(file, server))]]);
    await writePrivateFile(path, `${JSON.stringify(content, undefined, 2)}\n`);
  });
}

/** Like {@link changeKnownKeys}, but a failure causes only a warning. */
export async function recordKeys(session: CommandContext, change: (known: KnownKeys) => KnownKeys): Promise<void> {
  try {
    await changeKnownKeys(session, change);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    const path = knownKeysPath(session.terminal.env);
    session.say(`${path}: the public keys could not be saved (${reason}). A later change of a key may go unnoticed.`);
  }
}

interface CheckOptions {
  /** The values of `--accept-key`: public keys or fingerprints. */
  readonly acceptKey?: readonly string[];
  /** The recorded recipients of the value that is replaced. */
  readonly recordedRecipients?: readonly string[];
  /** The consumers of the secret before the replacement. */
  readonly previousConsumers?: readonly string[];
}

/** Stops at a key that differs from the one used before, unless it is accepted, and saves the keys that pass. */
export const createKeyCheck =
  (session: CommandContext, { acceptKey = [], ...replaced }: CheckOptions): CheckKeys =>
  async (keys) => {
    const known = await readKnownKeys(session);
    const changes = findKeyChanges(keys, { known, ...replaced });
    const rejected: KeyChange[] = [];
    for (const change of changes) {
      if (!(await isAccepted(change.publicKey, acceptKey))) rejected.push(change);
    }
    if (rejected.length > 0) throw await toFailure(rejected);
    if (JSON.stringify(addKnownKeys(known, keys)) !== JSON.stringify(known))
      await recordKeys(session, (current) => addKnownKeys(current, keys));
  };

const isAccepted = async (publicKey: string, accepted: readonly string[]): Promise<boolean> =>
  accepted.includes(publicKey) || accepted.includes(await toFingerprint(publicKey));

async function toFailure(changes: readonly KeyChange[]): Promise<CommandError> {
  const options = await toOptions(changes.map(({ publicKey }) => publicKey));
  return new CommandError(
    `${keyChangedError(changes).message}\nVerify each new key with its holder, then repeat the command with ${options}`,
    EXIT.conflict,
  );
}

async function toOptions(publicKeys: readonly string[]): Promise<string> {
  const options = publicKeys.map(
    async (key) => `--accept-key ${key.length > MAX_SHOWN_KEY ? await toFingerprint(key) : key}`,
  );
  return (await Promise.all(options)).join(' ');
}

interface Recipients {
  /** The keys of the command line. */
  readonly chosen: readonly string[] | undefined;
  /** The keys that the service recorded for the value that is replaced. */
  readonly recorded: readonly string[];
  readonly acceptKey?: readonly string[];
  /** The public keys of the caller's own identity, where it has been read. */
  readonly own?: readonly string[];
}

/**
 * Returns the further recipients of a value, and saves the chosen ones. Recorded keys come from the
 * service, so each must be one that this machine has used before.
 *
 * @throws CommandFailure for a recorded key that is neither known nor accepted.
 */
export async function confirmRecipients(session: CommandContext, recipients: Recipients): Promise<readonly string[]> {
  const { chosen, recorded, acceptKey = [], own = [] } = recipients;
  const known = await readKnownKeys(session);
  const trusted = new Set([...known.recipients, ...Object.values(known.consumers), known.owner, ...own]);
  const rejected: string[] = [];
  for (const publicKey of chosen ? [] : recorded) {
    if (!trusted.has(publicKey) && !(await isAccepted(publicKey, acceptKey))) rejected.push(publicKey);
  }
  if (rejected.length > 0) throw await unknownRecipients(rejected);
  const used = chosen ?? recorded;
  if (used.some((publicKey) => !known.recipients.includes(publicKey)))
    await recordKeys(session, (current) => ({
      ...current,
      recipients: [...new Set([...current.recipients, ...used])],
    }));
  return used;
}

async function unknownRecipients(keys: readonly string[]): Promise<CommandError> {
  const options = await toOptions(keys);
  return new CommandError(
    `The service lists recipients that were never used on this machine:\n  ${keys.join('\n  ')}\n` +
      `Nothing was encrypted. Choose recipients with --recipient, or confirm these with ${options}`,
    EXIT.conflict,
  );
}

/** Records the key of a consumer that the user registers on this machine. */
export async function recordConsumerKey(session: CommandContext, consumer: string, publicKey: string): Promise<void> {
  await recordKeys(session, (known) => addKnownKeys(known, [{ consumer, publicKey }]));
}

/** Keeps the key of a consumer known under its new name. */
export async function renameKnownConsumer(session: CommandContext, from: string, to: string): Promise<void> {
  if (!Object.hasOwn((await readKnownKeys(session)).consumers, from)) return;
  await recordKeys(session, (known) => {
    const { [from]: publicKey, ...consumers } = known.consumers;
    if (publicKey === undefined || Object.hasOwn(consumers, to)) return known;
    return { ...known, consumers: { ...consumers, [to]: publicKey } };
  });
}
