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

/** The commands about objects, but for their values. */
export function addObjectCommands(secrets: Command, terminal: Terminal): void {
  addList(secrets, terminal);
  addRename(secrets, terminal);
  addDelete(secrets, terminal);
  addVersions(secrets, terminal);
}

function addList(secrets: Command, terminal: Terminal): void {
  const list = secrets
    .command('list')
    .description('list objects, never their values')
    .option('--tag <tag>', 'only those with this label; repeat it for several at once', collect)
    .option('--consumer <consumer>', 'only those that it depends on')
    .option('--due', 'only those that are due for rotation')
    .option('--reseal', 'only those that are not sealed to the keys that their consumers have now')
    .option('--json', 'print JSON, as the service answers it')
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
    .description('give an object another name; value, consumers and tags stay')
    .argument('<object>', 'its name')
    .argument('<name>', 'its new name');
  withSettings(rename).action((slug: string, name: string, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { renameObject } = await import('./change-objects.js');
      await renameObject(session, { slug, name, id: flags.id });
    }),
  );
}

function addDelete(secrets: Command, terminal: Terminal): void {
  const remove = withId(secrets.command('delete'))
    .description('delete an object with the versions that are kept of it')
    .argument('<object>', 'its name')
    .option('--yes', 'do not ask');
  withSettings(remove).action((slug: string, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { deleteObject } = await import('./change-objects.js');
      await deleteObject(session, slug, flags);
    }),
  );
}

function addVersions(secrets: Command, terminal: Terminal): void {
  const versions = withId(secrets.command('versions'))
    .description('list the values of an object that were replaced and are kept')
    .argument('<object>', 'its name')
    .option('--json', 'print JSON, as the service answers it')
    .addHelpText('after', '\nExample:\n  trellis secrets get db-password --at-version 3');
  withSettings(versions).action((slug: string, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { listVersions } = await import('./read-objects.js');
      await listVersions(session, slug, flags);
    }),
  );
  const restore = withId(secrets.command('restore'))
    .description('put a value back that was replaced; the present one is kept as a version')
    .argument('<object>', 'its name')
    .argument('<version>', 'as "versions" counts them', parseCount);
  withSettings(restore).action((slug: string, version: number, flags: ObjectFlags) =>
    withSession(terminal, flags, async (session) => {
      const { restoreVersion } = await import('./change-objects.js');
      await restoreVersion(session, { slug, version, id: flags.id });
    }),
  );
}
