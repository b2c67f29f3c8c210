import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { components } from '../../generated/secrets/client.js';
import { isForeignIdentity } from './age/open-value.js';
import { type CommandContext, loadSealing, unwrapResult, withContext } from './context.js';
import { recordConsumerKey, renameKnownConsumer } from './known-keys-file.js';
import { EXIT, omitUndefined } from './options.js';
import { addConnectionOptions, type ConnectionOptions } from './settings.js';
import { type Terminal, confirm, toJson, toTable, writeOutput } from './terminal.js';

interface ConsumerListOptions extends ConnectionOptions {
  readonly query?: string;
  readonly json?: true;
}

interface ConsumerFlags extends ConnectionOptions {
  readonly key?: string;
  readonly ownKey?: true;
  readonly yes?: true;
}

/** `trellis secrets consumers`: repositories and hosts that read secrets, and their public keys. */
export function addConsumerCommands(secrets: Command, terminal: Terminal): void {
  const consumers = secrets
    .command('consumers')
    .description('Manage consumers: the repositories and hosts that read secrets');
  addReading(consumers, terminal);
  addChanges(consumers, terminal);
}

function addReading(consumers: Command, terminal: Terminal): void {
  const list = consumers
    .command('list')
    .description('List consumers with their public keys and the number of their secrets')
    .option('--query <text>', 'only names that contain this text')
    .option('--json', 'print JSON');
  addConnectionOptions(list).action((flags: ConsumerListOptions) =>
    withContext(terminal, flags, (session) => printConsumers(session, flags)),
  );
}

function addChanges(consumers: Command, terminal: Terminal): void {
  const add = consumers
    .command('add')
    .description('Add a consumer before a secret names it')
    .argument('<name>', 'such as acme/shop or web-1')
    .option('--key <key>', 'public key (age1…)')
    .option('--own-key', 'use the public key of the identity of this machine')
    .addHelpText('after', '\nExample:\n  trellis secrets consumers add web-1 --key "$(age-keygen -y key.txt)"');
  addConnectionOptions(add).action((name: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, async (session) =>
      addConsumer(session, name, flags.ownKey ? await readOwnKey(session) : flags.key),
    ),
  );
  const rename = consumers
    .command('rename')
    .description('Rename a consumer; an existing name merges both')
    .argument('<consumer>', 'name of the consumer')
    .argument('<name>', 'new name');
  addConnectionOptions(rename).action((name: string, to: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, (session) => updateConsumer(session, name, { name: to })),
  );
  const key = consumers
    .command('key')
    .description('Set the public key of a consumer; "list --reseal" then lists the secrets to reseal')
    .argument('<consumer>', 'name of the consumer')
    .argument('<key>', 'public key (age1…)');
  addConnectionOptions(key).action((name: string, publicKey: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, (session) => updateConsumer(session, name, { public_key: publicKey })),
  );
  const remove = consumers
    .command('delete')
    .description('Delete a consumer: remove it from all secrets and revoke its tokens')
    .argument('<consumer>', 'name of the consumer')
    .option('--yes', 'do not ask for confirmation');
  addConnectionOptions(remove).action((name: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, (session) => deleteConsumer(session, name, flags.yes)),
  );
}

type ConsumerEntry = components['schemas']['ConsumerEntry'];

/** The largest page size. */
const PAGE_SIZE = 100;

async function printConsumers(session: CommandContext, { query, json }: ConsumerListOptions): Promise<void> {
  const consumers = await readConsumers(session, query);
  const text = json
    ? toJson(consumers)
    : await toTable(
        ['name', 'secrets', 'public key'],
        consumers.map(({ name, secret_count, public_key = 'none' }) => [name, String(secret_count), public_key]),
        'No consumers.',
      );
  await writeOutput(session.terminal.out, text);
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

/** @throws CommandError for an identity that has several public keys. */
async function readOwnKey(session: CommandContext): Promise<string> {
  const { toRecipients } = await loadSealing();
  const identity = await session.readIdentity();
  if (isForeignIdentity(identity)) {
    const reason =
      'Consumers need an age key (age1…), as the pages encrypt to it too; the identity is a different kind';
    throw new CommandError(reason, EXIT.usage);
  }
  const [key, other] = await toRecipients(identity);
  if (key !== undefined && other === undefined) return key;
  throw new CommandError('The identity has several public keys; choose one with --key', EXIT.usage);
}

async function addConsumer(session: CommandContext, name: string, key: string | undefined): Promise<void> {
  const added = await unwrapResult(
    session.client.POST('/consumers', { body: { name, ...omitUndefined({ public_key: key }) } }),
  );
  if (key !== undefined) await recordConsumerKey(session, name, key);
  await session.report(`Added ${name}${key === undefined ? ' without a public key' : ''}.`, added);
}

async function updateConsumer(
  session: CommandContext,
  name: string,
  body: { readonly name?: string; readonly public_key?: string },
): Promise<void> {
  const params = { path: { name: assertNoDotSegments(name) } };
  const consumer = await unwrapResult(session.client.PATCH('/consumers/{name}', { params, body: { ...body } }));
  if (body.public_key !== undefined) await recordConsumerKey(session, consumer.name, body.public_key);
  if (body.name !== undefined) await renameKnownConsumer(session, name, consumer.name);
  const counted = `${consumer.secret_count} ${consumer.secret_count === 1 ? 'secret names' : 'secrets name'} it`;
  await session.report(`${consumer.name} has ${consumer.public_key ? 'a key' : 'no key'}; ${counted}.`, consumer);
}

async function deleteConsumer(session: CommandContext, name: string, yes: true | undefined): Promise<void> {
  const params = { path: { name: assertNoDotSegments(name) } };
  await confirm(session.terminal, {
    question: `Delete ${name}, remove it from all secrets and revoke its tokens?`,
    yes,
  });
  await unwrapResult(session.client.DELETE('/consumers/{name}', { params }));
  await session.report(`Deleted ${name}.`, { name });
}

/** Rejects "." and "..", which proxies resolve, so that they would name a different consumer. */
function assertNoDotSegments(name: string): string {
  const parts = name.split('/');
  if (!parts.some((part) => ['', '.', '..'].includes(part))) return name;
  throw new CommandError('Expected the name of a consumer without empty, "." or ".." parts', EXIT.usage);
}
