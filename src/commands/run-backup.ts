import type { Config } from '../config.js';
import { StartError, toStartError } from '../start-error.js';
import { backUp } from '../storage/backup/backup.js';
import { restore } from '../storage/backup/restore.js';
import type { Contents } from '../storage/backup/archive.js';
import { openProgress } from './progress.js';

export interface BackupCommand {
  readonly config: Config;
  readonly file: string;
  readonly force: boolean;
  readonly quiet: boolean;
  readonly release: string;
  readonly terminal: NodeJS.WriteStream;
}

/** @throws StartError of one line for an unusable file, folder or database. */
export async function runBackup(command: BackupCommand): Promise<void> {
  const contents = await run(command, (work) => backUp(work));
  say(command, `Backed up ${describe(contents)} to ${command.file}.`);
}

/** @throws StartError of one line, also for a corrupt backup and for existing data. */
export async function runRestore(command: BackupCommand): Promise<void> {
  const contents = await run(command, (work) => restore(work));
  say(command, `Restored ${describe(contents)} of ${contents.createdAt.toISOString()}.`);
}

interface Work extends Pick<Config, 'databaseUrl' | 'state'>, Pick<BackupCommand, 'file' | 'force' | 'release'> {
  readonly onProgress: (done: number, total: number) => void;
}

async function run({ config, terminal, quiet, ...options }: BackupCommand, work: (options: Work) => Promise<Contents>) {
  const progress = openProgress(terminal, { quiet, what: 'rows' });
  const { databaseUrl, state } = config;
  const onProgress = (done: number, total: number): void => progress.show(done, total);
  try {
    return await work({ databaseUrl, state, onProgress, ...options });
  } catch (error) {
    if (error instanceof Error && error.name === 'ArchiveError') throw new StartError(error.message);
    throw toStartError(error, config);
  } finally {
    progress.stop();
  }
}

function describe({ tables, files }: Contents): string {
  const rows = [...tables.values()].reduce((sum, table) => sum + table.rows, 0);
  const tableCount = `${rows.toLocaleString('en')} rows of ${tables.size} tables`;
  return files.length === 0 ? tableCount : `${tableCount} and ${files.map(({ name }) => name).join(', ')}`;
}

function say({ quiet, terminal }: BackupCommand, line: string): void {
  if (!quiet) terminal.write(`${line}\n`);
}
