import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { EXIT } from './options.js';
import type { Environment } from './terminal.js';

/** The URL of the service, and the credential. */
interface SecretsSettings {
  /** Without a trailing slash. */
  readonly server: string;
  readonly token: SecretSource | undefined;
  /** The client name in the audit log. */
  readonly caller: string | undefined;
  readonly identity: SecretSource | undefined;
  /** The key that signs values. */
  readonly signingKey: SecretSource | undefined;
  /** Whether values that no trusted writer has signed are rejected. */
  readonly requiresSignatures: boolean;
}

/** The options of every command that sends requests. None is a secret, as other users can see arguments. */
export interface ConnectionOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly server?: string;
  readonly tokenCommand?: string;
  readonly caller?: string;
  readonly identityFile?: string;
  readonly identityCommand?: string;
  readonly signingKeyFile?: string;
  readonly requireSignatures?: true;
  readonly insecure?: true;
  readonly json?: true;
}

const DEFAULT_SERVER = 'http://localhost:4000/secrets';

/** The limit of the contract. */
const MAX_CALLER_LENGTH = 128;

/** Commands that print the output of a program, a template or a file of a format that the user chooses. */
const WITHOUT_JSON: readonly string[] = ['run', 'mcp', 'webhook', 'inject', 'export'];

/** Adds the options for the connection, and `--json` unless the command describes it itself. */
export function addConnectionOptions(command: Command): Command {
  const hasJson = command.options.some(({ long }) => long === '--json');
  if (!hasJson && !WITHOUT_JSON.includes(command.name())) {
    command.option('--json', 'print the result, or the error, as JSON');
  }
  return command
    .optionsGroup('Connection:')
    .option('--server <address>', `URL of the service [TRELLIS_SECRETS_SERVER] (default: ${DEFAULT_SERVER})`)
    .option(
      '--token-command <command>',
      'command that prints the token [TRELLIS_SECRETS_TOKEN, TRELLIS_SECRETS_TOKEN_COMMAND]',
    )
    .option('--caller <name>', 'name of this client in the audit log [TRELLIS_SECRETS_CALLER]')
    .option(
      '--identity-file <file>',
      'file with the identity that opens values [TRELLIS_SECRETS_IDENTITY, TRELLIS_SECRETS_IDENTITY_FILE]',
    )
    .option('--identity-command <command>', 'command that prints the identity [TRELLIS_SECRETS_IDENTITY_COMMAND]')
    .option(
      '--signing-key-file <file>',
      'Ed25519 key of OpenSSH that signs values [TRELLIS_SECRETS_SIGNING_KEY, TRELLIS_SECRETS_SIGNING_KEY_FILE, ' +
        'TRELLIS_SECRETS_SIGNING_KEY_COMMAND] (default: the file of "keygen", if it exists)',
    )
    .option(
      '--require-signatures',
      'reject values that no trusted writer has signed [TRELLIS_SECRETS_REQUIRE_SIGNATURES=1]',
    )
    .option(
      '--insecure',
      'send the token over plain http to a host other than this machine [TRELLIS_SECRETS_INSECURE=1]',
    )
    .option('--config <file>', 'settings file of "trellis secrets init" [TRELLIS_SECRETS_CONFIG]')
    .option('--profile <name>', 'name of the settings, such as work [TRELLIS_SECRETS_PROFILE]');
}

/**
 * Resolves the settings from flags, environment, file and defaults, in this order. All ways to
 * give a token, or an identity, count as one setting.
 *
 * @throws CommandFailure for an invalid setting.
 */
export async function readSettings(flags: ConnectionOptions, env: Environment): Promise<SecretsSettings> {
  const file = (await readSettingsFile(settingsPath(flags, env))) ?? assertNotNamed(flags, env);
  const url = findServer(flags, env, file);
  assertSecure(url, flags, env);
  return {
    server: url,
    token: findToken(flags, env, file),
    caller: parseCaller(nonEmpty(flags.caller) ?? nonEmpty(env.TRELLIS_SECRETS_CALLER) ?? file.caller),
    identity: findIdentity(flags, env, file),
    signingKey: findSigningKey(flags, env, file),
    requiresSignatures: flags.requireSignatures ?? env.TRELLIS_SECRETS_REQUIRE_SIGNATURES === '1',
  };
}

