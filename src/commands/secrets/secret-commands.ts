import type { Command } from 'commander';
import { collectValues, parseCount, addIdOption } from './options.js';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

export interface SecretListOptions extends ConnectionOptions {
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly due?: true;
  readonly reseal?: true;
  readonly json?: true;
}

export interface SecretOptions extends ConnectionOptions {
  readonly id?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** The commands for secrets, except those for their values. */
export function addSecretCommands(secrets: Command, terminal: Terminal): void {
  addList(secrets, terminal);
  addRename(secrets, terminal);
  addDelete(secrets, terminal);
  addVersions(secrets, terminal);
}

function addList(secrets: Command, terminal: Terminal): void {
  const list = secrets
    .command('list')
    .description('List secrets without their values')
    .option('--tag <tag>', 'only secrets with this tag; repeatable', collectValues)
    .option('--consumer <consumer>', 'only secrets of this consumer')
    .option('--due', 'only secrets due for rotation')
    .option('--reseal', 'only secrets that are not sealed to the current keys of their consumers')
    .option('--json', 'print the JSON of the service')
    .addHelpText('after', '\nExamples:\n  trellis secrets list --tag prod\n  trellis secrets list --due --json');
  addConnectionOptions(list).action((flags: SecretListOptions) =>
    withContext(terminal, flags, async (session) => {
      const { printSecrets } = await import('./read-secrets.js');
      await printSecrets(session, flags);
    }),
  );
}

function addRename(secrets: Command, terminal: Terminal): void {
  const rename = addIdOption(secrets.command('rename'))
    .description('Rename a secret')
    .argument('<secret>', 'name of the secret')
    .argument('<name>', 'new name');
  addConnectionOptions(rename).action((slug: string, name: string, flags: SecretOptions) =>
    withContext(terminal, flags, async (session) => {
      const { renameSecret } = await import('./change-secrets.js');
      await renameSecret(session, { slug, name, id: flags.id });
    }),
  );
}

function addDelete(secrets: Command, terminal: Terminal): void {
  const remove = addIdOption(secrets.command('delete'))
    .description('Delete a secret and its versions')
    .argument('<secret>', 'name of the secret')
    .option('--yes', 'do not ask for confirmation');
  addConnectionOptions(remove).action((slug: string, flags: SecretOptions) =>
    withContext(terminal, flags, async (session) => {
      const { deleteSecret } = await import('./change-secrets.js');
      await deleteSecret(session, slug, flags);
    }),
  );
}

function addVersions(secrets: Command, terminal: Terminal): void {
  const versions = addIdOption(secrets.command('versions'))
    .description('List the previous values of a secret')
    .argument('<secret>', 'name of the secret')
    .option('--json', 'print the JSON of the service')
    .addHelpText('after', '\nExample:\n  trellis secrets get db-password --at-version 3');
  addConnectionOptions(versions).action((slug: string, flags: SecretOptions) =>
    withContext(terminal, flags, async (session) => {
      const { printVersions } = await import('./read-secrets.js');
      await printVersions(session, slug, flags);
    }),
  );
  const restore = addIdOption(secrets.command('restore'))
    .description('Restore a previous value; the current one becomes a version')
    .argument('<secret>', 'name of the secret')
    .argument('<version>', 'number of the version, see "versions"', parseCount);
  addConnectionOptions(restore).action((slug: string, version: number, flags: SecretOptions) =>
    withContext(terminal, flags, async (session) => {
      const { restoreVersion } = await import('./change-secrets.js');
      await restoreVersion(session, { slug, version, id: flags.id });
    }),
  );
}
