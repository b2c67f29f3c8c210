import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Config } from '../config.js';
import { CONFIG_OPTIONS } from '../config-options.js';
import type { ConfigOption } from '../config-options.js';
import { StartupError, toStartupError } from '../startup-error.js';
import { openDatabase } from '../storage/open-database.js';
import type { Database } from '../storage/database.js';
import { toDatabaseTarget } from '../storage/open-database.js';

/** The streams for results and for messages. */
export interface OutputStreams {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
}

/** Adds the options of the server that locate the accounts, and other options of it. */
export function addAccountOptions(command: Command, ...others: readonly ConfigOption[]): Command {
  command.option('--config <file>', 'configuration file (default: trellis.config.* in the working directory)');
  for (const { flag, description, env } of [CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl, ...others]) {
    command.option(flag, `${description} [${env}]`);
  }
  return command;
}

/**
 * Opens the server's database, also while the server runs, and calls `work` with it. The
 * lock of the state folder protects the site's records only, so it is not acquired.
 *
 * @throws StartError of one line for an invalid option, and for errors of the domain.
 */
export async function withAccountDatabase(config: Config, work: (database: Database) => Promise<void>): Promise<void> {
  try {
    const place = toDatabaseTarget(config);
    if ('file' in place) await access(place.file).catch(throwMissing);
    const database = await openDatabase(place);
    try {
      await work(database);
    } finally {
      await database.destroy();
    }
  } catch (error) {
    // An expected error is printed without its stack and, like all errors of the command line, without a full stop.
    if (error instanceof Error && error.name === 'AppError') throw new StartupError(error.message.replace(/\.$/, ''));
    throw toStartupError(error, config);
  }
}

function throwMissing(): never {
  throw new StartupError('No database in this state folder. Start the server once, or set --state');
}
