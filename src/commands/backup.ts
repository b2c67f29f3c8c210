import { resolve } from 'node:path';
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { StartupError, toStartupError } from '../config/startup-error.js';
import type { ArchiveContents } from '../storage/backup-archive.js';
import { openProgressBar } from './progress-bar.js';
import { addServerOptions } from './server-options.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
  readonly force?: true;
  readonly quiet?: true;
}

/** The release that a backup records, and the stream for messages. */
interface BackupCommandContext {
  readonly release: string;
  readonly terminal: NodeJS.WriteStream;
}

/** `trellis backup`: writes all user data to one file, also while the server runs. */
export function backupCommand(context: BackupCommandContext): Command {
  return addOptions(new Command('backup'))
    .description('Back up accounts, boards, secrets and the server key to one file, also while the server runs')
    .argument('<file>', 'backup file; as secret as the state folder')
    .option('--force', 'overwrite an existing file')
    .action(async (file: string, flags: Flags) => {
      const { createBackup } = await import('../storage/backup.js');
      const contents = await run(createBackup, context, { file, flags });
      say(flags, context, `Backed up ${describe(contents)} to ${resolve(file)}.`);
    });
}

/** `trellis restore`: restores a backup into either database engine. */
export function restoreCommand(context: BackupCommandContext): Command {
  return addOptions(new Command('restore'))
    .description('Restore a backup into SQLite or PostgreSQL; stop the server first')
    .argument('<file>', 'output of "trellis backup", of this release or an older one')
    .option('--force', 'replace existing data')
    .action(async (file: string, flags: Flags) => {
      const { restoreBackup } = await import('../storage/backup.js');
      const contents = await run(restoreBackup, context, { file, flags });
      say(flags, context, `Restored ${describe(contents)} of ${contents.createdAt.toISOString()}.`);
    });
}

function addOptions(command: Command): Command {
  addServerOptions(command, CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl);
  return command.option('--quiet', 'print failures only');
}

interface Copy extends Pick<Config, 'databaseUrl' | 'state'> {
  readonly file: string;
  readonly force: boolean;
  readonly release: string;
  readonly onProgress: (done: number, total: number) => void;
}

/** @throws StartError of one line for an unusable file, folder or database, and when existing data is in the way. */
async function run(
  copy: (options: Copy) => Promise<ArchiveContents>,
  { release, terminal }: BackupCommandContext,
  { file, flags }: { readonly file: string; readonly flags: Flags },
): Promise<ArchiveContents> {
  const { force = false, quiet = false, ...settings } = flags;
  const config = await loadConfig({ flags: settings });
  const { databaseUrl, state } = config;
  const progress = await openProgressBar(terminal, { quiet, items: 'rows' });
  const onProgress = (done: number, total: number): void => progress.show(done, total);
  try {
    return await copy({ databaseUrl, state, file: resolve(file), force, release, onProgress });
  } catch (error) {
    if (error instanceof Error && error.name === 'ArchiveError') throw new StartupError(error.message);
    throw toStartupError(error, config);
  } finally {
    progress.stop();
  }
}

function describe({ tables, files }: ArchiveContents): string {
  const rows = [...tables.values()].reduce((sum, table) => sum + table.rows, 0);
  const tableCount = `${rows.toLocaleString('en')} rows of ${tables.size} tables`;
  return files.length === 0 ? tableCount : `${tableCount} and ${files.map(({ name }) => name).join(', ')}`;
}

function say({ quiet }: Flags, { terminal }: BackupCommandContext, line: string): void {
  if (!quiet) terminal.write(`${line}\n`);
}
