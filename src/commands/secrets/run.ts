import type { Command } from 'commander';
import { CommandFailure } from '../../start-error.js';
import { collect } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

export interface RunFlags extends SettingsFlags {
  readonly secret?: readonly string[];
  readonly tag?: readonly string[];
  readonly consumer?: string;
}

/** `trellis secrets run`: secrets for one process, in its environment. */
export function addRunCommand(secrets: Command, terminal: Terminal): void {
  const run = secrets
    .command('run')
    .description('run a program with secrets as environment variables, which nobody else gets')
    .argument('<command>', 'the program')
    .argument('[arguments...]', 'its arguments, behind --')
    .option('--secret <object>', 'a secret, or VARIABLE=secret; repeat it for several', collect)
    .option('--tag <tag>', 'all secrets with this label; repeat it for several at once', collect)
    .option('--consumer <consumer>', 'all secrets that it depends on')
    .addHelpText(
      'after',
      `
db-password becomes DB_PASSWORD unless told otherwise. Signals are passed on, and the exit code is the program's;
127 when it can't be found, 126 when it can't be run. It does not get TRELLIS_SECRETS_TOKEN and TRELLIS_SECRETS_IDENTITY.
A secret that --tag or --consumer selects is refused when its variable changes how programs load code, such as
LD_PRELOAD, NODE_OPTIONS, BASH_ENV or PATH; --secret NODE_OPTIONS=node-options sets one on purpose.

Examples:
  trellis secrets run --secret db-password --secret PGPASSWORD=pg-admin -- ./migrate.sh
  trellis secrets run --consumer acme/shop --tag prod -- node server.js`,
    );
  withSettings(run).action((program: string, args: readonly string[], flags: RunFlags) =>
    withSession(terminal, flags, async (session) => {
      const { runWithSecrets } = await import('./run-with-secrets.js');
      const exitCode = await runWithSecrets(session, [program, ...args], flags);
      // The program has said what there was to say.
      if (exitCode !== 0) throw new CommandFailure('', exitCode);
    }),
  );
}
