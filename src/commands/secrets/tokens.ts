import type { Command } from 'commander';
import { parseDays } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

/** A year, as in the contract. */
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

/** `trellis secrets tokens`: those of consumers, which may read the values that name them and nothing else. */
export function addTokenCommands(secrets: Command, terminal: Terminal): void {
  const tokens = secrets.command('tokens').description("consumers' tokens, each for the values that name its consumer");
  tokens.addHelpText(
    'after',
    `
Tokens that may write are made in the browser, or on the server's own machine:
  trellis tokens create --kind write --label deploy --days 90`,
  );
  addReading(tokens, terminal);
  addSecrets(tokens, terminal);
  addEnds(tokens, terminal);
}

function addReading(tokens: Command, terminal: Terminal): void {
  const list = tokens.command('list').description('list tokens, oldest first').option('--json', 'print JSON');
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
    .description('make a token and print it, alone, on standard output; it is never shown again')
    .requiredOption('--consumer <consumer>', 'whose values it reads; the consumer need not be known yet')
    .requiredOption('--description <text>', 'what it is told by')
    .option('--days <number>', `how long it holds: 1 to ${MAX_DAYS} days (default: 90)`, parseDays(MAX_DAYS))
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
    .description('give a token a new secret and print it, alone; the old one is dead at once')
    .argument('<id>', 'as the list shows it')
    .option(
      '--days <number>',
      `how long it holds from now on: 1 to ${MAX_DAYS} days (default: 90)`,
      parseDays(MAX_DAYS),
    );
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
    .description('end a token; it stays in the list')
    .argument('<id>', 'as the list shows it');
  withSettings(revoke).action((id: string, flags: SettingsFlags) =>
    withSession(terminal, flags, async (session) => {
      const { revokeToken } = await import('./run-tokens.js');
      await revokeToken(session, id);
    }),
  );
  const purge = tokens
    .command('purge')
    .description('take a token that has ended out of the list')
    .argument('<id>', 'as the list shows it');
  withSettings(purge).action((id: string, flags: SettingsFlags) =>
    withSession(terminal, flags, async (session) => {
      const { purgeToken } = await import('./run-tokens.js');
      await purgeToken(session, id);
    }),
  );
}
