/** `trellis login`, `logout` and `whoami`: a token for this machine, by the device flow (RFC 8628). */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { decodeError } from '@trellis/client/errors';
import { type Command, Option } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { components, SecretsClient } from '../../generated/secrets/client.js';
import { unwrapResult, withContext } from './context.js';
import { EXIT, toCommandError, collectValues, omitUndefined } from './options.js';
import {
  addConnectionOptions,
  assertSecure,
  type ConnectionOptions,
  findServer,
  readSecretSource,
  readSettingsFile,
  type SettingsFile,
  settingsPath,
  writeSettingsFile,
} from './settings.js';
import {
  type Environment,
  type Terminal,
  stripControlCharacters,
  toDateText,
  toJson,
  writeOutput,
} from './terminal.js';

interface LoginOptions extends Pick<ConnectionOptions, 'config' | 'insecure' | 'json' | 'profile' | 'server'> {
  readonly permission?: readonly string[];
  readonly name?: string;
  readonly store?: 'file' | 'keyring';
}

export function addLoginCommands(secrets: Command, terminal: Terminal): void {
  secrets
    .command('login')
    .description('Get a token for this machine: approve it on a page with a passkey')
    .option('--server <address>', 'URL of the service [TRELLIS_SECRETS_SERVER]')
    .option(
      '--permission <permission>',
      'list, read, write or manage; repeatable (default: the first three)',
      collectValues,
    )
    .option('--name <name>', 'name of this machine on the page (default: user and host name)')
    .addOption(
      new Option('--store <place>', 'where the token is stored: in the settings file, or in the keyring of the system')
        .choices(['file', 'keyring'])
        .default('file'),
    )
    .option('--insecure', 'allow a service over plain http that is not on this machine [TRELLIS_SECRETS_INSECURE=1]')
    .option('--config <file>', 'settings file to write [TRELLIS_SECRETS_CONFIG]')
    .option('--profile <name>', 'name of the settings, to have several [TRELLIS_SECRETS_PROFILE]')
    .option('--json', 'print the result, or the error, as JSON')
    .addHelpText(
      'after',
      `
The command shows a code, which you enter on a page of the server. There you choose the permissions and the lifetime.
The other settings in the file stay. The keyring is that of secret-tool (Linux) or security (macOS).

Example:
  trellis login --server https://trellis.example.org`,
    )
    .action((flags: LoginOptions) => withErrors(() => login(flags, terminal)));
  secrets
    .command('logout')
    .description('Revoke the token that "login" has stored, and remove it from this machine')
    .option('--insecure', 'allow a service over plain http that is not on this machine [TRELLIS_SECRETS_INSECURE=1]')
    .option('--config <file>', 'settings file [TRELLIS_SECRETS_CONFIG]')
    .option('--profile <name>', 'name of the settings [TRELLIS_SECRETS_PROFILE]')
    .option('--json', 'print the result, or the error, as JSON')
    .action((flags: LoginOptions) => withErrors(() => logout(flags, terminal)));
  addConnectionOptions(
    secrets.command('whoami').description('Show the token in use, with its permissions and its end'),
  ).action((flags: ConnectionOptions) =>
    withContext(terminal, flags, async ({ client, server }) => {
      const token = await unwrapResult(client.GET('/auth/token'));
      const text = flags.json ? toJson({ server, ...token }) : `${server}\n${describeToken(token)}\n`;
      await writeOutput(terminal.out, text);
    }),
  );
}

async function withErrors(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    throw toCommandError(error);
  });
}

const CLIENT_ID = 'trellis-cli';

async function login(flags: LoginOptions, terminal: Terminal): Promise<void> {
  const { env, err, out } = terminal;
  const file = resolve(settingsPath(flags, env));
  const settings = (await readSettingsFile(file)) ?? {};
  const server = findServer(flags, env, settings);
  assertSecure(server, flags, env);
  assertSameServer(server, { settings, env, file });
  // Before the user approves a token that could not be stored.
  const keyring = flags.store === 'keyring' ? findKeyring(env) : undefined;
  const client = await openClient(server);
  const { permission, name = nameMachine() } = flags;
  const scope = permission?.join(' ');
  const body = { client_id: CLIENT_ID, device_name: name.slice(0, 128), ...omitUndefined({ scope }) };
  const codes = await unwrapResult(client.POST('/auth/device', { body }));
  err.write(
    `Open ${stripControlCharacters(codes.verification_uri)} and enter the code ${stripControlCharacters(codes.user_code)}\n` +
      `The page shows this machine as "${name}". Waiting for the approval…\n`,
  );
  const token = await waitForToken(client, codes, terminal);
  const { token: _old, tokenCommand: _command, ...kept } = settings;
  try {
    const tokenCommand = keyring && (await storeInKeyring(keyring, file, token));
    await writeSettingsFile(file, { ...kept, server, ...(tokenCommand === undefined ? { token } : { tokenCommand }) });
  } catch (error) {
    // Nobody has this token, and it would stay valid for weeks.
    await client.POST('/auth/revoke', { body: { token } }).catch(() => undefined);
    throw error;
  }
  const described = await unwrapResult((await openClient(server, token)).GET('/auth/token'));
  if (flags.json) await writeOutput(out, toJson({ server, file, store: flags.store, ...described }));
  else err.write(`Logged in to ${server}. ${describeToken(described)}\nWrote ${file}, readable only by you.\n`);
}

