import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { ReceivedValue } from '../../sealing/authentic-values.js';
import { formatSignerKey, parseSignerKey, toSignerFingerprint } from '../../sealing/ssh-signature.js';
import {
  checkReceived,
  fetchCheckedValue,
  fetchReceivedValue,
  recordSigned,
  replaceSignature,
  toWanted,
  type WantedValue,
  type ObjectMetadata,
} from './authentic-values.js';
import { type CommandContext, loadSealing, withContext } from './context.js';
import { changeKnownKeys, readKnownKeys } from './known-keys-file.js';
import { fetchSecrets, findSecret } from './objects.js';
import { EXIT, toCommandError, addIdOption, collectValues, omitUndefined } from './options.js';
import { addConnectionOptions, type ConnectionOptions, signingKeyPath, writePrivateFile } from './settings.js';
import { type Terminal, confirm, readValue, toJson, toTable, writeOutput } from './terminal.js';

interface KeygenOptions {
  readonly file?: string;
  readonly comment?: string;
  readonly json?: true;
}

interface VerifyOptions extends ConnectionOptions {
  readonly id?: string;
  readonly acceptKey?: readonly string[];
  readonly acceptOlder?: true;
  readonly json?: true;
}

interface SignOptions extends ConnectionOptions {
  readonly id?: string;
  readonly yes?: true;
}

interface WriterOptions extends ConnectionOptions {
  readonly name?: readonly string[];
  readonly json?: true;
}

/** The commands for signatures of values, and for the keys that make them. */
export function addSignatureCommands(secrets: Command, terminal: Terminal): void {
  addKeygen(secrets, terminal);
  addVerify(secrets, terminal);
  addSign(secrets, terminal);
  addWriters(secrets, terminal);
}

function addKeygen(secrets: Command, terminal: Terminal): void {
  secrets
    .command('keygen')
    .description('Create the key with which this machine signs values')
    .option('--file <file>', 'file to create with mode 0600 (default: signing-key in the folder of the settings)')
    .option('--comment <text>', 'comment in the file, such as a name')
    .option('--json', 'print the result, or the error, as JSON')
    .addHelpText(
      'after',
      `
The file is an Ed25519 key of OpenSSH without a passphrase. In the default file, all commands that store a value use it;
otherwise name it with TRELLIS_SECRETS_SIGNING_KEY_FILE. A key of ssh-keygen works too.

Readers trust the first key that signs a secret. To name the trusted writers beforehand, use "writers add".`,
    )
    .action(async (flags: KeygenOptions) => {
      try {
        await createSigningKey(flags, terminal);
      } catch (error) {
        throw toCommandError(error);
      }
    });
}

/** Creates the file of a signing key, and returns its public key. @throws CommandError if the file exists. */
export async function writeSigningKey(file: string, comment?: string) {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new CommandError(`${file} already exists and is not overwritten`, EXIT.conflict);
  const { describeSigner, generateSigningKey, parseSigningKey } = await loadSealing();
  const text = generateSigningKey(comment);
  await writePrivateFile(file, text);
  return describeSigner(parseSigningKey(text));
}

async function createSigningKey(flags: KeygenOptions, terminal: Terminal): Promise<void> {
  const file = resolve(flags.file ?? signingKeyPath(terminal.env));
  const { key, fingerprint } = await writeSigningKey(file, flags.comment);
  if (flags.json) return writeOutput(terminal.out, toJson({ file, key, fingerprint }));
  terminal.err.write(`Wrote the signing key ${file}, readable only by you.\nFingerprint: ${fingerprint}\n`);
  await writeOutput(terminal.out, `${key}\n`);
}

function addVerify(secrets: Command, terminal: Terminal): void {
  const verify = addIdOption(secrets.command('verify'))
    .description('Verify that values are signed by trusted writers, and not older than those used before')
    .argument('[secret...]', 'names of secrets (default: all that the token may read)')
    .option('--accept-key <key>', 'new key of a writer to trust, or its SHA256 fingerprint; repeatable', collectValues)
    .option('--accept-older', 'accept values that are older than those used before')
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      `
Needs no identity. Each verified value is read, which the audit log records. The exit code is 7 if one must not be used.

Examples:
  trellis secrets verify
  trellis secrets verify db-password --accept-key SHA256:uNiVztksCsDhcc0u9e8BrrJXVGDOUKhN5Ahr1hJVU2E`,
    );
  addConnectionOptions(verify).action((names: readonly string[], flags: VerifyOptions) =>
    withContext(terminal, flags, (session) => verifyValues(session, names, flags)),
  );
}

