import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Config } from '../config.js';
import { SETTINGS } from '../settings.js';
import type { Setting } from '../settings.js';
import { StartError, toStartError } from '../start-error.js';
import { openDatabase } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { placeOf } from '../storage/place.js';

/** Where results go, and where what is said about them. */
export interface Streams {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
}

/** The options that say where the accounts are, as for the server, and others of its settings. */
export function withAccountSettings(command: Command, ...others: readonly Setting[]): Command {
  command.option('--config <file>', 'the configuration file (default: trellis.config.* in the working directory)');
  for (const { flag, description, env } of [SETTINGS.state, SETTINGS.databaseUrl, ...others]) {
    command.option(flag, `${description} [${env}]`);
  }
  return command;
}

/**
 * Opens the server's database, which it may be using, and works on it. The
 * state folder's lock is not taken: that one is about the site's records.
 *
 * @throws StartError of one line for a setting that is wrong, and for what the domain refuses.
 */
export async function withAccounts(config: Config, work: (database: Database) => Promise<void>): Promise<void> {
  try {
    const place = placeOf(config);
    if ('file' in place) await access(place.file).catch(refuseMissing);
    const database = await openDatabase(place);
    try {
      await work(database);
    } finally {
      await database.destroy();
    }
  } catch (error) {
    // A caller's mistake: its one sentence is all there is to say.
    if (error instanceof Error && error.name === 'AppError') throw new StartError(error.message);
    throw toStartError(error, config);
  }
}

function refuseMissing(): never {
  throw new StartError('expected the state folder of a server that was started before; see --state');
}
