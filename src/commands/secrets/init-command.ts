import type { Command } from 'commander';
import { toCommandError } from './exit-codes.js';
import type { Terminal } from './terminal.js';

export interface InitOptions {
  readonly config?: string;
  readonly server?: string;
  readonly tokenCommand?: string;
  readonly tokenStdin?: true;
  readonly caller?: string;
  readonly identityFile?: string;
  readonly identityCommand?: string;
  readonly newIdentity?: true;
  readonly force?: true;
}

/** `trellis secrets init`: asks for the settings of the other commands, and stores them with mode 0600. */
export function addInitCommand(secrets: Command, terminal: Terminal): void {
  secrets
    .command('init')
    .description('Set up this machine: ask for service, token and identity, and write them to a file with mode 0600')
    .option('--server <address>', 'URL of the service')
    .option('--token-stdin', 'read the token from standard input')
    .option('--token-command <command>', 'command that prints the token, stored instead of a token')
    .option('--caller <name>', 'name of this client in the audit log')
    .option('--identity-file <file>', 'file with the identity that opens values')
    .option('--identity-command <command>', 'command that prints the identity')
    .option('--new-identity', 'create the file with a new identity')
    .option('--config <file>', 'file to write [TRELLIS_SECRETS_CONFIG]')
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      `
On a terminal it asks for values without an option. The token is not shown while you type.

Examples:
  trellis secrets init
  trellis secrets init --server https://trellis.example.org/secrets --token-command 'pass show trellis' --new-identity`,
    )
    .action(async (flags: InitOptions) => {
      try {
        const { initialize } = await import('./initialize.js');
        await initialize(flags, terminal);
      } catch (error) {
        throw toCommandError(error);
      }
    });
}