interface VerifiedValue {
  readonly slug: string;
  readonly id: string;
  readonly version: number | undefined;
  readonly result: 'not signed' | 'rejected' | 'signed';
  readonly signer?: string;
  readonly signedAt?: string;
  readonly problem?: string;
}

async function verifyValues(session: CommandContext, names: readonly string[], flags: VerifyOptions): Promise<void> {
  const objects = names.length === 0 ? await fetchSecrets(session, {}) : [];
  for (const name of names) objects.push(await findSecret(session, name, flags.id));
  const results: VerifiedValue[] = [];
  for (const object of objects) {
    const isOnly = objects.filter(({ slug }) => slug === object.slug).length === 1 && flags.id === undefined;
    results.push(await verifyValue(session, object, { ...flags, isOnly }));
  }
  const cells = ({ slug, version, result, signer = '', problem = '' }: VerifiedValue): string[] => [
    ...[slug, String(version ?? ''), result],
    [signer, problem].filter((line) => line !== '').join('\n'),
  ];
  const text = flags.json
    ? toJson(results)
    : await toTable(['name', 'value', 'result', 'signed by'], results.map(cells), 'No secrets.');
  await writeOutput(session.terminal.out, text);
  const rejected = results.filter(({ result }) => result === 'rejected').length;
  if (rejected === 0) return;
  throw new CommandError(`${rejected} of ${results.length} values must not be used`, EXIT.notAuthentic);
}

async function verifyValue(
  session: CommandContext,
  object: ObjectMetadata,
  { acceptKey, acceptOlder: acceptsOlder, isOnly }: VerifyOptions & { readonly isOnly: boolean },
): Promise<VerifiedValue> {
  const { slug, id, version } = object;
  try {
    const wanted = { ...toWanted(session, object), isOnly, ...omitUndefined({ acceptKey, acceptsOlder }) };
    const { fingerprint, statement } = (await fetchCheckedValue(session, slug, wanted)).checked;
    if (statement === undefined) return { slug, id, version, result: 'not signed' };
    const signedAt = new Date(statement.time).toISOString();
    return {
      slug,
      id,
      version: statement.version,
      result: 'signed',
      signedAt,
      ...omitUndefined({ signer: fingerprint }),
    };
  } catch (error) {
    const failure = toCommandError(error, session.server);
    if (!(failure instanceof CommandError) || failure.exitCode !== EXIT.notAuthentic) throw error;
    return { slug, id, version, result: 'rejected', problem: failure.message };
  }
}

function addSign(secrets: Command, terminal: Terminal): void {
  const sign = addIdOption(secrets.command('sign'))
    .description('Sign the current value of secrets that are not signed, or not by a trusted writer')
    .argument('<secret...>', 'names of secrets')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      `
Readers then trust the value as if you had stored it, so sign only a value that you have compared with its source.

Example:
  trellis secrets sign db-password`,
    );
  addConnectionOptions(sign).action((names: readonly string[], flags: SignOptions) =>
    withContext(terminal, flags, async (session) => {
      const signed: SignedSecret[] = [];
      for (const name of names) signed.push(await signValue(session, name, flags));
      await session.report(signed.map(({ slug, id }) => `Signed ${slug} (${id}).`).join('\n'), signed);
    }),
  );
}

type SignedSecret = Pick<ObjectMetadata, 'id' | 'slug' | 'version'>;

async function signValue(session: CommandContext, slug: string, { id, yes }: SignOptions): Promise<SignedSecret> {
  const object = await findSecret(session, slug, id);
  const wanted = toWanted(session, object);
  const received = await fetchReceivedValue(session, slug, wanted);
  const { description, time } = await describeState(session, received, wanted);
  await confirm(session.terminal, { question: `${slug}: ${description} Sign value ${object.version ?? ''}?`, yes });
  const signed = await replaceSignature(session, object, received.sealed, omitUndefined({ previousTime: time }));
  await recordSigned(session, signed);
  return { slug, id: object.id, version: signed.version };
}

interface SignatureState {
  readonly description: string;
  /** The time of the signature; `undefined` without a valid one. */
  readonly time?: number;
}

