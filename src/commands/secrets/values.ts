import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { SecretReplacement } from '../../sealing/put-secret.js';
import { isForeignIdentity, openStoredValue } from './age/open-value.js';
import { fetchSealedValue, type ObjectMetadata, recordSigned, signStored, toWanted } from './authentic-values.js';
import { type CommandContext, loadSealer, loadSealing, unwrapResult, withContext } from './context.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { assertNewName, findSecret } from './objects.js';
import {
  EXIT,
  addIdOption,
  addRecipientOptions,
  addValueOptions,
  collectValues,
  omitUndefined,
  parseCount,
  parseRotation,
  type RecipientOptions,
  type ValueOptions,
} from './options.js';
import { addConnectionOptions, type ConnectionOptions, writePrivateFile, withoutCredentials } from './settings.js';
import { type Terminal, readSecretValue, toJson, writeOutput } from './terminal.js';

interface IdFlags extends ConnectionOptions {
  readonly id?: string;
}

interface PutOptions extends ConnectionOptions, RecipientOptions, ValueOptions {
  readonly tag?: readonly string[];
  readonly description?: string;
  readonly rotateAfterDays?: number;
  readonly json?: true;
}

interface GetOptions extends IdFlags {
  readonly sealed?: true;
  readonly output?: string;
  readonly atVersion?: number;
  readonly acceptKey?: readonly string[];
}

interface RotateOptions extends IdFlags, RecipientOptions, ValueOptions {
  readonly reseal?: true;
  readonly hook?: string;
  readonly rotateAfterDays?: number;
}

/** The commands that write and read values. */
export function addValueCommands(secrets: Command, terminal: Terminal): void {
  addPut(secrets, terminal);
  addGet(secrets, terminal);
  addRotate(secrets, terminal);
}

function addPut(secrets: Command, terminal: Terminal): void {
  const put = addRecipientOptions(addValueOptions(secrets.command('put')))
    .description('Seal a value to its consumers and store it under a new name')
    .argument('<name>', 'name of letters, digits, _ and -')
    .option('--keep-readable-copy', 'also seal it to the key of the owner')
    .option('--tag <tag>', 'tag; repeatable', collectValues)
    .option('--description <text>', 'description')
    .option('--rotate-after-days <number>', 'days until it is due for rotation', parseRotation)
    .option('--json', 'print the stored metadata')
    .addHelpText(
      'after',
      `
Examples:
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop --tag prod
  trellis secrets put tls-key --file key.pem --consumer web-1 --consumer web-2
  trellis secrets put note --recipient age1… --file note.txt`,
    );
  addConnectionOptions(put).action((name: string, flags: PutOptions) =>
    withContext(terminal, flags, (session) => putValue(session, name, flags)),
  );
}

