import { resolve } from 'node:path';
import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import type { BackupRunOptions } from './backup.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
  readonly force?: true;
  readonly quiet?: true;
}

/** The arguments of both commands. */
export interface BackupCommandContext {
  readonly release: string;
  readonly terminal: NodeJS.WriteStream;
}

/** `trellis backup`: writes all user data to one file, also while the server runs. */
export function backupCommand(setting: BackupCommandContext): Command {
  return withSettings(new Command('backup'))
    .description('Back up accounts, boards, secrets and the server key to one file, also while the server runs')
    .argument('<file>', 'backup file; as secret as the state folder')
    .option('--force', 'overwrite an existing file')
    .action(async (file: string, flags: Flags) => {
      const { runBackup } = await import('./backup.js');
      await runBackup(await toCommand(file, flags, setting));
    });
}

/** `trellis restore`: restores a backup into either database engine. */
export function restoreCommand(setting: BackupCommandContext): Command {
  return withSettings(new Command('restore'))
    .description('Restore a backup into SQLite or PostgreSQL; stop the server first')
    .argument('<file>', 'output of "trellis backup", of this release or an older one')
    .option('--force', 'replace existing data')
    .action(async (file: string, flags: Flags) => {
      const { runRestore } = await import('./backup.js');
      await runRestore(await toCommand(file, flags, setting));
    });
}

function withSettings(command: Command): Command {
  command.option('--config <file>', 'configuration file (default: trellis.config.* in the working directory)');
  for (const { flag, description, env } of [CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl]) {
    command.option(flag, `${description} [${env}]`);
  }
  return command.option('--quiet', 'print failures only');
}

async function toCommand(file: string, flags: Flags, setting: BackupCommandContext): Promise<BackupRunOptions> {
  const { force = false, quiet = false, ...settings } = flags;
  const config = await loadConfig({ flags: settings });
  return { ...setting, config, file: resolve(file), force, quiet };
}