interface StoredToken {
  readonly settings: SettingsFile;
  readonly env: Environment;
  readonly file: string;
}

/** Rejects a login that would replace the token for another server, which would stay valid without an owner. */
function assertSameServer(server: string, { settings, env, file }: StoredToken): void {
  const hasToken = settings.token !== undefined || settings.tokenCommand !== undefined;
  // Without a server in the file, its token is for that of the environment.
  const known = findServer({}, settings.server === undefined ? env : {}, settings);
  if (!hasToken || known === server) return;
  const remedy = 'Revoke it with "trellis logout", or add --profile to keep both';
  throw new CommandError(`${file} has a token for ${known}. ${remedy}`, EXIT.usage);
}

/** A user without an entry in the system has no name, as in a container with a user id of its own. */
function nameMachine(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname();
  }
}

async function openClient(server: string, token = ''): Promise<SecretsClient> {
  const { createSecretsClient } = await import('../../generated/secrets/client.js');
  return createSecretsClient(server, { token, onWarning: () => undefined });
}

/** RFC 8628, section 3.5. */
const SLOW_DOWN_SECONDS = 5;

/** The longest pause while the server does not respond: the user notices the end of a longer one. */
const MAX_WAIT_SECONDS = 20;

async function waitForToken(
  client: SecretsClient,
  { device_code: deviceCode, interval, expires_in: expiresIn }: components['schemas']['DeviceCodes'],
  { sleep = sleepFor }: Terminal,
): Promise<string> {
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: deviceCode,
    client_id: CLIENT_ID,
  };
  let seconds = interval;
  for (let waited = 0; waited <= expiresIn; waited += seconds) {
    await sleep(seconds * 1_000);
    // The server may restart while the user looks for a passkey.
    const polled = await client.POST('/auth/device/token', { body }).catch(requireNetworkError);
    if (polled === undefined || polled.response.status >= 500) {
      seconds = Math.min(seconds * 2, MAX_WAIT_SECONDS);
      continue;
    }
    const { data, error, response } = polled;
    if (data) return assertToken(data.access_token);
    const name = response.status === 400 ? (error as { readonly error?: string } | undefined)?.error : undefined;
    if (name === 'slow_down') seconds += SLOW_DOWN_SECONDS;
    else if (name === 'access_denied') throw new CommandError('The request was denied on the page', EXIT.refused);
    else if (name === 'expired_token') break;
    else if (name !== 'authorization_pending') throw decodeError(response, error) ?? new Error('unexpected response');
  }
  throw new CommandError('The code has expired. Start the command again', EXIT.refused);
}

/** Asserts that a token is one of RFC 6750, as it is quoted in the commands of a keyring. */
function assertToken(token: string): string {
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  throw new CommandError('The response of the server is not a valid token', EXIT.failed);
}

function requireNetworkError(error: unknown): undefined {
  if (!['TimeoutError', 'TypeError'].includes((error as Error).name)) throw error;
}

type OwnToken = components['schemas']['OwnToken'];

function describeToken({ kind, id = '', description, consumer, expires_at: end, access }: OwnToken): string {
  const { permissions, name_prefix: prefix, tags, consumers, addresses } = access ?? {};
  const lists = { 'with the tags': tags, 'of the consumers': consumers, 'from the addresses': addresses };
  const limits = [
    ...(kind === 'consumer' ? [`reads the secrets of ${consumer ?? ''}`] : []),
    ...(kind === 'write' ? [`may ${(permissions ?? ['list', 'read', 'write', 'manage']).join(', ')}`] : []),
    ...(prefix === undefined ? [] : [`names that start with ${prefix}`]),
    ...Object.entries(lists).flatMap(([label, list]) => (list ? [`${label} ${list.join(', ')}`] : [])),
  ];
  const named = description === undefined ? '' : ` "${description}"`;
  return stripControlCharacters(`Token ${id}${named}, valid until ${toDateText(end)}: ${limits.join('; ')}`);
}

