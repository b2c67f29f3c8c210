import type { Command } from 'commander';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

/** `trellis secrets status`: whether the settings lead to a service that takes the token. */
export function addStatusCommand(secrets: Command, terminal: Terminal): void {
  const status = secrets.command('status').description('say whether the service answers and takes the token');
  withSettings(status).action((flags: SettingsFlags) =>
    withSession(terminal, flags, async (session) => {
      const { checkService } = await import('./check-service.js');
      await checkService(session);
    }),
  );
}
