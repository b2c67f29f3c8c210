import type { Command } from 'commander';
import { parseDays } from './options.js';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

/** One year, the limit of the contract. */
const MAX_DAYS = 365;

export interface TokenListOptions extends ConnectionOptions {
  readonly json?: true;
}

export interface MintOptions extends ConnectionOptions {
  readonly consumer: string;
  readonly description: string;
  readonly days?: number;
}

interface RotateFlags extends ConnectionOptions {
  readonly days?: number;
}

/** `trellis secrets tokens`: consumer tokens, which read the values of their consumer. */
export function addTokenCommands(secrets: Command, terminal: Terminal): void {
  const tokens = secrets
    .command('tokens')
    .description('Manage consumer tokens, each of which reads the values of one consumer');
  tokens.addHelpText(
    'after',
    `
Write tokens are created in the browser, or on the server's machine:
  trellis tokens create --kind write --label deploy --days 90`,
  );
  addReading(tokens, terminal);
  addSecrets(tokens, terminal);
  addEnds(tokens, terminal);
}

function addReading(tokens: Command, terminal: Terminal): void {
  const list = tokens.command('list').description('List tokens, oldest first').option('--json', 'print JSON');
  addConnectionOptions(list).action((flags: TokenListOptions) =>
    withContext(terminal, flags, async (session) => {
      const { printTokens } = await import('./tokens.js');
      await printTokens(session, flags);
    }),
  );
}

function addSecrets(tokens: Command, terminal: Terminal): void {
  const mint = tokens
    .command('mint')
    .description('Create a token and print it once, on standard output')
    .requiredOption('--consumer <consumer>', 'consumer whose values it reads; it is added if it is unknown')
    .requiredOption('--description <text>', 'description of the token')
    .option('--days <number>', `lifetime in days, 1 to ${MAX_DAYS} (default: 90)`, parseDays(MAX_DAYS))
    .addHelpText(
      'after',
      `
Example:
  trellis secrets tokens mint --consumer acme/shop --description deploy | gh secret set TRELLIS_SECRETS_TOKEN`,
    );
  addConnectionOptions(mint).action((flags: MintOptions) =>
    withContext(terminal, flags, async (session) => {
      const { mintConsumerToken } = await import('./tokens.js');
      await mintConsumerToken(session, flags);
    }),
  );
  const rotate = tokens
    .command('rotate')
    .description('Rotate a token and print the new one; the old one stops working at once')
    .argument('<id>', 'id of the token, see "list"')
    .option('--days <number>', `new lifetime in days, 1 to ${MAX_DAYS} (default: 90)`, parseDays(MAX_DAYS));
  addConnectionOptions(rotate).action((id: string, flags: RotateFlags) =>
    withContext(terminal, flags, async (session) => {
      const { rotateToken } = await import('./tokens.js');
      await rotateToken(session, id, flags.days);
    }),
  );
}

function addEnds(tokens: Command, terminal: Terminal): void {
  const revoke = tokens
    .command('revoke')
    .description('Revoke a token; it stays in the list')
    .argument('<id>', 'id of the token, see "list"');
  addConnectionOptions(revoke).action((id: string, flags: ConnectionOptions) =>
    withContext(terminal, flags, async (session) => {
      const { revokeToken } = await import('./tokens.js');
      await revokeToken(session, id);
    }),
  );
  const purge = tokens
    .command('purge')
    .description('Purge a revoked or expired token from the list')
    .argument('<id>', 'id of the token, see "list"');
  addConnectionOptions(purge).action((id: string, flags: ConnectionOptions) =>
    withContext(terminal, flags, async (session) => {
      const { purgeToken } = await import('./tokens.js');
      await purgeToken(session, id);
    }),
  );
}