/** Returns the URL of the service from a flag, the environment, the file, or the default. */
export const findServer = (
  { server }: Pick<ConnectionOptions, 'server'>,
  env: Environment,
  file: Pick<SettingsFile, 'server'>,
): string => toServiceUrl(nonEmpty(server) ?? nonEmpty(env.TRELLIS_SECRETS_SERVER) ?? file.server ?? DEFAULT_SERVER);

/** A file, or a profile, that the user names must exist. */
function assertNotNamed(flags: FileOptions, env: Environment): SettingsFile {
  if (flags.config === undefined && findProfile(flags, env) === undefined) return {};
  throw new CommandError(`${settingsPath(flags, env)}: no settings file here`, EXIT.usage);
}

/**
 * Completes a bare origin by the path of the service.
 *
 * @throws CommandFailure unless it is an http URL without credentials.
 */
export function toServiceUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isFit = url && ['http:', 'https:'].includes(url.protocol) && !url.username && !url.password && !url.search;
  if (!isFit) {
    throw new CommandError('Expected the URL of the server, such as https://trellis.example.org/secrets', EXIT.usage);
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/secrets' : path}`;
}

/**
 * Asserts that a token can be sent to a service: by https, or to this machine.
 *
 * @throws CommandError otherwise, unless the user allows it.
 */
export function assertSecure(
  server: string,
  { insecure }: Pick<ConnectionOptions, 'insecure'>,
  env: Environment,
): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'https:' || isLoopback(hostname) || insecure || env.TRELLIS_SECRETS_INSECURE === '1') return;
  throw new CommandError(
    `${server} is not https: everyone on the way to it could read the token. Use https, or --insecure in a trusted network`,
    EXIT.refused,
  );
}

const isLoopback = (hostname: string): boolean =>
  /^(?:.+\.)?localhost$/.test(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname) || hostname === '[::1]';

function parseCaller(caller: string | undefined): string | undefined {
  if (caller === undefined || (/^[\x20-\x7e]+$/.test(caller) && caller.length <= MAX_CALLER_LENGTH)) return caller;
  throw new CommandError(`Expected a client name of at most ${MAX_CALLER_LENGTH} ASCII characters`, EXIT.usage);
}

function findToken(flags: ConnectionOptions, env: Environment, file: SettingsFile): SecretSource | undefined {
  if (flags.tokenCommand) return { command: flags.tokenCommand };
  if (env.TRELLIS_SECRETS_TOKEN) return { text: env.TRELLIS_SECRETS_TOKEN };
  if (env.TRELLIS_SECRETS_TOKEN_COMMAND) return { command: env.TRELLIS_SECRETS_TOKEN_COMMAND };
  if (file.token) return { text: file.token };
  return file.tokenCommand ? { command: file.tokenCommand } : undefined;
}

function findIdentity(flags: ConnectionOptions, env: Environment, file: SettingsFile): SecretSource | undefined {
  if (flags.identityFile) return { file: flags.identityFile };
  if (flags.identityCommand) return { command: flags.identityCommand };
  if (env.TRELLIS_SECRETS_IDENTITY) return { text: env.TRELLIS_SECRETS_IDENTITY };
  if (env.TRELLIS_SECRETS_IDENTITY_FILE) return { file: env.TRELLIS_SECRETS_IDENTITY_FILE };
  if (env.TRELLIS_SECRETS_IDENTITY_COMMAND) return { command: env.TRELLIS_SECRETS_IDENTITY_COMMAND };
  if (file.identityFile) return { file: file.identityFile };
  return file.identityCommand ? { command: file.identityCommand } : undefined;
}

function findSigningKey(flags: ConnectionOptions, env: Environment, file: SettingsFile): SecretSource | undefined {
  if (flags.signingKeyFile) return { file: flags.signingKeyFile };
  if (env.TRELLIS_SECRETS_SIGNING_KEY) return { text: env.TRELLIS_SECRETS_SIGNING_KEY };
  if (env.TRELLIS_SECRETS_SIGNING_KEY_FILE) return { file: env.TRELLIS_SECRETS_SIGNING_KEY_FILE };
  if (env.TRELLIS_SECRETS_SIGNING_KEY_COMMAND) return { command: env.TRELLIS_SECRETS_SIGNING_KEY_COMMAND };
  if (file.signingKeyFile) return { file: file.signingKeyFile };
  if (file.signingKeyCommand) return { command: file.signingKeyCommand };
  const usual = signingKeyPath(env);
  return existsSync(usual) ? { file: usual } : undefined;
}

