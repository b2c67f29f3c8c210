import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { isForeignIdentity } from './age/open-value.js';
import { type CommandContext, loadSealing, openContext, unwrapResult, withContext } from './context.js';
import { EXIT, toCommandError, omitUndefined } from './options.js';
import {
  addConnectionOptions,
  assertSecure,
  type ConnectionOptions,
  readSecretSource,
  type SettingsFile,
  settingsFolder,
  settingsPath,
  signingKeyPath,
  toServiceUrl,
  writePrivateFile,
  writeSettingsFile,
} from './settings.js';
import {
  type Terminal,
  prompt,
  promptHidden,
  readValue,
  stripControlCharacters,
  toJson,
  writeOutput,
} from './terminal.js';

interface InitOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly server?: string;
  readonly tokenCommand?: string;
  readonly tokenStdin?: true;
  readonly caller?: string;
  readonly identityFile?: string;
  readonly identityCommand?: string;
  readonly newIdentity?: true;
  readonly newSigningKey?: true;
  readonly force?: true;
  readonly insecure?: true;
  readonly json?: true;
}

/** `trellis secrets init`: asks for the settings of the other commands, and stores them with mode 0600. */
export function addInitCommand(secrets: Command, terminal: Terminal): void {
  secrets
    .command('init')
    .description('Set up this machine: ask for service, token and identity, and write them to a file with mode 0600')
    .option('--server <address>', 'URL of the service')
    .option('--token-stdin', 'read the token from standard input')
    .option('--token-command <command>', 'command that prints the token, stored instead of a token')
    .option('--caller <name>', 'name of this client in the audit log')
    .option('--identity-file <file>', 'file with the identity that opens values')
    .option('--identity-command <command>', 'command that prints the identity')
    .option('--new-identity', 'create the file with a new identity')
    .option('--new-signing-key', 'create the key with which this machine signs values')
    .option('--insecure', 'allow a service over plain http that is not on this machine')
    .option('--config <file>', 'file to write [TRELLIS_SECRETS_CONFIG]')
    .option('--profile <name>', 'name of these settings, to have several [TRELLIS_SECRETS_PROFILE]')
    .option('--force', 'overwrite an existing file')
    .option('--json', 'print the result, or the error, as JSON')
    .addHelpText(
      'after',
      `
On a terminal it asks for values without an option. The token is not shown while you type.

A signing key is created only on request, because readers then reject values that are stored without it.

Examples:
  trellis secrets init
  trellis secrets init --server https://trellis.example.org/secrets --token-command 'pass show trellis' --new-identity`,
    )
    .action(async (flags: InitOptions) => {
      try {
        await initialize(flags, terminal);
      } catch (error) {
        throw toCommandError(error);
      }
    });
}

const LOCAL_SERVER = 'http://localhost:4000/secrets';

