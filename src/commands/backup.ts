import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { CommandError, StartupError, toStartupError } from '../config/startup-error.js';
import type { ArchiveContents } from '../storage/backups/archive.js';
import type { BackupLocation } from '../storage/backups/backup.js';
import { openProgressBar } from './progress-bar.js';
import { addServerOptions } from './server-options.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
  readonly backup?: string;
  readonly force?: true;
  readonly identity?: string;
  readonly quiet?: true;
  readonly recipient?: readonly string[];
}

/** The release that a backup records, and the streams for results and for messages. */
interface BackupCommandContext {
  readonly release: string;
  readonly out: NodeJS.WritableStream;
  readonly terminal: NodeJS.WriteStream;
}

/** `trellis backup`: writes all user data to one file, also while the server runs. */
export function backupCommand(context: BackupCommandContext): Command {
  return (
    addOptions(new Command('backup'))
      .description('Back up accounts, boards, secrets and the server key to one file, also while the server runs')
      .argument('[file]', 'backup file or s3://bucket/name (default: a new name in the place of scheduled backups)')
      .option('--force', 'overwrite an existing file')
      .option('--recipient <keys...>', 'age public keys that replace those of TRELLIS_BACKUP_RECIPIENTS')
      // Options after the name of a subcommand are those of the subcommand.
      .enablePositionalOptions()
      .addCommand(verifyCommand(context))
      .addCommand(listCommand(context))
      .action(async (file: string | undefined, flags: Flags) => {
        const place = await choosePlace(file, flags);
        const contents = await run(createOne, context, {
          ...place,
          flags,
          interrupted: 'Interrupted; no backup was made',
        });
        const how =
          place.recipients.length === 0 ? '' : `, encrypted to ${count(place.recipients.length, 'recipient')}`;
        say(flags, context, `Backed up ${describe(contents)} to ${place.shown}${how}.`);
      })
  );
}

async function createOne(copy: Copy): Promise<ArchiveContents> {
  const { createBackup } = await import('../storage/backups/backup.js');
  return createBackup(copy);
}

interface Place {
  readonly place: string;
  readonly shown: string;
  readonly recipients: readonly string[];
}

async function choosePlace(file: string | undefined, flags: Flags): Promise<Place> {
  const { backup, backupRecipients } = await loadConfig({ flags: toSettings(flags) });
  const recipients = flags.recipient ?? backupRecipients;
  const { joinBackupName, showBackupPlace } = await import('../storage/backups/target.js');
  if (file !== undefined) return { place: file, shown: showBackupPlace(file), recipients };
  if (backup === undefined) throw new StartupError('Name a file, or set TRELLIS_BACKUP to the place of backups');
  const { toBackupName } = await import('../storage/backups/schedule.js');
  const place = joinBackupName(backup, toBackupName(new Date(), recipients.length > 0));
  return { place, shown: showBackupPlace(place), recipients };
}

/** `trellis backup verify`: reads a whole backup, and describes it. */
function verifyCommand(context: BackupCommandContext): Command {
  return addIdentity(addServerOptions(new Command('verify'), CONFIG_OPTIONS.state))
    .description('Verify a whole backup, and print its date, release and contents')
    .argument('<file>', 'output of "trellis backup"')
    .action(async (file: string, flags: Flags) => {
      const { locateBackup } = await import('../storage/backups/target.js');
      const { verifyBackup } = await import('../storage/backups/backup.js');
      const { state, awsEnvironment: env } = await loadConfig({ flags: toSettings(flags) });
      const folder = existsSync(state) ? state : tmpdir();
      const verify = async () =>
        verifyBackup({ ...(await locateBackup(file, { folder, env })), ...toIdentity(flags), folder });
      const contents = await verify().catch(throwArchiveError);
      const { createdAt, release } = contents;
      const how = contents.isEncrypted ? 'Encrypted backup' : 'Backup in clear';
      context.terminal.write(
        `${how} of ${createdAt.toISOString()}, created by release ${release}: ${describe(contents)}.\n`,
      );
    });
}

