import { toFailure } from './exit-codes.js';
import type { Session } from './session.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

/**
 * Does a command's work with the service.
 *
 * @throws CommandFailure of one line, with the exit code that tells why.
 */
export async function withSession(
  terminal: Terminal,
  flags: SettingsFlags,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  // A reader that has enough, as in "| head", is told of by the write itself.
  terminal.out.on('error', () => undefined);
  try {
    // Loading the client takes a moment, which --help need not wait for.
    const { openSession } = await import('./session.js');
    await work(await openSession(flags, terminal));
  } catch (error) {
    throw toFailure(error);
  }
}