function addGet(secrets: Command, terminal: Terminal): void {
  const get = addIdOption(secrets.command('get'))
    .description('Open a value with the identity and print it')
    .argument('<secret>', 'name of the secret')
    .option('--sealed', 'print the sealed bytes; needs no identity')
    .option('--output <file>', 'write to a file with mode 0600 instead of standard output')
    .option('--at-version <number>', 'number of a previous value, see "versions"', parseCount)
    .option('--accept-key <key>', 'changed key of the writer to accept, or its SHA256 fingerprint', collectValues)
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets get db-password
  trellis secrets get tls-key --output key.pem
  trellis secrets get db-password --sealed | age -d -i identity.txt`,
    );
  addConnectionOptions(get).action((name: string, flags: GetOptions) =>
    withContext(terminal, flags, (session) => printValue(session, name, flags)),
  );
}

function addRotate(secrets: Command, terminal: Terminal): void {
  const rotate = addIdOption(addRecipientOptions(addValueOptions(secrets.command('rotate'))))
    .description('Replace a value; the previous value becomes a version')
    .argument('<secret>', 'name of the secret')
    .option('--reseal', 'reseal the current value to the current recipients')
    .option('--keep-readable-copy', 'also seal it to the key of the owner (default: as before, if known)')
    .option('--no-keep-readable-copy', "don't seal it to the key of the owner")
    .option('--rotate-after-days <number>', 'days until it is due for rotation again', parseRotation)
    .option('--hook <command>', 'command that gets the new value on standard input, after it was stored')
    .addHelpText(
      'after',
      `
Without --consumer, the consumers stay the same; with it, they are replaced. Repeat every --recipient, unless the
secret has no consumers.

Examples:
  openssl rand -base64 30 | tr -d '\\n' | trellis secrets rotate db-password
  openssl rand -hex 32 | trellis secrets rotate db-password --hook ./set-password.sh
  trellis secrets rotate db-password --reseal
  trellis secrets list --reseal --json | jq -r '.[] | "\\(.slug) --id \\(.id)"' |
    xargs -L 1 trellis secrets rotate --reseal`,
    );
  addConnectionOptions(rotate).action((name: string, flags: RotateOptions) =>
    withContext(terminal, flags, (session) => rotateValue(session, name, flags)),
  );
}

/** `get`: prints the value, or writes it to a file. */
async function printValue(session: CommandContext, slug: string, flags: GetOptions): Promise<void> {
  const { id, atVersion: version, sealed, output, json, acceptKey } = flags;
  // Checked first, as every read is recorded in the audit log.
  const identity = sealed ? undefined : await session.readIdentity();
  const stored = await fetchSealedValue(session, slug, omitUndefined({ id, version, acceptKey }));
  const value = identity === undefined ? stored : await openStoredValue(stored, identity, session.terminal);
  if (output !== undefined) await writePrivateFile(output, value);
  if (json)
    await writeOutput(session.terminal.out, toJson({ slug, ...(output === undefined ? toText(value) : { output }) }));
  else if (output === undefined) await writeOutput(session.terminal.out, value);
}

/** Returns a value as JSON holds it: as text, or in base64 if it is not text. */
function toText(value: Uint8Array): { readonly value: string; readonly encoding: 'base64' | 'utf-8' } {
  const bytes = Buffer.from(value);
  if (isUtf8(bytes)) return { value: bytes.toString(), encoding: 'utf-8' };
  return { value: bytes.toString('base64'), encoding: 'base64' };
}

/** `put`: creates a secret, or a variant of a name. */
async function putValue(session: CommandContext, slug: string, flags: PutOptions): Promise<void> {
  assertNewName(slug);
  const value = await readSecretValue(flags, session.terminal);
  const stored = flags.sealed
    ? await storeSealed(session, slug, { value, flags })
    : await sealNew(session, slug, { value, flags });
  await recordSigned(session, stored);
  session.say(`Stored ${describeStored(stored)}.`);
  if (flags.json) await writeOutput(session.terminal.out, toJson(stored));
}

async function sealNew(session: CommandContext, slug: string, { value, flags }: SealedValue): Promise<ObjectMetadata> {
  const { consumer: usedBy, recipient: chosen, acceptKey, keepReadableCopy, tag: tags } = flags;
  const { description, rotateAfterDays } = flags;
  const recipients = await confirmRecipients(session, { chosen, recorded: [] });
  const checkKeys = createKeyCheck(session, { acceptKey });
  const { putSecret } = await loadSealing();
  return putSecret(session.client, {
    ...{ slug, value, usedBy, recipients, keepReadableCopy, checkKeys, sealWith: await loadSealer(session.terminal) },
    ...{ tags, description, rotateAfterDays, signer: await session.readSigner() },
  });
}

interface SealedValue {
  readonly value: Uint8Array;
  readonly flags: PutOptions;
}

/** Stores an age file unchanged, without recording its recipients. */
async function storeSealed(
  session: CommandContext,
  slug: string,
  { value, flags }: SealedValue,
): Promise<ObjectMetadata> {
  const { consumer, recipient, tag, description, rotateAfterDays } = flags;
  const stored = { slug, id: randomUUID(), version: 1, sealed: value, recipients: recipient ?? [] };
  const body = {
    slug,
    value: Buffer.from(value).toString('base64'),
    keep_readable_copy: flags.keepReadableCopy ?? false,
    ...omitUndefined({ used_by: copy(consumer), recipients: copy(recipient), tags: copy(tag), description }),
    ...omitUndefined({ rotate_after_days: rotateAfterDays, signature: await signStored(session, stored) }),
  };
  return unwrapResult(session.client.POST('/objects', { body }));
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];

/** `rotate`: replaces the value, or reseals it, unless another request replaced it first. */
async function rotateValue(session: CommandContext, slug: string, flags: RotateOptions): Promise<void> {
  assertOneSource(flags);
  const object = await findSecret(session, slug, flags.id);
  const value = flags.reseal
    ? await openCurrentValue(session, object, flags.acceptKey)
    : await readSecretValue(flags, session.terminal);
  const stored = flags.sealed
    ? await replaceSealed(session, object, { value, flags })
    : await sealReplacement(session, object, { value, flags });
  const text = `Replaced the value of ${describeStored(stored)}. "trellis secrets restore" restores the previous one.`;
  await session.report(text, stored);
  const left = (object.recipients ?? []).filter((key) => !(stored.recipients ?? []).includes(key));
  if (left.length > 0) session.say(`No longer sealed to: ${left.join(', ')}`);
  if (flags.hook !== undefined) await runHook(session, flags.hook, { slug, value });
}

/** Fetches and opens the current value of a secret. */
export async function openCurrentValue(
  session: CommandContext,
  object: ObjectMetadata,
  acceptKey: readonly string[] | undefined,
): Promise<Uint8Array> {
  const identity = await session.readIdentity();
  const wanted = { ...toWanted(session, object), ...omitUndefined({ acceptKey }) };
  return openStoredValue(await fetchSealedValue(session, object.slug, wanted), identity, session.terminal);
}

interface Replacement {
  readonly value: Uint8Array;
  readonly flags: Pick<RotateOptions, 'acceptKey' | 'consumer' | 'keepReadableCopy' | 'recipient' | 'reseal'> & {
    readonly rotateAfterDays?: number;
    readonly dryRun?: true;
  };
}

/** Seals a new value to the recipients of the options, and stores it unless another request replaced the value first. */
export async function sealReplacement(
  session: CommandContext,
  object: ObjectMetadata,
  replacement: Replacement,
): Promise<ObjectMetadata> {
  const { replaceSecret } = await loadSealing();
  const stored = await replaceSecret(session.client, await chooseReplacement(session, object, replacement));
  await recordSigned(session, stored);
  return stored;
}

/** Returns a replacement of a value with the recipients of the options or, without these, with those that it has. */
export async function chooseReplacement(
  session: CommandContext,
  object: ObjectMetadata,
  { value, flags }: Replacement,
): Promise<SecretReplacement> {
  const { slug, id, etag, version, used_by = [], recipients: recorded = [] } = object;
  assertNoStaleRecipients(object, flags);
  const { consumer: usedBy, recipient: chosen, acceptKey, rotateAfterDays, dryRun } = flags;
  const { toRecipients } = await loadSealing();
  const identity = flags.reseal ? await session.readIdentity() : '';
  // The public keys of other identities are not known here.
  const own = flags.reseal && !isForeignIdentity(identity) ? await toRecipients(identity) : [];
  // A value without consumers stays readable by the recipients that it was sealed to.
  const forRecorded = (usedBy ?? used_by).length === 0 ? recorded : [];
  const replacement = {
    ...{ slug, id, etag, version, value, usedBy, rotateAfterDays },
    sealWith: await loadSealer(session.terminal),
    keepReadableCopy: flags.keepReadableCopy ?? (await hasReadableCopy(session, object)),
  };
  // The checks record the keys, and a signing key may ask for its passphrase.
  if (dryRun) return { ...replacement, recipients: chosen ?? forRecorded };
  return {
    ...replacement,
    signer: await session.readSigner(),
    recipients: await confirmRecipients(session, { chosen, recorded: forRecorded, acceptKey, own }),
    checkKeys: createKeyCheck(session, { acceptKey, recordedRecipients: recorded, previousConsumers: used_by }),
  };
}

/** A value without consumers stays sealed to its recipients, but a key of a former consumer needs a decision. */
function assertNoStaleRecipients({ slug, used_by = [], reseal }: ObjectMetadata, flags: RecipientOptions): void {
  const isChosen = flags.recipient !== undefined || (flags.consumer ?? used_by).length > 0;
  if (isChosen || reseal?.stale === undefined) return;
  throw new CommandError(
    `${slug} is sealed to keys that belong to none of its consumers any more:\n  ${reseal.stale.join('\n  ')}\n` +
      'Nothing was encrypted. Choose all recipients with --recipient; a key that you repeat stays',
    EXIT.conflict,
  );
}

function assertOneSource({ reseal, file, sealed, hook }: RotateOptions): void {
  if (hook !== undefined && (sealed || reseal)) {
    throw new CommandError("--hook needs a new value, so it can't be combined with --sealed or --reseal", EXIT.usage);
  }
  if (!reseal || (file === undefined && !sealed)) return;
  throw new CommandError("--reseal keeps the value, so it can't be combined with --file or --sealed", EXIT.usage);
}

async function replaceSealed(
  session: CommandContext,
  { slug, id, etag, version = 0 }: ObjectMetadata,
  { value, flags }: { readonly value: Uint8Array; readonly flags: RotateOptions },
): Promise<ObjectMetadata> {
  const { consumer, recipient, rotateAfterDays, keepReadableCopy = false } = flags;
  const next = { slug, id, version: version + 1, sealed: value, recipients: recipient ?? [] };
  const signature = await signStored(session, next);
  const body = {
    value: Buffer.from(value).toString('base64'),
    keep_readable_copy: keepReadableCopy,
    ...omitUndefined({ used_by: copy(consumer), recipients: copy(recipient), rotate_after_days: rotateAfterDays }),
    ...omitUndefined({ signature }),
  };
  const params = { path: { slug }, query: { id }, header: omitUndefined({ 'If-Match': etag }) };
  const stored = await unwrapResult(session.client.PUT('/objects/{slug}', { params, body }));
  await recordSigned(session, stored);
  return stored;
}

/** Reports whether the current key of the owner is among the recorded recipients. */
async function hasReadableCopy({ client }: CommandContext, { recipients = [] }: ObjectMetadata): Promise<boolean> {
  if (recipients.length === 0) return false;
  // Requested once for the entries of an import.
  const requested = ownerKeys.get(client) ?? unwrapResult(client.GET('/auth/identity'));
  ownerKeys.set(client, requested);
  const { public_key: owner } = await requested;
  return owner !== undefined && recipients.includes(owner);
}

const ownerKeys = new WeakMap<CommandContext['client'], Promise<{ readonly public_key?: string }>>();

/** Describes a stored value for a message. */
export function describeStored({ slug, id, recipient_count: count }: ObjectMetadata): string {
  return `${slug} (${id}), sealed to ${count ?? 'unknown'} ${count === 1 ? 'key' : 'keys'}`;
}

interface HookInput {
  readonly slug: string;
  readonly value: Uint8Array;
}

/**
 * Runs a command of the user with a new value on standard input, and its name in `TRELLIS_SECRET`.
 *
 * @throws CommandError if it fails; the value stays stored.
 */
async function runHook({ terminal }: CommandContext, command: string, { slug, value }: HookInput): Promise<void> {
  const env = { ...withoutCredentials(terminal.env), TRELLIS_SECRET: slug };
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'pipe'], env });
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code ?? 'unknown'}`)));
  });
  // A command that does not read its input is not an error.
  child.stdin.on('error', () => undefined);
  child.stdin.end(value);
  const copy = async (stream: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of stream) await writeOutput(terminal.err, chunk);
  };
  const [reason] = await Promise.all([ended, copy(child.stdout), copy(child.stderr)]);
  if (reason === undefined) return;
  throw new CommandError(
    `The new value of ${slug} is stored, but its hook failed: ${reason}. "trellis secrets restore" restores the previous one`,
    EXIT.failed,
  );
}
