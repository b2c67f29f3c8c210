import { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { Terminal } from './context.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';

/** Creates `trellis secrets` without its commands, which inherit its streams and its exit codes. */
export function createSecretsCommand(terminal: Terminal): Command {
  return (
    new Command('secrets')
      .description('Manage sealed secrets')
      // Set before the commands are added, as they inherit both.
      .showHelpAfterError('(see --help)')
      .exitOverride(({ exitCode, message }) => {
        // Commander has printed the error as text; 0 is for --help.
        const text = terminal.json ? message.replace(/^error: /, '') : '';
        throw exitCode === 0 ? new CommandError('', 0) : new CommandError(text, EXIT.usage);
      })
      .configureOutput({
        writeOut: (text) => void terminal.out.write(text),
        writeErr: (text) => {
          if (!terminal.json) terminal.err.write(text);
        },
      })
      .addHelpText('after', HELP)
  );
}

const HELP = `
Values are read from standard input or a file, never from an argument, and are sealed (encrypted with age) on this
machine. Settings come from options, the environment, and the file that "init" writes, in this order. Without a token,
a CI job gets one in exchange for the token of its issuer: of GitHub Actions and Forgejo (ACTIONS_ID_TOKEN_REQUEST_URL),
or that in TRELLIS_SECRETS_ID_TOKEN or the file TRELLIS_SECRETS_ID_TOKEN_FILE.

Examples:
  trellis secrets init
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop
  trellis secrets run --secret db-password -- ./deploy.sh
${EXIT_HELP}`;