/** Returns the file of the signing key that `keygen` creates. */
export const signingKeyPath = (env: Environment): string => join(settingsFolder(env), 'signing-key');

/** Treats an empty variable or option as unset. */
export const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** The settings that `trellis secrets init` writes. */
export interface SettingsFile {
  readonly server?: string;
  readonly token?: string;
  readonly tokenCommand?: string;
  readonly caller?: string;
  readonly identityFile?: string;
  readonly identityCommand?: string;
  readonly signingKeyFile?: string;
  readonly signingKeyCommand?: string;
}

const NAMES = [
  ...['server', 'token', 'tokenCommand', 'caller', 'identityFile', 'identityCommand'],
  ...['signingKeyFile', 'signingKeyCommand'],
];

/** Well above the size of any valid file. */
const MAX_BYTES = 65_536;

/** Returns the folder of the user's settings and identity. */
export function settingsFolder(env: Environment): string {
  return join(nonEmpty(env.XDG_CONFIG_HOME) ?? join(nonEmpty(env.HOME) ?? homedir(), '.config'), 'trellis');
}

/** Returns the folder of what this machine has seen of services. */
export function stateFolder(env: Environment): string {
  return join(nonEmpty(env.XDG_STATE_HOME) ?? join(nonEmpty(env.HOME) ?? homedir(), '.local/state'), 'trellis');
}

type FileOptions = Pick<ConnectionOptions, 'config' | 'profile'>;

const findProfile = ({ profile }: FileOptions, env: Environment): string | undefined =>
  nonEmpty(profile) ?? nonEmpty(env.TRELLIS_SECRETS_PROFILE);

/**
 * Returns the path of the settings file: `secrets.json`, or `secrets.<name>.json` for a profile.
 *
 * @throws CommandFailure for an invalid name of a profile.
 */
export function settingsPath(flags: FileOptions, env: Environment): string {
  const named = flags.config ?? (flags.profile === undefined ? nonEmpty(env.TRELLIS_SECRETS_CONFIG) : undefined);
  if (named !== undefined) return named;
  const profile = findProfile(flags, env);
  if (profile === undefined) return join(settingsFolder(env), 'secrets.json');
  if (/^[\w-]{1,64}$/.test(profile)) return join(settingsFolder(env), `secrets.${profile}.json`);
  throw new CommandError('Expected a profile of at most 64 letters, digits, _ and -', EXIT.usage);
}

/** @throws CommandFailure when other users can read or change it, or when it is invalid; messages never contain its content. */
export async function readSettingsFile(file: string): Promise<SettingsFile | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => throwUnreadable(error, file));
  if (text === undefined) return undefined;
  await assertPrivate(file);
  const settings = parse(text);
  if (settings !== undefined) return settings;
  throw new CommandError(`${file}: expected a JSON object with string members ${NAMES.join(', ')}`, EXIT.usage);
}

function throwUnreadable(error: unknown, file: string): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return undefined;
  throw new CommandError(`${file}: the file can't be read: ${code ?? 'unknown error'}`, EXIT.usage);
}

/** Windows has no file modes. */
async function assertPrivate(file: string): Promise<void> {
  const { mode = 0 } = await stat(file).catch(() => ({ mode: undefined }));
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  throw new CommandError(`${file}: other users can read this file. Run chmod 600 on it`, EXIT.usage);
}

