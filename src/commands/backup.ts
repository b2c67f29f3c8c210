import type { Config } from '../config.js';
import { StartupError, toStartupError } from '../startup-error.js';
import { createBackup } from '../storage/backup.js';
import { restoreBackup } from '../storage/backup.js';
import type { ArchiveContents } from '../storage/backup-archive.js';
import { openProgressBar } from './progress-bar.js';

export interface BackupRunOptions {
  readonly config: Config;
  readonly file: string;
  readonly force: boolean;
  readonly quiet: boolean;
  readonly release: string;
  readonly terminal: NodeJS.WriteStream;
}

/** @throws StartError of one line for an unusable file, folder or database. */
export async function runBackup(command: BackupRunOptions): Promise<void> {
  const contents = await run(command, (work) => createBackup(work));
  say(command, `Backed up ${describe(contents)} to ${command.file}.`);
}

/** @throws StartError of one line, also for a corrupt backup and for existing data. */
export async function runRestore(command: BackupRunOptions): Promise<void> {
  const contents = await run(command, (work) => restoreBackup(work));
  say(command, `Restored ${describe(contents)} of ${contents.createdAt.toISOString()}.`);
}

interface Work extends Pick<Config, 'databaseUrl' | 'state'>, Pick<BackupRunOptions, 'file' | 'force' | 'release'> {
  readonly onProgress: (done: number, total: number) => void;
}

async function run(
  { config, terminal, quiet, ...options }: BackupRunOptions,
  work: (options: Work) => Promise<ArchiveContents>,
) {
  const progress = openProgressBar(terminal, { quiet, items: 'rows' });
  const { databaseUrl, state } = config;
  const onProgress = (done: number, total: number): void => progress.show(done, total);
  try {
    return await work({ databaseUrl, state, onProgress, ...options });
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

function say({ quiet, terminal }: BackupRunOptions, line: string): void {
  if (!quiet) terminal.write(`${line}\n`);
}
