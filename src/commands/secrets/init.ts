import type { Command } from 'commander';
import { toFailure } from './exit-codes.js';
import type { Terminal } from './terminal.js';

export interface InitFlags {
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

/** `trellis secrets init`: asks for what the other commands need, and keeps it where only its owner can read it. */
export function addInitCommand(secrets: Command, terminal: Terminal): void {
  secrets
    .command('init')
    .description(
      'set up this machine: asks for the service, a token and an identity, and writes them to a file of mode 0600',
    )
    .option('--server <address>', 'where the service is')
    .option('--token-stdin', 'the token comes on standard input')
    .option('--token-command <command>', 'a command that prints the token, kept instead of a token')
    .option('--caller <name>', 'how the audit log is to name this client')
    .option('--identity-file <file>', 'the file of the identity that opens values')
    .option('--identity-command <command>', 'a command that prints it')
    .option('--new-identity', 'make the file of the identity')
    .option('--config <file>', 'the file to write [TRELLIS_SECRETS_CONFIG]')
    .option('--force', 'replace a file of that name')
    .addHelpText(
      'after',
      `
On a terminal it asks for what no option says. The token is not shown as it is typed.

Examples:
  trellis secrets init
  trellis secrets init --server https://trellis.example.org/secrets --token-command 'pass show trellis' --new-identity`,
    )
    .action(async (flags: InitFlags) => {
      try {
        const { initialize } = await import('./initialize.js');
        await initialize(flags, terminal);
      } catch (error) {
        throw toFailure(error);
      }
    });
}
