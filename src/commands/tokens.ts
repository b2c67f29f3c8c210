import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config.js';
import { withAccountSettings } from './accounts-database.js';
import type { Streams } from './accounts-database.js';
import type { TokensCommand } from './run-tokens.js';

/** What the API allows too. */
const MAX_DAYS = 366;

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
}

interface CreateFlags extends Flags {
  readonly user: string;
  readonly label: string;
  readonly days: number;
  readonly scope: 'read' | 'write';
}

interface ListFlags extends Flags {
  readonly user: string;
  readonly json?: true;
}

/** `trellis tokens`: personal API tokens for machines without a browser, made where the server's data is. */
export function tokensCommand(streams: Streams): Command {
  const tokens = new Command('tokens').description(
    "personal API tokens, made on the server's own machine; also while it runs",
  );
  withAccountSettings(tokens.command('create'))
    .description('make a token and print it, alone, on standard output; it is never shown again')
    .requiredOption('--user <name>', 'whose token it is')
    .requiredOption('--label <text>', 'what it is for')
    .requiredOption('--days <number>', `how long it holds: 1 to ${MAX_DAYS} days`, parseDays)
    .addOption(
      new Option('--scope <scope>', 'what it may do; "write" reads too').choices(['read', 'write']).default('read'),
    )
    .action(({ user, label, days, scope, ...flags }: CreateFlags) =>
      run(flags, streams, (commands) => commands.create({ user, label, days, scope })),
    );
  withAccountSettings(tokens.command('list'))
    .description("list a person's tokens, oldest first")
    .requiredOption('--user <name>', 'whose tokens')
    .option('--json', 'print JSON, as the API answers it')
    .action(({ user, json, ...flags }: ListFlags) =>
      run(flags, streams, (commands) => commands.list({ user, json: json === true })),
    );
  withAccountSettings(tokens.command('revoke'))
    .description('end a token, whoever it belongs to')
    .argument('<id>', 'its id, as the list shows it')
    .action((id: string, flags: Flags) => run(flags, streams, (commands) => commands.revoke(id)));
  return tokens;
}

async function run(flags: Flags, streams: Streams, work: (commands: TokensCommand) => Promise<void>): Promise<void> {
  const config = await loadConfig({ flags: { ...flags } });
  // Loading the database takes a moment, which a wrong setting and --help need not wait for.
  const { withTokens } = await import('./run-tokens.js');
  await withTokens(config, streams, work);
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS) return days;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_DAYS}.`);
}
