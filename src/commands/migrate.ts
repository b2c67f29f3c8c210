import { access } from 'node:fs/promises';
import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { StartupError, toStartupError } from '../config/startup-error.js';
import type { DatabaseTarget } from '../storage/database.js';
import type { PendingMigration } from '../storage/migrate.js';
import { addServerOptions } from './server-options.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
  readonly deleteRows?: true;
  readonly dryRun?: true;
}

/** `trellis migrate`: changes the tables of the database to those of this release, as a start does. */
export function migrateCommand(out: NodeJS.WritableStream): Command {
  return addServerOptions(new Command('migrate'), CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl)
    .description('Change the tables of the database to those of this release, as the start of a server does')
    .option('--dry-run', 'list the pending migrations with their statements, and change nothing')
    .option('--delete-rows', 'allow migrations that delete rows')
    .action(async ({ dryRun, deleteRows, ...flags }: Flags) => {
      const config = await loadConfig({ flags });
      const { toDatabaseTarget } = await import('../storage/open-database.js');
      const { planMigrations } = await import('../storage/migrate.js');
      const place = toDatabaseTarget(config);
      if ('file' in place) await access(place.file).catch(throwMissing);
      try {
        const pending = await planMigrations(place);
        if (!dryRun && pending.length > 0) await run(place, config.state, deleteRows === true);
        out.write(describe(pending, dryRun === true));
      } catch (error) {
        throw toStartupError(error, config);
      }
    });
}

async function run(place: DatabaseTarget, state: string, deleteRows: boolean): Promise<void> {
  const { openDatabase } = await import('../storage/open-database.js');
  const { openStateFolder } = await import('../storage/state-folder.js');
  // A server of an older release may use a SQLite database.
  const folder = 'file' in place ? await openStateFolder(state) : undefined;
  try {
    const database = await openDatabase(place, { deleteRows });
    await database.destroy();
  } finally {
    folder?.close();
  }
}

function describe(pending: readonly PendingMigration[], isDryRun: boolean): string {
  if (pending.length === 0) return 'The database is up to date.\n';
  const lines = pending.flatMap(({ number, name, deleted, statements }) => [
    `${number} ${name}${deleted.rows > 0 ? `: deletes ${deleted.rows} rows of ${deleted.table}` : ''}`,
    ...(isDryRun ? statements.map((statement) => `  ${statement.replace(/\s+/gu, ' ').trim()}`) : []),
  ]);
  return `${isDryRun ? 'Pending' : 'Completed'} migrations:\n${lines.join('\n')}\n`;
}

function throwMissing(): never {
  throw new StartupError('No database in this state folder. Start the server once, or set --state');
}
