import { toCommandError } from './exit-codes.js';
import type { CommandContext } from './context.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

/**
 * Runs the action of a command with the service.
 *
 * @throws CommandFailure of one line, with the exit code of the reason.
 */
export async function withContext(
  terminal: Terminal,
  flags: ConnectionOptions,
  work: (session: CommandContext) => Promise<void>,
): Promise<void> {
  // A closed pipe, as with "| head", is reported by the write.
  terminal.out.on('error', () => undefined);
  try {
    // Loaded late, so that --help does not wait for the client.
    const { openContext } = await import('./context.js');
    await work(await openContext(flags, terminal));
  } catch (error) {
    throw toCommandError(error);
  }
}
