import { readAll } from '../../client/paging.js';
import type { components } from '../../generated/secrets/client.js';
import { omitUndefined } from './options.js';
import { toDateText, toJson, toTable } from './print.js';
import { writeOutput } from './read-values.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';
import type { MintOptions, TokenListOptions } from './tokens-command.js';

type ConsumerToken = components['schemas']['ConsumerTokenMetadata'];

const DAY_SECONDS = 86_400;

export async function printTokens({ client, terminal }: CommandContext, { json }: TokenListOptions): Promise<void> {
  const tokens: ConsumerToken[] = [];
  const pages = readAll((page) => client.GET('/consumer-tokens', { params: { query: page } }));
  for await (const token of pages) tokens.push(token);
  const table = toTable(
    ['id', 'consumer', 'description', 'status', 'valid until', 'last used'],
    tokens.map(({ id, consumer, description, status = '', expires_at, last_used_at }) => [
      ...[id, consumer, description, status, toDateText(expires_at)],
      last_used_at === undefined ? 'never' : toDateText(last_used_at),
    ]),
    'No tokens.',
  );
  await writeOutput(terminal.out, json ? toJson(tokens) : table);
}

export async function mintConsumerToken(
  session: CommandContext,
  { consumer, description, days }: MintOptions,
): Promise<void> {
  const body = { consumer, description, ...lasting(days) };
  await show(session, await unwrapResult(session.client.POST('/consumer-tokens', { body })));
}

export async function rotateToken(session: CommandContext, id: string, days: number | undefined): Promise<void> {
  const body = { ...lasting(days) };
  const params = { path: { id } };
  await show(session, await unwrapResult(session.client.POST('/consumer-tokens/{id}/rotate', { params, body })));
}

/** Omitted for the default of the service. */
const lasting = (days: number | undefined) =>
  omitUndefined({ ttl_seconds: days === undefined ? undefined : days * DAY_SECONDS });

async function show(session: CommandContext, token: components['schemas']['ConsumerTokenWithValue']): Promise<void> {
  const { id, consumer, expires_at, value } = token;
  session.say(`Token ${id} of ${consumer}, valid until ${toDateText(expires_at)}. It is shown only once:`);
  await writeOutput(session.terminal.out, `${value}\n`);
}

export async function revokeToken(session: CommandContext, id: string): Promise<void> {
  await unwrapResult(session.client.DELETE('/consumer-tokens/{id}', { params: { path: { id } } }));
  session.say(`Revoked token ${id}.`);
}

export async function purgeToken(session: CommandContext, id: string): Promise<void> {
  await unwrapResult(session.client.DELETE('/consumer-tokens/{id}/purge', { params: { path: { id } } }));
  session.say(`Purged token ${id}.`);
}
