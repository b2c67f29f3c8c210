import { readAll } from '../../client/paging.js';
import type { components } from '../../generated/secrets/client.js';
import { defined } from './options.js';
import { toDay, toJson, toTable } from './print.js';
import { write } from './read-values.js';
import { request } from './session.js';
import type { Session } from './session.js';
import type { MintFlags, TokenListFlags } from './tokens.js';

type ConsumerToken = components['schemas']['ConsumerTokenMetadata'];

const DAY_SECONDS = 86_400;

export async function listTokens({ client, terminal }: Session, { json }: TokenListFlags): Promise<void> {
  const tokens: ConsumerToken[] = [];
  const pages = readAll((page) => client.GET('/consumer-tokens', { params: { query: page } }));
  for await (const token of pages) tokens.push(token);
  const table = toTable(
    ['id', 'consumer', 'description', 'status', 'valid until', 'last used'],
    tokens.map(({ id, consumer, description, status = '', expires_at, last_used_at }) => [
      ...[id, consumer, description, status, toDay(expires_at)],
      last_used_at === undefined ? 'never' : toDay(last_used_at),
    ]),
    'No tokens.',
  );
  await write(terminal.out, json ? toJson(tokens) : table);
}

export async function mintToken(session: Session, { consumer, description, days }: MintFlags): Promise<void> {
  const body = { consumer, description, ...lasting(days) };
  await show(session, await request(session.client.POST('/consumer-tokens', { body })));
}

export async function rotateToken(session: Session, id: string, days: number | undefined): Promise<void> {
  const body = { ...lasting(days) };
  const params = { path: { id } };
  await show(session, await request(session.client.POST('/consumer-tokens/{id}/rotate', { params, body })));
}

/** Omitted for the default of the service. */
const lasting = (days: number | undefined) =>
  defined({ ttl_seconds: days === undefined ? undefined : days * DAY_SECONDS });

async function show(session: Session, token: components['schemas']['ConsumerTokenWithValue']): Promise<void> {
  const { id, consumer, expires_at, value } = token;
  session.say(`Token ${id} of ${consumer}, valid until ${toDay(expires_at)}. It is shown only once:`);
  await write(session.terminal.out, `${value}\n`);
}

export async function revokeToken(session: Session, id: string): Promise<void> {
  await request(session.client.DELETE('/consumer-tokens/{id}', { params: { path: { id } } }));
  session.say(`Revoked token ${id}.`);
}

export async function purgeToken(session: Session, id: string): Promise<void> {
  await request(session.client.DELETE('/consumer-tokens/{id}/purge', { params: { path: { id } } }));
  session.say(`Purged token ${id}.`);
}
