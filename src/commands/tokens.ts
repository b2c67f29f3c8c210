import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config.js';
import { withAccountSettings } from './accounts-database.js';
import type { Streams } from './accounts-database.js';
import { StartError } from '../start-error.js';
import type { TokensCommand } from './run-tokens.js';

/** What the API allows too. */
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

/** `trellis tokens`: tokens for machines without a browser, made where the server's data is. */
export function tokensCommand(streams: Streams): Command {
  const tokens = new Command('tokens').description(
    "API tokens of the dashboard and of the secrets, made on the server's own machine; also while it runs",
  );
  withAccountSettings(tokens.command('create'))
    .description('make a token and print it, alone, on standard output; it is never shown again')
    .addOption(kindOption())
    .option('--user <name>', 'whose personal token it is')
    .option('--consumer <name>', 'whom a consumer token speaks for')
    .requiredOption('--label <text>', 'what it is for')
    .requiredOption('--days <number>', `how long it holds: 1 to ${MAX_DAYS} days`, parseDays)
    .addOption(
      new Option('--scope <scope>', 'what a personal one may do; "write" reads too')
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
    .description("list a person's tokens, or those of the secrets, oldest first")
    .addOption(kindOption())
    .option('--user <name>', 'whose personal tokens')
    .option('--json', 'print JSON, as the API answers it')
    .action(({ kind, user, json, ...flags }: ListFlags) =>
      run(flags, streams, (commands) => commands.list({ ...requireUser({ kind, user }), json: json === true })),
    );
  withAccountSettings(tokens.command('revoke'))
    .description('end a token, whoever it belongs to')
    .argument('<id>', 'its id, as the list shows it')
    .action((id: string, flags: Flags) => run(flags, streams, (commands) => commands.revoke(id)));
  return tokens;
}

function kindOption(): Option {
  const option = new Option(
    '--kind <kind>',
    'personal ones of the dashboard, or write or consumer tokens of the secrets',
  );
  return option.choices(['personal', 'write', 'consumer']).default('personal');
}

/** @throws StartError for what the kind needs and does not come. */
function requireWhose({ kind, user, consumer }: Whose): Whose {
  if (kind === 'consumer' && consumer === undefined)
    throw new StartError('expected --consumer, whom the token speaks for');
  return { ...requireUser({ kind, user }), consumer };
}

function requireUser({ kind, user }: Whose): Whose {
  if (kind === 'personal' && user === undefined) throw new StartError('expected --user, whose tokens they are');
  return { kind, user };
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
