import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config.js';
import { withAccountSettings } from './accounts-database.js';
import type { Streams } from './accounts-database.js';
import { StartError } from '../start-error.js';
import type { TokensCommand } from './run-tokens.js';

/** The limits of the API. */
const MAX_DAYS = 366;

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
}

interface Whose {
  readonly kind: 'consumer' | 'personal' | 'write';
  readonly user?: string;
  readonly consumer?: string;
}

interface CreateFlags extends Flags, Whose {
  readonly label: string;
  readonly days: number;
  readonly scope: 'read' | 'write';
}

interface ListFlags extends Flags, Whose {
  readonly json?: true;
}

/** `trellis tokens`: tokens for machines without a browser, created on the server's machine. */
export function tokensCommand(streams: Streams): Command {
  const tokens = new Command('tokens').description(
    "Manage tokens of the dashboard and of the secrets on the server's machine, also while the server runs",
  );
  withAccountSettings(tokens.command('create'))
    .description('Create a token and print it once, on standard output')
    .addOption(kindOption())
    .option('--user <name>', 'user of an API token')
    .option('--consumer <name>', 'consumer of a consumer token')
    .requiredOption('--label <text>', 'purpose of the token')
    .requiredOption('--days <number>', `lifetime in days, 1 to ${MAX_DAYS} days`, parseDays)
    .addOption(
      new Option('--scope <scope>', 'scope of an API token; "write" includes "read"')
        .choices(['read', 'write'])
        .default('read'),
    )
    .action(({ kind, user, consumer, label, days, scope, ...flags }: CreateFlags) =>
      run(flags, streams, (commands) => {
        const whose = requireWhose({ kind, user, consumer });
        return commands.create({ ...whose, label, days, scope });
      }),
    );
  withAccountSettings(tokens.command('list'))
    .description('List the tokens of a user or of the secrets, oldest first')
    .addOption(kindOption())
    .option('--user <name>', 'user of the API tokens')
    .option('--json', 'print the JSON of the API')
    .action(({ kind, user, json, ...flags }: ListFlags) =>
      run(flags, streams, (commands) => commands.list({ ...requireUser({ kind, user }), json: json === true })),
    );
  withAccountSettings(tokens.command('revoke'))
    .description('Revoke a token of any user')
    .argument('<id>', 'id of the token, see "list"')
    .action((id: string, flags: Flags) => run(flags, streams, (commands) => commands.revoke(id)));
  return tokens;
}

function kindOption(): Option {
  const option = new Option('--kind <kind>', 'API tokens of the dashboard, or write or consumer tokens of the secrets');
  return option.choices(['personal', 'write', 'consumer']).default('personal');
}

/** @throws StartError when an option that the kind needs is missing. */
function requireWhose({ kind, user, consumer }: Whose): Whose {
  if (kind === 'consumer' && consumer === undefined) throw new StartError('Consumer tokens need --consumer');
  return { ...requireUser({ kind, user }), consumer };
}

function requireUser({ kind, user }: Whose): Whose {
  if (kind === 'personal' && user === undefined) throw new StartError('API tokens need --user');
  return { kind, user };
}

async function run(flags: Flags, streams: Streams, work: (commands: TokensCommand) => Promise<void>): Promise<void> {
  const config = await loadConfig({ flags: { ...flags } });
  // Loaded late, so that --help and errors in settings do not wait for the database modules.
  const { withTokens } = await import('./run-tokens.js');
  await withTokens(config, streams, work);
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS) return days;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_DAYS}.`);
}
