import { CommandFailure } from '../../start-error.js';
import type { components } from '../../generated/secrets/client.js';
import { confirm } from './confirm.js';
import type { ConsumerListFlags } from './consumers.js';
import { EXIT } from './exit-codes.js';
import { moveConsumerKey, rememberConsumerKey } from './known-keys-file.js';
import { defined } from './options.js';
import { toJson, toTable } from './print.js';
import { write } from './read-values.js';
import { request } from './session.js';
import type { Session } from './session.js';

type ConsumerEntry = components['schemas']['ConsumerEntry'];

/** The largest page size. */
const PAGE_SIZE = 100;

export async function listConsumers(session: Session, { query, json }: ConsumerListFlags): Promise<void> {
  const consumers = await readConsumers(session, query);
  const table = toTable(
    ['name', 'secrets', 'public key'],
    consumers.map(({ name, secret_count, public_key = 'none' }) => [name, String(secret_count), public_key]),
    'No consumers.',
  );
  await write(session.terminal.out, json ? toJson(consumers) : table);
}

async function readConsumers({ client }: Pick<Session, 'client'>, text?: string): Promise<ConsumerEntry[]> {
  const consumers: ConsumerEntry[] = [];
  for (let page = 1; ; page += 1) {
    const query = { ...defined({ q: text }), page, page_size: PAGE_SIZE };
    const found = await request(client.GET('/consumers', { params: { query } }));
    if (!('consumers' in found)) return consumers;
    consumers.push(...found.consumers);
    if (page * PAGE_SIZE >= found.total) return consumers;
  }
}

export async function addConsumer(session: Session, name: string, key: string | undefined): Promise<void> {
  await request(session.client.POST('/consumers', { body: { name, ...defined({ public_key: key }) } }));
  if (key !== undefined) await rememberConsumerKey(session, name, key);
  session.say(`Added ${name}${key === undefined ? ' without a public key' : ''}.`);
}

export async function updateConsumer(
  session: Session,
  name: string,
  body: { readonly name?: string; readonly public_key?: string },
): Promise<void> {
  const params = { path: { name: requirePlain(name) } };
  const consumer = await request(session.client.PATCH('/consumers/{name}', { params, body: { ...body } }));
  if (body.public_key !== undefined) await rememberConsumerKey(session, consumer.name, body.public_key);
  if (body.name !== undefined) await moveConsumerKey(session, name, consumer.name);
  const counted = `${consumer.secret_count} ${consumer.secret_count === 1 ? 'secret names' : 'secrets name'} it`;
  session.say(`${consumer.name} has ${consumer.public_key ? 'a key' : 'no key'}; ${counted}.`);
}

export async function deleteConsumer(session: Session, name: string, yes: true | undefined): Promise<void> {
  const params = { path: { name: requirePlain(name) } };
  await confirm(session.terminal, {
    question: `Delete ${name}, remove it from all secrets and revoke its tokens?`,
    yes,
  });
  await request(session.client.DELETE('/consumers/{name}', { params }));
  session.say(`Deleted ${name}.`);
}

/** Rejects "." and "..", which proxies resolve, so that they would name a different consumer. */
function requirePlain(name: string): string {
  const parts = name.split('/');
  if (!parts.some((part) => ['', '.', '..'].includes(part))) return name;
  throw new CommandFailure('Expected the name of a consumer without empty, "." or ".." parts', EXIT.usage);
}
