import type { Command } from 'commander';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

export interface ConsumerListOptions extends ConnectionOptions {
  readonly query?: string;
  readonly json?: true;
}

interface ConsumerFlags extends ConnectionOptions {
  readonly key?: string;
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
    withContext(terminal, flags, async (session) => {
      const { printConsumers } = await import('./consumers.js');
      await printConsumers(session, flags);
    }),
  );
}

function addChanges(consumers: Command, terminal: Terminal): void {
  const add = consumers
    .command('add')
    .description('Add a consumer before a secret names it')
    .argument('<name>', 'such as acme/shop or web-1')
    .option('--key <key>', 'public key (age1…)')
    .addHelpText('after', '\nExample:\n  trellis secrets consumers add web-1 --key "$(age-keygen -y key.txt)"');
  addConnectionOptions(add).action((name: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, async (session) => {
      const { addConsumer } = await import('./consumers.js');
      await addConsumer(session, name, flags.key);
    }),
  );
  const rename = consumers
    .command('rename')
    .description('Rename a consumer; an existing name merges both')
    .argument('<consumer>', 'name of the consumer')
    .argument('<name>', 'new name');
  addConnectionOptions(rename).action((name: string, to: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, async (session) => {
      const { updateConsumer } = await import('./consumers.js');
      await updateConsumer(session, name, { name: to });
    }),
  );
  const key = consumers
    .command('key')
    .description('Set the public key of a consumer; "list --reseal" then lists the secrets to reseal')
    .argument('<consumer>', 'name of the consumer')
    .argument('<key>', 'public key (age1…)');
  addConnectionOptions(key).action((name: string, publicKey: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, async (session) => {
      const { updateConsumer } = await import('./consumers.js');
      await updateConsumer(session, name, { public_key: publicKey });
    }),
  );
  const remove = consumers
    .command('delete')
    .description('Delete a consumer: remove it from all secrets and revoke its tokens')
    .argument('<consumer>', 'name of the consumer')
    .option('--yes', 'do not ask for confirmation');
  addConnectionOptions(remove).action((name: string, flags: ConsumerFlags) =>
    withContext(terminal, flags, async (session) => {
      const { deleteConsumer } = await import('./consumers.js');
      await deleteConsumer(session, name, flags.yes);
    }),
  );
}