async function describeState(
  session: CommandContext,
  received: ReceivedValue,
  wanted: WantedValue,
): Promise<SignatureState> {
  try {
    const { fingerprint, statement } = await checkReceived(session, received, wanted);
    if (statement === undefined) return { description: 'It is not signed.' };
    return { description: `It is signed by ${fingerprint}.`, time: statement.time };
  } catch (error) {
    const failure = toCommandError(error, session.server);
    if (failure instanceof CommandError && failure.exitCode === EXIT.notAuthentic) {
      return { description: failure.message };
    }
    throw error;
  }
}

function addWriters(secrets: Command, terminal: Terminal): void {
  const writers = secrets.command('writers').description('Manage the writers that this machine trusts');
  const list = writers
    .command('list')
    .description('List the trusted writers and the names that they may sign')
    .option('--json', 'print the results as JSON');
  addConnectionOptions(list).action((flags: WriterOptions) =>
    withContext(terminal, flags, (session) => printWriters(session, flags)),
  );
  const add = writers
    .command('add')
    .description('Trust a writer; values that it may sign must then be signed by one of the trusted writers')
    .argument('<key>', 'public key (ssh-ed25519 …), or a file with it')
    .option('--name <name>', 'name that the writer may sign, or the start of names with *; repeatable', collectValues)
    .addHelpText('after', "\nExample:\n  trellis secrets writers add ada.pub --name 'prod-*'");
  addConnectionOptions(add).action((key: string, flags: WriterOptions) =>
    withContext(terminal, flags, (session) => trustWriter(session, key, flags)),
  );
  const remove = writers
    .command('remove')
    .description('Trust a writer no longer')
    .argument('<key>', 'public key, or its SHA256 fingerprint');
  addConnectionOptions(remove).action((key: string, flags: WriterOptions) =>
    withContext(terminal, flags, (session) => distrustWriter(session, key)),
  );
}

interface TrustedWriter {
  readonly key: string;
  readonly fingerprint: string;
  readonly names: readonly string[];
}

async function listTrusted(session: CommandContext): Promise<TrustedWriter[]> {
  const { writers = {} } = await readKnownKeys(session);
  const rows = Object.entries(writers).map(async ([key, names]) => {
    const fingerprint = await toSignerFingerprint(parseSignerKey(key) ?? new Uint8Array());
    return { key, fingerprint, names };
  });
  return Promise.all(rows);
}

async function printWriters(session: CommandContext, { json }: WriterOptions): Promise<void> {
  const trusted = await listTrusted(session);
  const rows = trusted.map(({ fingerprint, names }) => [fingerprint, names.join('\n')]);
  const text = json ? toJson(trusted) : await toTable(['writer', 'names'], rows, 'No trusted writers.');
  await writeOutput(session.terminal.out, text);
}

/** The start of a name, or a whole name. */
const PATTERN = /^(?:\*|[A-Za-z0-9][\w-]{0,127}\*?)$/;

async function trustWriter(session: CommandContext, text: string, { name = ['*'] }: WriterOptions): Promise<void> {
  const invalid = name.find((pattern) => !PATTERN.test(pattern));
  if (invalid !== undefined) throw new CommandError(`Expected --name to be a name, or its start with *`, EXIT.usage);
  const line = text.startsWith('ssh-') ? text : (await readValue(text, session.terminal)).toString();
  const key = parseSignerKey(line);
  if (key === undefined) throw new CommandError('Expected an Ed25519 public key (ssh-ed25519 …)', EXIT.usage);
  const { addWriter } = await loadSealing();
  await changeKnownKeys(session, (known) =>
    name.reduce((next, pattern) => addWriter(next, formatSignerKey(key), pattern), known),
  );
  const fingerprint = await toSignerFingerprint(key);
  await session.report(`Trusted ${fingerprint} for ${name.join(', ')}.`, {
    key: formatSignerKey(key),
    fingerprint,
    names: name,
  });
}

async function distrustWriter(session: CommandContext, key: string): Promise<void> {
  const line = parseSignerKey(key);
  const wanted = line && formatSignerKey(line);
  const writer = (await listTrusted(session)).find((each) => each.key === wanted || each.fingerprint === key);
  if (writer === undefined) throw new CommandError('This writer is not trusted', EXIT.notFound);
  await changeKnownKeys(session, (known) => {
    const { [writer.key]: _removed, ...writers } = known.writers ?? {};
    return { ...known, writers };
  });
  await session.report(`${writer.fingerprint} is no longer trusted.`, writer);
}
