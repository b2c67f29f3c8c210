import type { Command } from 'commander';
import { collectValues, parseCount, parseDays, addIdOption, addRecipientOptions, addValueOptions } from './options.js';
import type { RecipientOptions, ValueOptions } from './options.js';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

/** Ten years, the limit of the contract. */
const MAX_ROTATION_DAYS = 3650;

interface IdFlags extends ConnectionOptions {
  readonly id?: string;
}

export interface PutOptions extends ConnectionOptions, RecipientOptions, ValueOptions {
  readonly tag?: readonly string[];
  readonly description?: string;
  readonly rotateAfterDays?: number;
  readonly json?: true;
}

export interface GetOptions extends IdFlags {
  readonly sealed?: true;
  readonly output?: string;
  readonly atVersion?: number;
}

export interface RotateOptions extends IdFlags, RecipientOptions, ValueOptions {
  readonly reseal?: true;
  readonly rotateAfterDays?: number;
}

/** The commands that write and read values. */
export function addValueCommands(secrets: Command, terminal: Terminal): void {
  addPut(secrets, terminal);
  addGet(secrets, terminal);
  addRotate(secrets, terminal);
}

function addPut(secrets: Command, terminal: Terminal): void {
  const put = addRecipientOptions(addValueOptions(secrets.command('put')))
    .description('Seal a value to its consumers and store it under a new name')
    .argument('<name>', 'name of letters, digits, _ and -')
    .option('--keep-readable-copy', 'also seal it to the key of the owner')
    .option('--tag <tag>', 'tag; repeatable', collectValues)
    .option('--description <text>', "description; it can't be changed later")
    .option('--rotate-after-days <number>', 'days until it is due for rotation', parseDays(MAX_ROTATION_DAYS))
    .option('--json', 'print the stored metadata')
    .addHelpText(
      'after',
      `
Examples:
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop --tag prod
  trellis secrets put tls-key --file key.pem --consumer web-1 --consumer web-2
  trellis secrets put note --recipient age1… --file note.txt`,
    );
  addConnectionOptions(put).action((name: string, flags: PutOptions) =>
    withContext(terminal, flags, async (session) => {
      const { putValue } = await import('./write-values.js');
      await putValue(session, name, flags);
    }),
  );
}

function addGet(secrets: Command, terminal: Terminal): void {
  const get = addIdOption(secrets.command('get'))
    .description('Open a value with the identity and print it')
    .argument('<secret>', 'name of the secret')
    .option('--sealed', 'print the sealed bytes; needs no identity')
    .option('--output <file>', 'write to a file with mode 0600 instead of standard output')
    .option('--at-version <number>', 'number of a previous value, see "versions"', parseCount)
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets get db-password
  trellis secrets get tls-key --output key.pem
  trellis secrets get db-password --sealed | age -d -i identity.txt`,
    );
  addConnectionOptions(get).action((name: string, flags: GetOptions) =>
    withContext(terminal, flags, async (session) => {
      const { printValue } = await import('./read-values.js');
      await printValue(session, name, flags);
    }),
  );
}

function addRotate(secrets: Command, terminal: Terminal): void {
  const rotate = addIdOption(addRecipientOptions(addValueOptions(secrets.command('rotate'))))
    .description('Replace a value; the previous value becomes a version')
    .argument('<secret>', 'name of the secret')
    .option('--reseal', 'reseal the current value to the current recipients')
    .option('--keep-readable-copy', 'also seal it to the key of the owner (default: as before, if known)')
    .option('--no-keep-readable-copy', "don't seal it to the key of the owner")
    .option('--rotate-after-days <number>', 'days until it is due for rotation again', parseDays(MAX_ROTATION_DAYS))
    .addHelpText(
      'after',
      `
Without --consumer, the consumers stay the same; with it, they are replaced. Repeat every --recipient, unless the
secret has no consumers.

Examples:
  openssl rand -base64 30 | tr -d '\\n' | trellis secrets rotate db-password
  trellis secrets rotate db-password --reseal
  for name in $(trellis secrets list --reseal --json | jq -r '.[].slug'); do
    trellis secrets rotate "$name" --reseal
  done`,
    );
  addConnectionOptions(rotate).action((name: string, flags: RotateOptions) =>
    withContext(terminal, flags, async (session) => {
      const { rotateValue } = await import('./write-values.js');
      await rotateValue(session, name, flags);
    }),
  );
}
