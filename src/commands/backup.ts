import { resolve } from 'node:path';
import { Command } from 'commander';
import { loadConfig } from '../config.js';
import { SETTINGS } from '../settings.js';
import type { BackupCommand } from './run-backup.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
  readonly force?: true;
  readonly quiet?: true;
}

/** What both commands are given. */
export interface BackupSetting {
  readonly release: string;
  readonly terminal: NodeJS.WriteStream;
}

/** `trellis backup`: everything precious in one file, also while the server runs. */
export function backupCommand(setting: BackupSetting): Command {
  return withSettings(new Command('backup'))
    .description('write accounts, boards, secrets and their key to one file, also while the server runs')
    .argument('<file>', 'where to; it is as secret as the state folder')
    .option('--force', 'replace a file of that name')
    .action(async (file: string, flags: Flags) => {
      const { runBackup } = await import('./run-backup.js');
      await runBackup(await toCommand(file, flags, setting));
    });
}

/** `trellis restore`: the inverse, also into the other engine. */
export function restoreCommand(setting: BackupSetting): Command {
  return withSettings(new Command('restore'))
    .description('put a backup back, into SQLite or PostgreSQL whichever it came from; stop the server first')
    .argument('<file>', 'what "trellis backup" wrote, with this release or an older one')
    .option('--force', 'replace the data that is there')
    .action(async (file: string, flags: Flags) => {
      const { runRestore } = await import('./run-backup.js');
      await runRestore(await toCommand(file, flags, setting));
    });
}

function withSettings(command: Command): Command {
  command.option('--config <file>', 'the configuration file (default: trellis.config.* in the working directory)');
  for (const { flag, description, env } of [SETTINGS.state, SETTINGS.databaseUrl]) {
    command.option(flag, `${description} [${env}]`);
  }
  return command.option('--quiet', 'print failures only');
}

async function toCommand(file: string, flags: Flags, setting: BackupSetting): Promise<BackupCommand> {
  const { force = false, quiet = false, ...settings } = flags;
  const config = await loadConfig({ flags: settings });
  return { ...setting, config, file: resolve(file), force, quiet };
}
