import { CommandError } from '../../config/startup-error.js';
import type { Command } from 'commander';
import { EXIT } from './exit-codes.js';
import { readSettingsFile, settingsPath } from './settings-file.js';
import type { SettingsFile } from './settings-file.js';
import type { SecretSource } from './secret-source.js';
import { nonEmpty } from './terminal.js';
import type { Environment } from './terminal.js';

/** The URL of the service, and the credential. */
export interface SecretsSettings {
  /** Without a trailing slash. */
  readonly server: string;
  readonly token: SecretSource | undefined;
  /** The client name in the audit log. */
  readonly caller: string | undefined;
  readonly identity: SecretSource | undefined;
}

/** The options of every command that sends requests. None is a secret, as other users can see arguments. */
export interface ConnectionOptions {
  readonly config?: string;
  readonly server?: string;
  readonly tokenCommand?: string;
  readonly caller?: string;
  readonly identityFile?: string;
  readonly identityCommand?: string;
}

const DEFAULT_SERVER = 'http://localhost:4000/secrets';

/** The limit of the contract. */
const MAX_CALLER_LENGTH = 128;

export function addConnectionOptions(command: Command): Command {
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
    .option('--config <file>', 'settings file of "trellis secrets init" [TRELLIS_SECRETS_CONFIG]');
}

/**
 * Resolves the settings from flags, environment, file and defaults, in this order. All ways to
 * give a token, or an identity, count as one setting.
 *
 * @throws CommandFailure for an invalid setting.
 */
export async function readSettings(flags: ConnectionOptions, env: Environment): Promise<SecretsSettings> {
  const file = (await readSettingsFile(flags.config ?? settingsPath(env))) ?? (await assertNotNamed(flags));
  const server = nonEmpty(flags.server) ?? nonEmpty(env.TRELLIS_SECRETS_SERVER) ?? file.server ?? DEFAULT_SERVER;
  return {
    server: toServiceUrl(server),
    token: findToken(flags, env, file),
    caller: parseCaller(nonEmpty(flags.caller) ?? nonEmpty(env.TRELLIS_SECRETS_CALLER) ?? file.caller),
    identity: findIdentity(flags, env, file),
  };
}

/** A file that the user names must exist. */
async function assertNotNamed({ config }: ConnectionOptions): Promise<SettingsFile> {
  if (config === undefined) return {};
  throw new CommandError(`${config}: no settings file here`, EXIT.usage);
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
