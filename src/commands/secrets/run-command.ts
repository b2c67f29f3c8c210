import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { collectValues } from './options.js';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

export interface RunOptions extends ConnectionOptions {
  readonly secret?: readonly string[];
  readonly tag?: readonly string[];
  readonly consumer?: string;
}

/** `trellis secrets run`: runs a command with secrets in its environment. */
export function addRunCommand(secrets: Command, terminal: Terminal): void {
  const run = secrets
    .command('run')
    .description('Run a command with secrets in its environment')
    .argument('<command>', 'command to run')
    .argument('[arguments...]', 'its arguments, after --')
    .option('--secret <secret>', 'name of a secret, or VARIABLE=name; repeatable', collectValues)
    .option('--tag <tag>', 'all secrets with this tag; repeatable', collectValues)
    .option('--consumer <consumer>', 'all secrets of this consumer')
    .addHelpText(
      'after',
      `
db-password becomes DB_PASSWORD, unless VARIABLE= names a different variable. Signals are forwarded, and the exit code is
that of the command; 127 if it is not found, 126 if it can't be run. TRELLIS_SECRETS_TOKEN and TRELLIS_SECRETS_IDENTITY
are not passed to it.
Secrets selected by --tag or --consumer must not set variables that change how programs load code, such as
LD_PRELOAD, NODE_OPTIONS, BASH_ENV or PATH. Use --secret NODE_OPTIONS=node-options to set one on purpose.

Examples:
  trellis secrets run --secret db-password --secret PGPASSWORD=pg-admin -- ./migrate.sh
  trellis secrets run --consumer acme/shop --tag prod -- node server.js`,
    );
  addConnectionOptions(run).action((program: string, args: readonly string[], flags: RunOptions) =>
    withContext(terminal, flags, async (session) => {
      const { runWithSecrets } = await import('./run-with-secrets.js');
      const exitCode = await runWithSecrets(session, [program, ...args], flags);
      // The program has printed its own error.
      if (exitCode !== 0) throw new CommandError('', exitCode);
    }),
  );
}