/** Writes the settings before it checks them, so that nothing has to be entered again after an error. */
async function initialize(flags: InitOptions, terminal: Terminal): Promise<void> {
  const file = resolve(settingsPath(flags, terminal.env));
  if (!flags.force && (await exists(file))) {
    throw new CommandError(`${file} already exists. Use --force to overwrite it`, EXIT.conflict);
  }
  const settings = await gather(flags, terminal);
  await writeSettingsFile(file, settings);
  terminal.err.write(`Wrote ${file}, readable only by you.\n`);
  await printPublicKeys(settings, terminal);
  await createSigningKey(flags, terminal, settings);
  // Without the other variables, as they would override the file that is checked.
  const { PATH, HOME, TRELLIS_SECRETS_INSECURE } = terminal.env;
  const { insecure } = flags;
  const env = { PATH, HOME, TRELLIS_SECRETS_INSECURE };
  await checkService(await openContext({ config: file, ...(insecure && { insecure }) }, { ...terminal, env }), flags);
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function gather(flags: InitOptions, terminal: Terminal): Promise<SettingsFile> {
  const isGuided = terminal.in.isTTY === true && !flags.tokenStdin;
  const server = flags.server ?? (isGuided ? await prompt(terminal, 'URL of the service', LOCAL_SERVER) : LOCAL_SERVER);
  const url = toServiceUrl(server);
  // Before the user enters a token that would not be sent.
  assertSecure(url, flags, terminal.env);
  return {
    server: url,
    ...(await gatherToken(flags, terminal, isGuided)),
    ...omitUndefined({ caller: flags.caller }),
    ...(await gatherIdentity(flags, terminal, isGuided)),
  };
}

async function gatherToken(flags: InitOptions, terminal: Terminal, isGuided: boolean): Promise<SettingsFile> {
  const { tokenCommand, tokenStdin } = flags;
  if (tokenCommand !== undefined) return { tokenCommand };
  if (tokenStdin) return { token: await readToken(terminal) };
  if (!isGuided) throw new CommandError('Set --token-command or --token-stdin', EXIT.usage);
  const token = await promptHidden(terminal, 'Token (not shown; leave empty to enter a command that prints it)');
  return token === '' ? { tokenCommand: await prompt(terminal, 'Command that prints the token') } : { token };
}

/** @throws CommandError for an empty input, as after a command before the pipe that has failed. */
async function readToken(terminal: Terminal): Promise<string> {
  const token = (await readValue(undefined, { in: terminal.in })).toString().trim();
  if (token === '') throw new CommandError('No token on standard input, so no settings were written', EXIT.usage);
  return token;
}

async function gatherIdentity(flags: InitOptions, terminal: Terminal, isGuided: boolean): Promise<SettingsFile> {
  const { identityFile, identityCommand, newIdentity } = flags;
  if (identityCommand !== undefined) return { identityCommand };
  const usual = join(settingsFolder(terminal.env), 'identity.txt');
  const named =
    identityFile ?? (isGuided ? await prompt(terminal, 'File with the identity that opens values', usual) : undefined);
  if (named === undefined && !newIdentity) return {};
  const file = resolve(named ?? usual);
  const isPresent = await exists(file);
  if (isPresent && newIdentity)
    throw new CommandError(`${file} already exists and is not overwritten; use it with --identity-file`, EXIT.conflict);
  if (isPresent) return { identityFile: file };
  // A file that is named without a terminal may be created later.
  if (isGuided && !newIdentity && !(await agrees(terminal, file))) return {};
  if (newIdentity || isGuided) await makeIdentity(file);
  return { identityFile: file };
}

const agrees = async (terminal: Terminal, file: string): Promise<boolean> =>
  /^y/i.test(await prompt(terminal, `${file} does not exist. Create a new identity there?`, 'yes'));

async function makeIdentity(file: string): Promise<void> {
  const { generateIdentity, toRecipients } = await loadSealing();
  const identity = await generateIdentity();
  const [recipient = ''] = await toRecipients(identity);
  await writePrivateFile(file, `# public key: ${recipient}\n${identity}\n`);
}

/** Creates the signing key of this machine in its usual file, if the user requests or confirms it. */
async function createSigningKey(flags: InitOptions, terminal: Terminal, { token }: SettingsFile): Promise<void> {
  const file = signingKeyPath(terminal.env);
  if (!flags.newSigningKey) {
    // Consumers store no values.
    const isOffered = terminal.in.isTTY === true && !flags.tokenStdin && !token?.startsWith('trc_');
    if (!isOffered || (await exists(file))) return;
    if (!/^y/i.test(await prompt(terminal, 'Create a key that signs the values you store?', 'yes'))) return;
  }
  const { writeSigningKey } = await import('./signatures.js');
  const { key } = await writeSigningKey(file);
  terminal.err.write(`Public key of the signing key: ${key}\n`);
}

/** Prints the public keys of the identity, if one is configured. */
async function printPublicKeys({ identityFile, identityCommand }: SettingsFile, { err }: Terminal): Promise<void> {
  const source = identityFile ? { file: identityFile } : identityCommand ? { command: identityCommand } : undefined;
  if (source === undefined) return;
  const identity = await readSecretSource(source, 'an identity');
  if (isForeignIdentity(identity)) return;
  const { toRecipients } = await loadSealing();
  for (const recipient of await toRecipients(identity)) {
    err.write(`Public key of the identity: ${recipient}\n`);
  }
}

/** `trellis secrets status`: checks the service and the token. */
export function addStatusCommand(secrets: Command, terminal: Terminal): void {
  const status = secrets.command('status').description('Check that the service responds and accepts the token');
  addConnectionOptions(status).action((flags: ConnectionOptions) =>
    withContext(terminal, flags, (session) => checkService(session, flags)),
  );
}

/** @throws CommandFailure when the service is not found, or rejects the token. */
async function checkService(session: CommandContext, { json }: ConnectionOptions): Promise<void> {
  const { client, server, terminal } = session;
  const health = client.GET('/healthz');
  const { version, environment } = await unwrapResult(health);
  const hasSameContract = (await health).response.headers.get('X-Trellis-Revision') === client.revision;
  const { data, response } = await client.GET('/auth/identity');
  const isConsumer = data === undefined && response.status === 401 && (await mayRead(client));
  const found = { server, version, ...omitUndefined({ environment }), same_contract: hasSameContract };
  const token = { token: isConsumer ? 'consumer' : 'write', ...omitUndefined({ owner_key: data?.public_key }) };
  const isAccepted = isConsumer || data !== undefined;
  if (json) {
    if (isAccepted) await writeOutput(terminal.out, toJson({ ...found, ...token }));
  } else {
    const where = environment === undefined ? server : `${server} (${environment})`;
    const lines = [
      `Service: ${where}, release ${version}`,
      ...(hasSameContract ? [] : ['Contract: its revision differs from that of this client']),
      ...(isConsumer ? ['Token: consumer token'] : []),
      ...(data ? [`Token: write token. Owner's key: ${data.public_key ?? 'none yet'}`] : []),
    ];
    await writeOutput(terminal.out, lines.map((line) => `${stripControlCharacters(line)}\n`).join(''));
  }
  if (!isAccepted) throw new CommandError('The service rejected the token', EXIT.refused);
}

/** A valid consumer token gets 404 for an unknown name; an invalid token gets 401. */
async function mayRead(client: SecretsClient): Promise<boolean> {
  const { response } = await client.GET('/objects/{slug}', { params: { path: { slug: '0' } }, parseAs: 'arrayBuffer' });
  return response.status !== 401;
}