async function logout(flags: LoginOptions, { env, err, out }: Terminal): Promise<void> {
  const file = resolve(settingsPath(flags, env));
  const { token: text, tokenCommand, ...kept }: SettingsFile = (await readSettingsFile(file)) ?? {};
  const server = findServer({}, {}, kept);
  const keyring = tokenCommand === undefined ? undefined : findKeyringOf(tokenCommand, file, env);
  const source = text === undefined ? keyring && { command: tokenCommand ?? '' } : { text };
  if (source === undefined) {
    const reason =
      tokenCommand === undefined ? 'has no token' : 'gets its token from a command, which only you can change';
    throw new CommandError(`${file} ${reason}`, EXIT.usage);
  }
  assertSecure(server, flags, env);
  const token = await readSecretSource(source, 'the token');
  // First, so that a token which could not be revoked is not lost.
  await unwrapResult((await openClient(server)).POST('/auth/revoke', { body: { token } }));
  if (keyring) await runKeyring(keyring, keyring.clear(file));
  await writeSettingsFile(file, kept);
  if (flags.json) await writeOutput(out, toJson({ server, file }));
  else err.write(`Revoked the token for ${server}, and removed it from this machine.\n`);
}

/** A program that stores a token for the user. The token is passed by standard input, as others can see arguments. */
interface Keyring {
  readonly program: string;
  /** The arguments and the input that store a token. */
  readonly store: (account: string, token: string) => KeyringCall;
  readonly lookup: (account: string) => readonly string[];
  readonly clear: (account: string) => KeyringCall;
}

interface KeyringCall {
  readonly args: readonly string[];
  readonly input?: string;
}

const SERVICE = 'trellis';

const KEYRINGS: readonly Keyring[] = [
  {
    program: 'secret-tool',
    store: (account, input) => ({
      args: ['store', '--label', 'Trellis token', 'service', SERVICE, 'account', account],
      input,
    }),
    lookup: (account) => ['lookup', 'service', SERVICE, 'account', account],
    clear: (account) => ({ args: ['clear', 'service', SERVICE, 'account', account] }),
  },
  {
    program: 'security',
    // With -i, the command itself is read from standard input.
    store: (account, token) => ({
      args: ['-i'],
      input: `add-generic-password -U -s ${SERVICE} -a ${quote(account)} -w ${quote(token)}\n`,
    }),
    lookup: (account) => ['find-generic-password', '-s', SERVICE, '-a', account, '-w'],
    clear: (account) => ({ args: ['delete-generic-password', '-s', SERVICE, '-a', account] }),
  },
];

/** Quotes a word for a shell. */
const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function findKeyring(env: Environment): Keyring {
  const found = KEYRINGS.find(({ program }) =>
    (env.PATH ?? '').split(delimiter).some((folder) => isProgram(join(folder, program))),
  );
  if (found) return found;
  throw new CommandError(
    'No keyring found: --store keyring requires secret-tool (Linux) or security (macOS)',
    EXIT.usage,
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const toTokenCommand = ({ program, lookup }: Keyring, account: string): string =>
  [program, ...lookup(account).map(quote)].join(' ');

/** Returns the keyring whose command `login` has stored; `undefined` for a command of the user. */
function findKeyringOf(tokenCommand: string, account: string, env: Environment): Keyring | undefined {
  const known = KEYRINGS.some((keyring) => toTokenCommand(keyring, account) === tokenCommand);
  return known ? findKeyring(env) : undefined;
}

/** @returns the command that prints the token. */
async function storeInKeyring(keyring: Keyring, account: string, token: string): Promise<string> {
  await runKeyring(keyring, keyring.store(account, token));
  return toTokenCommand(keyring, account);
}

async function runKeyring({ program }: Keyring, { args, input = '' }: KeyringCall): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise<number | null>((done, fail) => child.once('error', fail).once('exit', done));
  // A program that ends early closes the pipe.
  child.stdin.on('error', () => undefined).end(input);
  const code = await ended;
  if (code !== 0)
    throw new CommandError(`The keyring could not be used: ${program} ended with ${code ?? 'a signal'}`, EXIT.failed);
}