/** `trellis backup list`: lists the backups of a folder or a bucket. */
function listCommand({ out }: BackupCommandContext): Command {
  return addServerOptions(new Command('list'), CONFIG_OPTIONS.backup)
    .description('List the backups that were made by name, the latest first')
    .argument('[place]', 'folder or s3://bucket/prefix (default: the place of scheduled backups)')
    .action(async (place: string | undefined, flags: Flags) => {
      const config = await loadConfig({ flags: toSettings(flags) });
      const { backup = place, state: folder, awsEnvironment: env } = { ...config, ...(place && { backup: place }) };
      if (backup === undefined) throw new StartupError('Name a place, or set TRELLIS_BACKUP to it');
      const { openBackupTarget } = await import('../storage/backups/target.js');
      const { listBackups } = await import('../storage/backups/schedule.js');
      const list = async () => listBackups(await openBackupTarget(backup, { folder, env }));
      const backups = await list().catch(throwArchiveError);
      for (const { name, bytes, writtenAt } of backups) {
        out.write(`${name}  ${bytes.toLocaleString('en')} bytes  ${writtenAt.toISOString()}\n`);
      }
      if (backups.length === 0) out.write(`No backups in ${backup}.\n`);
    });
}

/** `trellis restore`: restores a backup into either database engine. */
export function restoreCommand(context: BackupCommandContext): Command {
  return addIdentity(addOptions(new Command('restore')))
    .description('Restore a backup into SQLite or PostgreSQL; stop the server first')
    .argument('<file>', 'output of "trellis backup", of this release or an older one, or its address s3://bucket/name')
    .option('--force', 'replace existing data')
    .action(async (file: string, flags: Flags) => {
      const { restoreBackup } = await import('../storage/backups/backup.js');
      const contents = await run(restoreBackup, context, {
        ...{ place: file, recipients: [], flags },
        interrupted: 'Interrupted; the database has not changed',
      });
      say(flags, context, `Restored ${describe(contents)} of ${contents.createdAt.toISOString()}.`);
    });
}

function addOptions(command: Command): Command {
  addServerOptions(command, CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl);
  return command.option('--quiet', 'print failures only');
}

const addIdentity = (command: Command): Command =>
  command.option('--identity <file>', 'file of the age identity that decrypts the backup');

const toIdentity = ({ identity }: Flags) => (identity === undefined ? {} : { identityFile: identity });

/** Returns the flags that are settings of the server. */
const toSettings = ({ config, state, databaseUrl, backup }: Flags) => ({ config, state, databaseUrl, backup });

interface Copy extends Pick<Config, 'databaseUrl' | 'state'>, BackupLocation {
  readonly force: boolean;
  readonly recipients: readonly string[];
  readonly identityFile?: string;
  readonly release: string;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

interface Run {
  /** The path of the backup. */
  readonly place: string;
  readonly recipients: readonly string[];
  readonly flags: Flags;
  /** The message for SIGINT and SIGTERM. */
  readonly interrupted: string;
}

/** The exit code that shells show for SIGINT. */
const INTERRUPTED = 130;

/** @throws StartError of one line for an unusable file, folder or database, and when existing data is in the way. */
async function run(
  copy: (options: Copy) => Promise<ArchiveContents>,
  { release, terminal }: BackupCommandContext,
  { place, recipients, flags, interrupted }: Run,
): Promise<ArchiveContents> {
  const { force = false, quiet = false } = flags;
  const config = await loadConfig({ flags: toSettings(flags) });
  const { databaseUrl, state, awsEnvironment: env } = config;
  const { locateBackup } = await import('../storage/backups/target.js');
  const progress = await openProgressBar(terminal, { quiet, items: 'rows' });
  const onProgress = (done: number, total: number): void => progress.show(done, total);
  const stopped = new AbortController();
  const onSignal = (): void => stopped.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const location = await locateBackup(place, { folder: state, env });
    return await copy({
      databaseUrl,
      state,
      ...location,
      force,
      recipients,
      ...toIdentity(flags),
      release,
      onProgress,
      signal: stopped.signal,
    });
  } catch (error) {
    if (stopped.signal.aborted) throw new CommandError(interrupted, INTERRUPTED);
    if (error instanceof Error && error.name === 'ArchiveError') throw new StartupError(error.message);
    throw toStartupError(error, config);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    progress.stop();
  }
}

function throwArchiveError(error: unknown): never {
  if (error instanceof Error && error.name === 'ArchiveError') throw new StartupError(error.message);
  throw error;
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

function describe({ tables, files }: ArchiveContents): string {
  const rows = [...tables.values()].reduce((sum, table) => sum + table.rows, 0);
  const tableCount = `${rows.toLocaleString('en')} rows of ${tables.size} tables`;
  return files.length === 0 ? tableCount : `${tableCount} and ${files.map(({ name }) => name).join(', ')}`;
}

function say({ quiet }: Flags, { terminal }: BackupCommandContext, line: string): void {
  if (!quiet) terminal.write(`${line}\n`);
}
