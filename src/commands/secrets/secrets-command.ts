import { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { addAuditCommand } from './audit-command.js';
import { addConsumerCommands } from './consumers-command.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { addInitCommand } from './init-command.js';
import { addSecretCommands } from './secret-commands.js';
import { addRunCommand } from './run-command.js';
import { addStatusCommand } from './status-command.js';
import type { Terminal } from './terminal.js';
import { addTokenCommands } from './tokens-command.js';
import { addTransferCommands } from './transfer-commands.js';
import { addValueCommands } from './value-commands.js';

/** `trellis secrets`: seals and opens values; the service stores them sealed. */
export function secretsCommand(terminal: Terminal): Command {
  const secrets = new Command('secrets')
    .description('Manage sealed secrets')
    // Set first, as the commands below inherit both.
    .showHelpAfterError('(see --help)')
    .exitOverride(({ exitCode }) => {
      // Commander has printed the error; 0 is for --help.
      throw new CommandError('', exitCode === 0 ? 0 : EXIT.usage);
    })
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
    })
    .addHelpText('after', HELP);
  addInitCommand(secrets, terminal);
  addStatusCommand(secrets, terminal);
  addValueCommands(secrets, terminal);
  addSecretCommands(secrets, terminal);
  addRunCommand(secrets, terminal);
  addTransferCommands(secrets, terminal);
  addConsumerCommands(secrets, terminal);
  addTokenCommands(secrets, terminal);
  addAuditCommand(secrets, terminal);
  return secrets;
}

const HELP = `
Values are read from standard input or a file, never from an argument, and are sealed (encrypted with age) on this
machine. Settings come from options, the environment, and the file that "init" writes, in this order.

Examples:
  trellis secrets init
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop
  trellis secrets run --secret db-password -- ./deploy.sh
${EXIT_HELP}`;
