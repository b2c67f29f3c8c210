import type { Command } from 'commander';
import { collect, parseCount, withId } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

export interface ListFlags extends SettingsFlags {
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly due?: true;
  readonly reseal?: true;
  readonly json?: true;
}

export interface ObjectFlags extends SettingsFlags {
  readonly id?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** The commands for secrets, except those for their values. */
export function addObjectCommands(secrets: Command, terminal: Terminal): void {
  addList(secrets, terminal);
  addRename(secrets, terminal);
  addDelete(secrets, terminal);
  addVersions(secrets, terminal);
}

function addList(secrets: Command, terminal: Terminal): void {
  const list = secrets
    .command('list')
    .description('List secrets without their values')
    .option('--tag <tag>', 'only secrets with this tag; repeatable', collect)
    .option('--consumer <consumer>', 'only secrets of this consumer')
    .option('--due', 'only secrets due for rotation')
    .option('--reseal', 'only secrets that are not sealed to the current keys of their consumers')
    .option('--json', 'print the JSON of the service')
    .addHelpText('after', '\nExamples:\n  trellis secrets list --tag prod\n  trellis secrets list --due --json');
  withSettings(list).action((flags: ListFlags) =>
    withSession(terminal, flags, async (session) => {
      const { listObjects } = await import('./read-objects.js');
      await listObjects(session, flags);
    }),
  );
}

function addRename(secrets: Command, terminal: Terminal): void {
  const rename = withId(secrets.command('rename'))
    .description('Rename a secret')
    .argument('<secret>', 'name of the secret')
    .argument('<name>', 'new name');
  withSettings(rename).action((slug: string, name: string, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { renameObject } = await import('./change-objects.js');
      await renameObject(session, { slug, name, id: flags.id });
    }),
  );
}

function addDelete(secrets: Command, terminal: Terminal): void {
  const remove = withId(secrets.command('delete'))
    .description('Delete a secret and its versions')
    .argument('<secret>', 'name of the secret')
    .option('--yes', 'do not ask for confirmation');
  withSettings(remove).action((slug: string, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { deleteObject } = await import('./change-objects.js');
      await deleteObject(session, slug, flags);
    }),
  );
}

function addVersions(secrets: Command, terminal: Terminal): void {
  const versions = withId(secrets.command('versions'))
    .description('List the previous values of a secret')
    .argument('<secret>', 'name of the secret')
    .option('--json', 'print the JSON of the service')
    .addHelpText('after', '\nExample:\n  trellis secrets get db-password --at-version 3');
  withSettings(versions).action((slug: string, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { listVersions } = await import('./read-objects.js');
      await listVersions(session, slug, flags);
    }),
  );
  const restore = withId(secrets.command('restore'))
    .description('Restore a previous value; the current one becomes a version')
    .argument('<secret>', 'name of the secret')
    .argument('<version>', 'number of the version, see "versions"', parseCount);
  withSettings(restore).action((slug: string, version: number, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { restoreVersion } = await import('./change-objects.js');
      await restoreVersion(session, { slug, version, id: flags.id });
    }),
  );
}
