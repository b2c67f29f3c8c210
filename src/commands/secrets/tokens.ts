import type { Command } from 'commander';
import { parseDays } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

/** One year, the limit of the contract. */
const MAX_DAYS = 365;

export interface TokenListFlags extends SettingsFlags {
  readonly json?: true;
}

export interface MintFlags extends SettingsFlags {
  readonly consumer: string;
  readonly description: string;
  readonly days?: number;
}

interface RotateFlags extends SettingsFlags {
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
  withSettings(list).action((flags: TokenListFlags) =>
    withSession(terminal, flags, async (session) => {
      const { listTokens } = await import('./run-tokens.js');
      await listTokens(session, flags);
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
  withSettings(mint).action((flags: MintFlags) =>
    withSession(terminal, flags, async (session) => {
      const { mintToken } = await import('./run-tokens.js');
      await mintToken(session, flags);
    }),
  );
  const rotate = tokens
    .command('rotate')
    .description('Rotate a token and print the new one; the old one stops working at once')
    .argument('<id>', 'id of the token, see "list"')
    .option('--days <number>', `new lifetime in days, 1 to ${MAX_DAYS} (default: 90)`, parseDays(MAX_DAYS));
  withSettings(rotate).action((id: string, flags: RotateFlags) =>
    withSession(terminal, flags, async (session) => {
      const { rotateToken } = await import('./run-tokens.js');
      await rotateToken(session, id, flags.days);
    }),
  );
}

function addEnds(tokens: Command, terminal: Terminal): void {
  const revoke = tokens
    .command('revoke')
    .description('Revoke a token; it stays in the list')
    .argument('<id>', 'id of the token, see "list"');
  withSettings(revoke).action((id: string, flags: SettingsFlags) =>
    withSession(terminal, flags, async (session) => {
      const { revokeToken } = await import('./run-tokens.js');
      await revokeToken(session, id);
    }),
  );
  const purge = tokens
    .command('purge')
    .description('Purge a revoked or expired token from the list')
    .argument('<id>', 'id of the token, see "list"');
  withSettings(purge).action((id: string, flags: SettingsFlags) =>
    withSession(terminal, flags, async (session) => {
      const { purgeToken } = await import('./run-tokens.js');
      await purgeToken(session, id);
    }),
  );
}
