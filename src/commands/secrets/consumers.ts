import { CommandError } from '../../config/startup-error.js';
import type { components } from '../../generated/secrets/client.js';
import { confirm } from './confirm.js';
import type { ConsumerListOptions } from './consumers-command.js';
import { EXIT } from './exit-codes.js';
import { renameKnownConsumer, recordConsumerKey } from './known-keys-file.js';
import { omitUndefined } from './options.js';
import { toJson, toTable } from './print.js';
import { writeOutput } from './read-values.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';

type ConsumerEntry = components['schemas']['ConsumerEntry'];

/** The largest page size. */
const PAGE_SIZE = 100;

export async function printConsumers(session: CommandContext, { query, json }: ConsumerListOptions): Promise<void> {
  const consumers = await readConsumers(session, query);
  const table = toTable(
    ['name', 'secrets', 'public key'],
    consumers.map(({ name, secret_count, public_key = 'none' }) => [name, String(secret_count), public_key]),
    'No consumers.',
  );
  await writeOutput(session.terminal.out, json ? toJson(consumers) : table);
}

async function readConsumers({ client }: Pick<CommandContext, 'client'>, text?: string): Promise<ConsumerEntry[]> {
  const consumers: ConsumerEntry[] = [];
  for (let page = 1; ; page += 1) {
    const query = { ...omitUndefined({ q: text }), page, page_size: PAGE_SIZE };
    const found = await unwrapResult(client.GET('/consumers', { params: { query } }));
    if (!('consumers' in found)) return consumers;
    consumers.push(...found.consumers);
    if (page * PAGE_SIZE >= found.total) return consumers;
  }
}

export async function addConsumer(session: CommandContext, name: string, key: string | undefined): Promise<void> {
  await unwrapResult(session.client.POST('/consumers', { body: { name, ...omitUndefined({ public_key: key }) } }));
  if (key !== undefined) await recordConsumerKey(session, name, key);
  session.say(`Added ${name}${key === undefined ? ' without a public key' : ''}.`);
}

export async function updateConsumer(
  session: CommandContext,
  name: string,
  body: { readonly name?: string; readonly public_key?: string },
): Promise<void> {
  const params = { path: { name: assertNoDotSegments(name) } };
  const consumer = await unwrapResult(session.client.PATCH('/consumers/{name}', { params, body: { ...body } }));
  if (body.public_key !== undefined) await recordConsumerKey(session, consumer.name, body.public_key);
  if (body.name !== undefined) await renameKnownConsumer(session, name, consumer.name);
  const counted = `${consumer.secret_count} ${consumer.secret_count === 1 ? 'secret names' : 'secrets name'} it`;
  session.say(`${consumer.name} has ${consumer.public_key ? 'a key' : 'no key'}; ${counted}.`);
}

export async function deleteConsumer(session: CommandContext, name: string, yes: true | undefined): Promise<void> {
  const params = { path: { name: assertNoDotSegments(name) } };
  await confirm(session.terminal, {
    question: `Delete ${name}, remove it from all secrets and revoke its tokens?`,
    yes,
  });
  await unwrapResult(session.client.DELETE('/consumers/{name}', { params }));
  session.say(`Deleted ${name}.`);
}

/** Rejects "." and "..", which proxies resolve, so that they would name a different consumer. */
function assertNoDotSegments(name: string): string {
  const parts = name.split('/');
  if (!parts.some((part) => ['', '.', '..'].includes(part))) return name;
  throw new CommandError('Expected the name of a consumer without empty, "." or ".." parts', EXIT.usage);
}
