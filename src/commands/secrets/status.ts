import type { Command } from 'commander';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

/** `trellis secrets status`: checks the service and the token. */
export function addStatusCommand(secrets: Command, terminal: Terminal): void {
  const status = secrets.command('status').description('Check that the service responds and accepts the token');
  withSettings(status).action((flags: SettingsFlags) =>
    withSession(terminal, flags, async (session) => {
      const { checkService } = await import('./check-service.js');
      await checkService(session);
    }),
  );
}
