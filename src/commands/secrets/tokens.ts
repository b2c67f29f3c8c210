import { readAll } from '@trellis/client/paging';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { components } from '../../generated/secrets/client.js';
import { type CommandContext, unwrapResult, withContext } from './context.js';
import { EXIT, collectValues, omitUndefined, parseDays } from './options.js';
import { addConnectionOptions, type ConnectionOptions } from './settings.js';
import { type Terminal, toDateText, toJson, toTable, writeOutput } from './terminal.js';

/** One year, the limit of the contract. */
const MAX_DAYS = 365;

interface TokenListOptions extends ConnectionOptions {
  readonly json?: true;
}

interface MintOptions extends ConnectionOptions {
  readonly consumer: string;
  readonly description: string;
  readonly days?: number;
  readonly address?: readonly string[];
}

interface RotateFlags extends ConnectionOptions {
  readonly days?: number;
}

/** `trellis secrets tokens`: consumer tokens, which list and read the secrets of their consumer. */
export function addTokenCommands(secrets: Command, terminal: Terminal): void {
  const tokens = secrets
    .command('tokens')
    .description('Manage consumer tokens, each of which reads the values of one consumer');
  tokens.addHelpText(
    'after',
    `
Write tokens are created in the browser, or on the server's machine:
  trellis tokens create --kind write --label deploy --days 90
  trellis tokens create --kind write --label ci --days 90 --permission list --permission write --name-prefix shop-`,
  );
  addReading(tokens, terminal);
  addSecrets(tokens, terminal);
  addEnds(tokens, terminal);
}

function addReading(tokens: Command, terminal: Terminal): void {
  const list = tokens.command('list').description('List tokens, oldest first').option('--json', 'print JSON');
  addConnectionOptions(list).action((flags: TokenListOptions) =>
    withContext(terminal, flags, (session) => printTokens(session, flags)),
  );
}

function addSecrets(tokens: Command, terminal: Terminal): void {
  const mint = tokens
    .command('mint')
    .description('Create a token and print it once, on standard output')
    .requiredOption('--consumer <consumer>', 'consumer whose values it reads; it is added if it is unknown')
    .requiredOption('--description <text>', 'description of the token')
    .option('--days <number>', `lifetime in days, 1 to ${MAX_DAYS} (default: 90)`, parseDays(MAX_DAYS))
    .option('--address <range>', 'IP address or range from which it may be used; repeatable', collectValues)
    .addHelpText(
      'after',
      `
Example:
  trellis secrets tokens mint --consumer acme/shop --description deploy | gh secret set TRELLIS_SECRETS_TOKEN`,
    );
  addConnectionOptions(mint).action((flags: MintOptions) =>
    withContext(terminal, flags, (session) => mintConsumerToken(session, flags)),
  );
  const rotate = tokens
    .command('rotate')
    .description('Rotate a token and print the new one; the old one stops working at once')
    .argument('<id>', 'id of the token, see "list"')
    .option('--days <number>', `new lifetime in days, 1 to ${MAX_DAYS} (default: 90)`, parseDays(MAX_DAYS));
  addConnectionOptions(rotate).action((id: string, flags: RotateFlags) =>
    withContext(terminal, flags, (session) => rotateToken(session, id, flags)),
  );
}

function addEnds(tokens: Command, terminal: Terminal): void {
  const revoke = tokens
    .command('revoke')
    .description('Revoke a token; it stays in the list')
    .argument('<id>', 'id of the token, see "list"');
  addConnectionOptions(revoke).action((id: string, flags: ConnectionOptions) =>
    withContext(terminal, flags, (session) => revokeToken(session, id)),
  );
  const purge = tokens
    .command('purge')
    .description('Purge a revoked or expired token from the list')
    .argument('<id>', 'id of the token, see "list"');
  addConnectionOptions(purge).action((id: string, flags: ConnectionOptions) =>
    withContext(terminal, flags, (session) => purgeToken(session, id)),
  );
}

type ConsumerToken = components['schemas']['ConsumerTokenMetadata'];

const DAY_SECONDS = 86_400;

async function listTokens({ client }: CommandContext): Promise<ConsumerToken[]> {
  const tokens: ConsumerToken[] = [];
  const pages = readAll((page) => client.GET('/consumer-tokens', { params: { query: page } }));
  for await (const token of pages) tokens.push(token);
  return tokens;
}

async function printTokens(session: CommandContext, { json }: TokenListOptions): Promise<void> {
  const tokens = await listTokens(session);
  const text = json
    ? toJson(tokens)
    : await toTable(
        ['id', 'consumer', 'description', 'status', 'valid until', 'last used'],
        tokens.map(({ id, consumer, description, status = '', expires_at, last_used_at }) => [
          ...[id, consumer, description, status, toDateText(expires_at)],
          last_used_at === undefined ? 'never' : toDateText(last_used_at),
        ]),
        'No tokens.',
      );
  await writeOutput(session.terminal.out, text);
}

async function mintConsumerToken(session: CommandContext, flags: MintOptions): Promise<void> {
  const { consumer, description, days, address: addresses } = flags;
  const body = { consumer, description, ...lasting(days), ...omitUndefined({ addresses }) };
  await show(session, await unwrapResult(session.client.POST('/consumer-tokens', { body })), flags);
}

async function rotateToken(session: CommandContext, id: string, flags: RotateFlags): Promise<void> {
  const body = { ...lasting(flags.days) };
  const params = { path: { id } };
  await show(session, await unwrapResult(session.client.POST('/consumer-tokens/{id}/rotate', { params, body })), flags);
}

/** Omitted for the default of the service. */
const lasting = (days: number | undefined) =>
  omitUndefined({ ttl_seconds: days === undefined ? undefined : days * DAY_SECONDS });

async function show(
  session: CommandContext,
  token: components['schemas']['ConsumerTokenWithValue'],
  { json }: ConnectionOptions,
): Promise<void> {
  const { id, consumer, expires_at, value } = token;
  session.say(`Token ${id} of ${consumer}, valid until ${toDateText(expires_at)}. It is shown only once:`);
  await writeOutput(session.terminal.out, json ? toJson(token) : `${value}\n`);
}

async function revokeToken(session: CommandContext, id: string): Promise<void> {
  // The service also accepts unknown ids, such as those of write tokens, which would stay valid.
  if (!(await listTokens(session)).some((token) => token.id === id))
    throw new CommandError(
      'No consumer token with this id; "trellis tokens revoke" on the server\'s machine revokes write tokens',
      EXIT.notFound,
    );
  await unwrapResult(session.client.DELETE('/consumer-tokens/{id}', { params: { path: { id } } }));
  await session.report(`Revoked token ${id}.`, { id });
}

async function purgeToken(session: CommandContext, id: string): Promise<void> {
  await unwrapResult(session.client.DELETE('/consumer-tokens/{id}/purge', { params: { path: { id } } }));
  await session.report(`Purged token ${id}.`, { id });
}
