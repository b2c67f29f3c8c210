import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config/config.js';
import { addAccountOptions } from './accounts-database.js';
import type { OutputStreams } from './accounts-database.js';
import { StartupError } from '../config/startup-error.js';
import type { TokenOperations } from './tokens.js';

/** The longest lifetimes that the contracts allow, in days. */
const MAX_DAYS = { personal: 366, write: 365, consumer: 365 } as const;

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
}

interface TokenSelection {
  readonly kind: 'consumer' | 'personal' | 'write';
  readonly user?: string;
  readonly consumer?: string;
}

interface CreateFlags extends Flags, TokenSelection {
  readonly label: string;
  readonly days: number;
  readonly scope: 'read' | 'write';
}

interface ListFlags extends Flags, TokenSelection {
  readonly json?: true;
}

/** `trellis tokens`: tokens for machines without a browser, created on the server's machine. */
export function tokensCommand(streams: OutputStreams): Command {
  const tokens = new Command('tokens').description(
    "Manage API, write and consumer tokens on the server's machine, also while the server runs",
  );
  addAccountOptions(tokens.command('create'))
    .description('Create a token and print it once, on standard output')
    .addOption(kindOption())
    .option('--user <name>', 'username for an API token')
    .option('--consumer <name>', 'consumer for a consumer token')
    .requiredOption('--label <text>', 'purpose of the token')
    .requiredOption(
      '--days <number>',
      `lifetime in days, 1 to ${MAX_DAYS.personal}; ${MAX_DAYS.write} for secrets`,
      parseDays,
    )
    .addOption(
      new Option('--scope <scope>', 'scope of an API token; "write" includes "read"')
        .choices(['read', 'write'])
        .default('read'),
    )
    .action(({ kind, user, consumer, label, days, scope, ...flags }: CreateFlags) =>
      run(flags, streams, (commands) => {
        const selection = assertConsumer({ kind, user, consumer });
        assertLifetime(kind, days);
        return commands.create({ ...selection, label, days, scope });
      }),
    );
  addAccountOptions(tokens.command('list'))
    .description('List the API tokens of a user, or all write or consumer tokens, oldest first')
    .addOption(kindOption())
    .option('--user <name>', 'username for API tokens')
    .option('--json', 'print the JSON of the API')
    .action(({ kind, user, json, ...flags }: ListFlags) =>
      run(flags, streams, (commands) => commands.list({ ...assertUser({ kind, user }), json: json === true })),
    );
  addAccountOptions(tokens.command('revoke'))
    .description('Revoke a token of any user')
    .argument('<id>', 'id of the token, see "list"')
    .action((id: string, flags: Flags) => run(flags, streams, (commands) => commands.revoke(id)));
  return tokens;
}

function kindOption(): Option {
  const option = new Option(
    '--kind <kind>',
    'kind of token: personal is an API token of the dashboard, write and consumer are for secrets',
  );
  return option.choices(['personal', 'write', 'consumer']).default('personal');
}

/** @throws StartError when an option that the kind requires is missing. */
function assertConsumer({ kind, user, consumer }: TokenSelection): TokenSelection {
  if (kind === 'consumer' && consumer === undefined) throw new StartupError('Consumer tokens require --consumer');
  return { ...assertUser({ kind, user }), consumer };
}

function assertUser({ kind, user }: TokenSelection): TokenSelection {
  if (kind === 'personal' && user === undefined) throw new StartupError('API tokens require --user');
  return { kind, user };
}

async function run(
  flags: Flags,
  streams: OutputStreams,
  work: (commands: TokenOperations) => Promise<void>,
): Promise<void> {
  const config = await loadConfig({ flags: { ...flags } });
  // Loaded late, so that --help and errors in settings do not wait for the database modules.
  const { withTokenOperations } = await import('./tokens.js');
  await withTokenOperations(config, streams, work);
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS.personal) return days;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_DAYS.personal}.`);
}

function assertLifetime(kind: TokenSelection['kind'], days: number): void {
  const limit = MAX_DAYS[kind];
  if (days > limit)
    throw new StartupError(`Expected --days to be at most ${limit} for ${kind} tokens; received ${days}`);
}
