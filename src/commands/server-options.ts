import { access } from 'node:fs/promises';
import { findStorageFault } from '@trellis/core/storage';
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.js';
import type { ConfigOption } from '../config/options.js';
import { withServerKey } from '../config/server-key-command.js';
import { StartupError, toStartupError } from '../config/startup-error.js';
import type { Database } from '../storage/database.js';

/** The streams for results and for messages. */
export interface OutputStreams {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
}

/** Adds options of the server to a command, which finds the same data with them. */
export function addServerOptions(command: Command, ...options: readonly ConfigOption[]): Command {
  command.option('--config <file>', 'configuration file (default: trellis.config.* in the working directory)');
  for (const { flag, description, env } of options) command.option(flag, `${description} [${env}]`);
  return command;
}

/**
 * Opens the server's database, also while the server runs, and calls `work` with it. The
 * lock of the state folder protects the site's records only, so it is not acquired.
 *
 * @throws StartError of one line for an invalid option, and for errors of the domain.
 */
export async function withServerDatabase(
  flags: Readonly<Record<string, string | undefined>>,
  work: (database: Database, config: Config) => Promise<void>,
): Promise<void> {
  const config = await loadConfig({ flags });
  // Loaded late, so that --help and errors in settings do not wait for the database modules.
  const { toDatabaseError } = await import('../storage/database.js');
  const { openDatabase, toDatabaseTarget } = await import('../storage/open-database.js');
  const { createServerKey, findServerKey } = await import('../storage/server-key.js');
  const { useAuditKey } = await import('../secrets/audit/signatures.js');
  try {
    const place = toDatabaseTarget(config);
    if ('file' in place) await access(place.file).catch(throwMissing);
    const database = await openDatabase(place);
    try {
      const { serverKey } = await withServerKey(config);
      const key = serverKey === undefined ? await findServerKey(config.state) : createServerKey(serverKey);
      if (key !== undefined) useAuditKey(database, key);
      await work(database, config);
    } finally {
      await database.destroy();
    }
  } catch (error) {
    // Names the reason why a database can't be used, as the start of a server does.
    const failure = findStorageFault(error) === undefined ? toDatabaseError(error) : error;
    // An expected error is printed without its stack and, like all errors of the command line, without a full stop.
    if (failure instanceof Error && failure.name === 'AppError')
      throw new StartupError(failure.message.replace(/\.$/, ''));
    throw toStartupError(failure, config);
  }
}

function throwMissing(): never {
  throw new StartupError('No database in this state folder. Start the server once, or set --state');
}
