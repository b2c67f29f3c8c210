import { toFailure } from './exit-codes.js';
import type { Session } from './session.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

/**
 * Runs the action of a command with the service.
 *
 * @throws CommandFailure of one line, with the exit code of the reason.
 */
export async function withSession(
  terminal: Terminal,
  flags: SettingsFlags,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  // A closed pipe, as with "| head", is reported by the write.
  terminal.out.on('error', () => undefined);
  try {
    // Loaded late, so that --help does not wait for the client.
    const { openSession } = await import('./session.js');
    await work(await openSession(flags, terminal));
  } catch (error) {
    throw toFailure(error);
  }
}
