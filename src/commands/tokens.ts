import { Command, InvalidArgumentError, Option } from 'commander';
import type { CliTokens, ApiToken } from '../accounts/api-tokens.js';
import { type Permission, type TokenAccess, ALL_PERMISSIONS } from '../accounts/callers.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { StartupError } from '../config/startup-error.js';
import type { CliServiceTokens, TokenMetadata } from '../secrets/service-tokens.js';
import { collectValues } from './secrets/options.js';
import { toTable } from './secrets/terminal.js';
import { addServerOptions, withServerDatabase, type OutputStreams } from './server-options.js';

/** The longest lifetimes that the contracts allow, in days. */
const MAX_DAYS = { personal: 366, write: 365, consumer: 365 } as const;

const DAY_SECONDS = 86_400;

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
}

/** Selects tokens: `user` is required for API tokens, `consumer` for consumer tokens. */
interface TokenSelection {
  readonly kind: 'consumer' | 'personal' | 'write';
  readonly user?: string;
  readonly consumer?: string;
}

interface NewToken extends Omit<TokenSelection, 'consumer'> {
  readonly label: string;
  readonly days: number;
  readonly scope: 'read' | 'write';
  readonly consumer?: readonly string[];
  readonly permission?: readonly Permission[];
  readonly namePrefix?: string;
  readonly tag?: readonly string[];
  readonly address?: readonly string[];
}

interface TokenListing extends TokenSelection {
  readonly json?: true;
}

/** `trellis tokens`: tokens for machines without a browser, created on the server's machine. */
export function tokensCommand(streams: OutputStreams): Command {
  const tokens = new Command('tokens').description(
    "Manage API, write and consumer tokens on the server's machine, also while the server runs",
  );
  addTokenCommand(tokens, 'create')
    .description('Create a token and print it once, on standard output')
    .addOption(kindOption())
    .option('--user <name>', 'username for an API token')
    .option(
      '--consumer <name>',
      'consumer of a consumer token; limits a write token to secrets of this consumer, repeatable',
      collectValues,
    )
    .requiredOption('--label <text>', 'purpose of the token')
    .requiredOption(
      '--days <number>',
      `lifetime in days, 1 to ${MAX_DAYS.personal}, or to ${MAX_DAYS.write} for tokens of secrets`,
      parseDays,
    )
    .addOption(
      new Option('--scope <scope>', 'scope of an API token; "write" includes "read"')
        .choices(['read', 'write'])
        .default('read'),
    )
    .addOption(
      new Option(
        '--permission <permission>',
        `permission of a write token: ${ALL_PERMISSIONS.join(', ')}; repeatable`,
      ).argParser(parsePermission),
    )
    .option('--name-prefix <text>', 'limits a write token to secrets whose names start with this text')
    .option('--tag <tag>', 'limits a write token to secrets with this tag; repeatable', collectValues)
    .option(
      '--address <range>',
      'IP address or range that may use a write or consumer token; repeatable',
      collectValues,
    )
    .action(({ config, state, databaseUrl, ...request }: Flags & NewToken) =>
      withTokens({ config, state, databaseUrl }, (stored) => createToken(stored, streams, request)),
    );
  addTokenCommand(tokens, 'list')
    .description('List the API tokens of a user, or all write or consumer tokens, oldest first')
    .addOption(kindOption())
    .option('--user <name>', 'username for API tokens')
    .option('--json', 'print the JSON of the API')
    .action(({ kind, user, json, ...flags }: Flags & TokenListing) =>
      withTokens(flags, (stored) => printTokens(stored, streams, { kind, user, json })),
    );
  addTokenCommand(tokens, 'revoke')
    .description('Revoke a token of any user')
    .argument('<id>', 'id of the token, see "list"')
    .action((id: string, flags: Flags) =>
      withTokens(flags, async ({ personal, secret }) => {
        if (!(await secret.revoke(id))) await personal.revoke(id);
        streams.err.write(`Revoked token ${id}.\n`);
      }),
    );
  return tokens;
}

const addTokenCommand = (tokens: Command, name: string): Command =>
  addServerOptions(tokens.command(name), CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl);

