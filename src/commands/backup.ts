import { resolve } from 'node:path';
import { Command } from 'commander';
import prettyBytes from 'pretty-bytes';
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
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
}

/** `trellis backup`: writes all user data to one file, also while the server runs. */
export function backupCommand(context: BackupCommandContext): Command {
  return addOptions(new Command('backup'))
    .description('Back up accounts, boards, secrets and the server key to one file, also while the server runs')
    .argument('<file>', 'backup file, or s3://bucket/name; as secret as the state folder')
    .option('--force', 'overwrite an existing file')
    .action(async (place: string, flags: Flags) => {
      const { contents, target } = await run(backUp, context, { place, flags });
      say(flags, context, `Backed up ${describe(contents)} to ${target}.`);
    })
    .addCommand(listCommand(context))
    .addCommand(verifyCommand(context));
}

/** `trellis backup list`: lists the backups of a bucket. */
function listCommand(context: BackupCommandContext): Command {
  return addServerOptions(new Command('list'))
    .description('List the backups in a bucket, the oldest first')
    .argument('<address>', 'such as s3://bucket/backups/')
    .action(async (url: string, flags: Flags) => {
      const found = await run(listStored, context, { place: url, flags: { ...flags, quiet: true } });
      for (const { key, bytes, modifiedAt } of found) {
        context.print(`${modifiedAt.toISOString()}  ${prettyBytes(bytes).padStart(8)}  ${key}`);
      }
    });
}

/** `trellis backup verify`: compares the content of a backup with its digests. */
function verifyCommand(context: BackupCommandContext): Command {
  return addOptions(new Command('verify'))
    .description('Verify that a backup is complete, without restoring it')
    .argument('<file>', 'backup file, or s3://bucket/name')
    .action(async (place: string, flags: Flags) => {
      const contents = await run(verify, context, { place, flags });
      say(flags, context, `Verified ${describe(contents)} of ${contents.createdAt.toISOString()}.`);
    });
}

/** `trellis restore`: restores a backup into either database engine. */
export function restoreCommand(context: BackupCommandContext): Command {
  return addOptions(new Command('restore'))
    .description('Restore a backup into SQLite or PostgreSQL; stop the server first')
    .argument('<file>', 'output of "trellis backup", of this release or an older one, or its address s3://bucket/name')
    .option('--force', 'replace existing data')
    .action(async (place: string, flags: Flags) => {
      const contents = await run(restore, context, { place, flags });
      say(flags, context, `Restored ${describe(contents)} of ${contents.createdAt.toISOString()}.`);
    });
}

function addOptions(command: Command): Command {
  addServerOptions(command, CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl);
  return command.option('--quiet', 'print failures only');
}

interface Copy extends Pick<Config, 'databaseUrl' | 'state'> {
  /** The path of a file, or the address of an object. */
  readonly place: string;
  readonly env: Config['awsEnvironment'];
  readonly force: boolean;
  readonly release: string;
  readonly onProgress: (done: number, total: number) => void;
}

// Loaded late, so that --help does not wait for the modules of database and bucket.
const loadBackups = () => import('../storage/backup.js');
const loadStoredBackups = () => import('../storage/objects/stored-backups.js');

const isObject = (place: string): boolean => place.startsWith('s3://');

async function backUp({ place, ...options }: Copy): Promise<{ contents: ArchiveContents; target: string }> {
  const { createBackup } = await loadBackups();
  const file = resolve(place);
  if (!isObject(place)) return { contents: await createBackup({ ...options, file }), target: file };
  const { storeBackup } = await loadStoredBackups();
  return storeBackup({ ...options, url: place }, (temporary) => createBackup({ ...options, file: temporary }));
}

async function restore(options: Copy): Promise<ArchiveContents> {
  const { restoreBackup } = await loadBackups();
  return restoreBackup({ ...options, readTo: (copy) => readTo(options, copy) });
}

async function verify(options: Copy): Promise<ArchiveContents> {
  const { verifyBackup } = await loadBackups();
  return verifyBackup({ ...options, readTo: (copy) => readTo(options, copy) });
}

async function readTo({ place, env }: Copy, copy: string): Promise<void> {
  const { copyBackup } = await loadBackups();
  if (!isObject(place)) return copyBackup(resolve(place), copy);
  const { fetchBackup } = await loadStoredBackups();
  return fetchBackup({ url: place, env }, copy);
}

async function listStored({ place, env }: Copy) {
  const { listBackups } = await loadStoredBackups();
  return listBackups({ url: place, env });
}

/** @throws StartError of one line for an unusable file, folder or database, and when existing data is in the way. */
async function run<T>(
  work: (options: Copy) => Promise<T>,
  { release, terminal }: BackupCommandContext,
  { place, flags }: { readonly place: string; readonly flags: Flags },
): Promise<T> {
  const { force = false, quiet = false, ...settings } = flags;
  const config = await loadConfig({ flags: settings });
  const { databaseUrl, state, awsEnvironment: env } = config;
  const progress = await openProgressBar(terminal, { quiet, items: 'rows' });
  const onProgress = (done: number, total: number): void => progress.show(done, total);
  try {
    return await work({ databaseUrl, state, env, place, force, release, onProgress });
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
