import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { generateIdentity } from 'age-encryption';
import { CommandError } from '../../config/startup-error.js';
import { toRecipients } from '../../sealing/seal.js';
import { checkService } from './check-service.js';
import { EXIT } from './exit-codes.js';
import type { InitOptions } from './init-command.js';
import { omitUndefined } from './options.js';
import { prompt, promptHidden } from './prompt.js';
import { openContext } from './context.js';
import { settingsFolder, settingsPath, writePrivateFile, writeSettingsFile } from './settings-file.js';
import type { SettingsFile } from './settings-file.js';
import { toServiceUrl } from './settings.js';
import { readSecretSource } from './secret-source.js';
import type { Terminal } from './terminal.js';
import { readValue } from './value-input.js';

const LOCAL_SERVER = 'http://localhost:4000/secrets';

/** Writes the settings before it checks them, so that nothing has to be entered again after an error. */
export async function initialize(flags: InitOptions, terminal: Terminal): Promise<void> {
  const file = resolve(flags.config ?? settingsPath(terminal.env));
  if (!flags.force && (await exists(file))) {
    throw new CommandError(`${file} already exists. Use --force to overwrite it`, EXIT.conflict);
  }
  const settings = await gather(flags, terminal);
  await writeSettingsFile(file, settings);
  terminal.err.write(`Wrote ${file}, readable only by you.\n`);
  await printPublicKeys(settings, terminal);
  // Without the other variables, as they would override the file that is checked.
  const { PATH, HOME } = terminal.env;
  await checkService(await openContext({ config: file }, { ...terminal, env: { PATH, HOME } }));
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function gather(flags: InitOptions, terminal: Terminal): Promise<SettingsFile> {
  const isGuided = terminal.in.isTTY === true && !flags.tokenStdin;
  const server = flags.server ?? (isGuided ? await prompt(terminal, 'URL of the service', LOCAL_SERVER) : LOCAL_SERVER);
  return {
    server: toServiceUrl(server),
    ...(await gatherToken(flags, terminal, isGuided)),
    ...omitUndefined({ caller: flags.caller }),
    ...(await gatherIdentity(flags, terminal, isGuided)),
  };
}

async function gatherToken(flags: InitOptions, terminal: Terminal, isGuided: boolean): Promise<SettingsFile> {
  const { tokenCommand, tokenStdin } = flags;
  if (tokenCommand !== undefined) return { tokenCommand };
  if (tokenStdin) return { token: (await readValue(undefined, { in: terminal.in })).toString().trim() };
  if (!isGuided) throw new CommandError('Set --token-command or --token-stdin', EXIT.usage);
  const token = await promptHidden(terminal, 'Token (not shown; leave empty to enter a command that prints it)');
  return token === '' ? { tokenCommand: await prompt(terminal, 'Command that prints the token') } : { token };
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
  if (isPresent && newIdentity) throw new CommandError(`${file} already exists and is not overwritten`, EXIT.conflict);
  if (isPresent) return { identityFile: file };
  // A file that is named without a terminal may be created later.
  if (isGuided && !newIdentity && !(await agrees(terminal, file))) return {};
  if (newIdentity || isGuided) await makeIdentity(file);
  return { identityFile: file };
}

const agrees = async (terminal: Terminal, file: string): Promise<boolean> =>
  /^y/i.test(await prompt(terminal, `${file} does not exist. Create a new identity there?`, 'yes'));

async function makeIdentity(file: string): Promise<void> {
  const identity = await generateIdentity();
  const [recipient = ''] = await toRecipients(identity);
  await writePrivateFile(file, `# public key: ${recipient}\n${identity}\n`);
}

/** Prints the public keys of the identity, if one is configured. */
async function printPublicKeys({ identityFile, identityCommand }: SettingsFile, { err }: Terminal): Promise<void> {
  const source = identityFile ? { file: identityFile } : identityCommand ? { command: identityCommand } : undefined;
  if (source === undefined) return;
  for (const recipient of await toRecipients(await readSecretSource(source, 'an identity'))) {
    err.write(`Public key of the identity: ${recipient}\n`);
  }
}
