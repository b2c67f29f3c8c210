import type { Command } from 'commander';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

/** `trellis secrets status`: checks the service and the token. */
export function addStatusCommand(secrets: Command, terminal: Terminal): void {
  const status = secrets.command('status').description('Check that the service responds and accepts the token');
  addConnectionOptions(status).action((flags: ConnectionOptions) =>
    withContext(terminal, flags, async (session) => {
      const { checkService } = await import('./check-service.js');
      await checkService(session);
    }),
  );
}