function kindOption(): Option {
  const option = new Option(
    '--kind <kind>',
    'kind of token: personal is an API token of a user, write and consumer are for secrets',
  );
  return option.choices(['personal', 'write', 'consumer']).default('personal');
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS.personal) return days;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_DAYS.personal}.`);
}

function parsePermission(text: string, before: readonly Permission[] = []): readonly Permission[] {
  const permission = ALL_PERMISSIONS.find((each) => each === text);
  if (permission !== undefined) return [...before, permission];
  throw new InvalidArgumentError(`Expected ${ALL_PERMISSIONS.join(', ')}.`);
}

interface Tokens {
  readonly personal: CliTokens;
  readonly secret: CliServiceTokens;
}

/** @throws StartError of one line for an invalid option, name, label or id. */
function withTokens({ ...flags }: Flags, work: (tokens: Tokens) => Promise<void>): Promise<void> {
  return withServerDatabase(flags, async (database) => {
    const { createCliTokens } = await import('../accounts/api-tokens.js');
    const { serviceTokens } = await import('../accounts/bearer-tokens.js');
    const { createCliServiceTokens } = await import('../secrets/service-tokens.js');
    const secret = createCliServiceTokens(database, { store: serviceTokens });
    await work({ personal: createCliTokens(database), secret });
  });
}

async function createToken(tokens: Tokens, { out, err }: OutputStreams, request: NewToken): Promise<void> {
  const { kind, user, consumer = [], days } = request;
  if (kind === 'personal') assertUser(user);
  if (kind === 'consumer' && consumer.length !== 1) throw new StartupError('Consumer tokens require one --consumer');
  assertLimits(request);
  const limit = MAX_DAYS[kind];
  if (days > limit)
    throw new StartupError(`Expected --days to be at most ${limit} for ${kind} tokens; received ${days}`);
  const { id, token, expiresAt, owner } = await storeToken(tokens, request);
  err.write(`Token ${id} of ${owner}, valid until ${toDay(expiresAt)}. It is shown only once:\n`);
  out.write(`${token}\n`);
}

/** Asserts that limits are given for the kinds of tokens that have them. */
function assertLimits({ kind, consumer, permission, namePrefix, tag, address }: NewToken): void {
  const ofWriteTokens = { '--permission': permission, '--name-prefix': namePrefix, '--tag': tag };
  const wrong =
    kind === 'write' ? undefined : Object.entries(ofWriteTokens).find(([, value]) => value !== undefined)?.[0];
  if (wrong !== undefined) throw new StartupError(`Only write tokens have ${wrong}`);
  if (kind === 'personal' && (address ?? consumer) !== undefined) {
    throw new StartupError(`API tokens have no ${address === undefined ? '--consumer' : '--address'}`);
  }
}

function assertUser(user: string | undefined): void {
  if (user === undefined) throw new StartupError('API tokens require --user');
}

interface CreatedToken {
  readonly id: string;
  readonly token: string;
  readonly expiresAt: Date;
  readonly owner: string;
}

async function storeToken(
  { personal, secret }: Tokens,
  { kind, user = '', label, days, scope, ...limits }: NewToken,
): Promise<CreatedToken> {
  const ttlSeconds = days * DAY_SECONDS;
  if (kind !== 'personal') {
    const { consumer: consumers = [], permission: permissions, namePrefix, tag: tags, address: addresses } = limits;
    const [consumer = ''] = consumers;
    const access =
      kind === 'consumer'
        ? { addresses }
        : { permissions, namePrefix, tags, addresses, ...(consumers.length > 0 && { consumers }) };
    const token = { description: label, ttlSeconds, access, ...(kind === 'consumer' && { consumer }) };
    return {
      ...(await secret.create(kind, token)),
      owner: kind === 'consumer' ? consumer : 'the owner of the secrets',
    };
  }
  const scopes = scope === 'write' ? (['read', 'write'] as const) : (['read'] as const);
  const expiresAt = new Date(Date.now() + ttlSeconds * 1_000);
  return { ...(await personal.create(user, { label, scopes, expiresAt })), owner: user };
}

async function printTokens(
  { personal, secret }: Tokens,
  { out }: OutputStreams,
  { kind, user, json }: TokenListing,
): Promise<void> {
  if (kind === 'personal') assertUser(user);
  const own = kind === 'personal' ? await personal.list(user ?? '') : await secret.list(kind);
  out.write(json ? `${JSON.stringify(own, undefined, 2)}\n` : await toTokenTable(own));
}

function toTokenTable(tokens: readonly (ApiToken | TokenMetadata)[]): Promise<string> {
  const rows = tokens.map((token) => {
    const { id, expiresAt, lastUsedAt } = token;
    return [id, ...toCells(token), toDay(expiresAt), lastUsedAt === undefined ? 'never' : toDay(lastUsedAt)];
  });
  return toTable(['id', 'label', 'permissions', 'valid until', 'last used'], rows, 'No tokens.');
}

/** Returns the label and the permissions of a token; for an inactive one, its status instead. */
function toCells(token: ApiToken | TokenMetadata): [label: string, permissions: string] {
  if ('scopes' in token) return [token.label, token.scopes.join(' ')];
  const { description, consumer, status } = token;
  if (status !== 'active') return [description, status];
  return [description, consumer === undefined ? describeAccess(token.access) : `read secrets of ${consumer}`];
}

function describeAccess({ permissions, namePrefix, tags, consumers, addresses }: TokenAccess = {}): string {
  return [
    permissions === undefined ? 'manage secrets' : `${permissions.join(', ')} secrets`,
    ...(namePrefix === undefined ? [] : [`names ${namePrefix}…`]),
    ...(tags === undefined ? [] : [`tags ${tags.join(', ')}`]),
    ...(consumers === undefined ? [] : [`consumers ${consumers.join(', ')}`]),
    ...(addresses === undefined ? [] : [`from ${addresses.join(', ')}`]),
  ].join('; ');
}

const toDay = (date: Date): string => date.toISOString().slice(0, 10);