function parse(text: string): SettingsFile | undefined {
  if (text.length > MAX_BYTES) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    const entries = Object.entries(content as object);
    return entries.every(([name, value]) => NAMES.includes(name) && typeof value === 'string')
      ? (content as SettingsFile)
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeSettingsFile(file: string, settings: SettingsFile): Promise<void> {
  return writePrivateFile(file, `${JSON.stringify(settings, undefined, 2)}\n`);
}

/**
 * Writes a file with mode 0600 atomically, and never into a file that other users have open. Links are followed, and pipes
 * and devices such as `/dev/stdout` are written to, unless they belong to other users.
 */
export async function writePrivateFile(name: string, content: Uint8Array | string): Promise<void> {
  const found = await findOwnFile(name);
  if (found && !found.isFile()) {
    await writeFile(name, content);
    return;
  }
  const file = found ? await realpath(name) : name;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Returns the file that a name leads to; `undefined` if it was not found, or if it or its link belongs to a different user. */
async function findOwnFile(name: string): Promise<Stats | undefined> {
  const isOwn = ({ uid }: Stats): boolean => uid === 0 || uid === process.getuid?.();
  try {
    const [link, found] = await Promise.all([lstat(name), stat(name)]);
    return isOwn(link) && isOwn(found) ? found : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The time to wait for another command that changes the same file, which takes milliseconds, or was killed. */
const LOCK_MS = 5_000;
const LOCK_CHECK_MS = 10;

/** Runs `work`, which changes a file, while no other command does. */
export async function withFileLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${file}.lock`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const giveUpAt = performance.now() + LOCK_MS;
  while (!(await createLock(lock))) {
    if (performance.now() > giveUpAt) await rm(lock, { force: true });
    else await sleep(LOCK_CHECK_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** @returns whether the lock did not exist. */
async function createLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The source of a credential: its text, a file, or a command that prints it. */
export type SecretSource = { readonly text: string } | { readonly file: string } | { readonly command: string };

/** Time to type a passphrase. */
const COMMAND_TIMEOUT_MS = 300_000;

/** A token has 54 characters, an identity file a few hundred. */
const MAX_LENGTH = 65_536;

/**
 * Reads a credential. Messages contain its name, `what`, and never its value.
 *
 * @throws CommandFailure when the file or the command returns none.
 */
export async function readSecretSource(source: SecretSource, what: string): Promise<string> {
  const text = 'text' in source ? source.text : await readOther(source, what);
  if (text.trim() === '') throw new CommandError(`Can't read ${what}: ${describe(source)} is empty`, EXIT.refused);
  return text.trim();
}

async function readOther(source: Exclude<SecretSource, { readonly text: string }>, what: string): Promise<string> {
  if ('command' in source) return runSource(source.command, what);
  if (await isOwnFile(source.file)) await assertPrivate(source.file);
  return readFile(source.file, 'utf8').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`Can't read ${what} from ${source.file}: ${code ?? 'unknown error'}`, EXIT.refused);
  });
}

/**
 * Reports whether this user can change the mode of a file. As in OpenSSH, others determine who reads the rest: systemd gives
 * credentials to a user by an ACL, which the mode shows as a group, and containers get secrets of root.
 */
const isOwnFile = (file: string): Promise<boolean> =>
  stat(file).then(
    ({ uid }) => uid === process.getuid?.(),
    () => false,
  );

const describe = (source: SecretSource): string =>
  'file' in source ? source.file : 'command' in source ? 'the output of its command' : 'the given value';

/** Standard error is shown to the user. Standard input may carry the value, so the command gets none. */
function runSource(command: string, what: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new CommandError(`Can't read ${what} from its command: ${why}`, EXIT.refused));
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: COMMAND_TIMEOUT_MS,
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_LENGTH) child.kill();
    });
    child.on('error', (error) => fail((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    child.on('close', (code, signal) => {
      if (code === 0 && text.length <= MAX_LENGTH) resolve(text);
      else if (text.length > MAX_LENGTH) fail(`it printed more than ${MAX_LENGTH} characters`);
      else if (signal === 'SIGTERM') fail(`it took longer than ${COMMAND_TIMEOUT_MS / 1000} seconds, or was ended`);
      else fail(`it ended with ${signal ?? `exit code ${code ?? 'unknown'}`}`);
    });
  });
}

/** The variables of credentials of `trellis secrets`, which programs must not receive. */
const WITHHELD = [
  ...['TRELLIS_SECRETS_TOKEN', 'TRELLIS_SECRETS_IDENTITY', 'TRELLIS_SECRETS_ID_TOKEN'],
  'TRELLIS_SECRETS_SIGNING_KEY',
];

/** Returns an environment without the credentials of this command. */
export const withoutCredentials = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !WITHHELD.includes(name)));
