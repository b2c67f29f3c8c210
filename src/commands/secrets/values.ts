import type { Command } from 'commander';
import { collect, parseCount, parseDays, withId, withReaders, withValue } from './options.js';
import type { ReaderFlags, ValueFlags } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

const MAX_ROTATION_DAYS = 3650;

interface IdFlags extends SettingsFlags {
  readonly id?: string;
}

export interface PutFlags extends SettingsFlags, ReaderFlags, ValueFlags {
  readonly tag?: readonly string[];
  readonly description?: string;
  readonly rotateAfterDays?: number;
  readonly json?: true;
}

export interface GetFlags extends IdFlags {
  readonly sealed?: true;
  readonly output?: string;
  readonly atVersion?: number;
}

export interface RotateFlags extends IdFlags, ReaderFlags, ValueFlags {
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
  const put = withReaders(withValue(secrets.command('put')))
    .description('seal a value to its consumers and store it under a new name')
    .argument('<name>', 'letters, digits, _ and -')
    .option('--keep-readable-copy', "seal it to the owner's key as well")
    .option('--tag <tag>', 'a label; repeat it for several', collect)
    .option('--description <text>', 'what it is; fixed from now on')
    .option('--rotate-after-days <number>', 'when it is due for rotation', parseDays(MAX_ROTATION_DAYS))
    .option('--json', 'print what was stored, never the value')
    .addHelpText(
      'after',
      `
Examples:
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop --tag prod
  trellis secrets put tls-key --file key.pem --consumer web-1 --consumer web-2
  trellis secrets put note --recipient age1… --file note.txt`,
    );
  withSettings(put).action((name: string, flags: PutFlags) =>
    withSession(terminal, flags, async (session) => {
      const { putValue } = await import('./write-values.js');
      await putValue(session, name, flags);
    }),
  );
}

function addGet(secrets: Command, terminal: Terminal): void {
  const get = withId(secrets.command('get'))
    .description('print a value, opened with the identity, byte for byte')
    .argument('<object>', 'its name')
    .option('--sealed', 'print the sealed bytes, which takes no identity')
    .option('--output <file>', 'write a file that only you may read, instead of printing')
    .option('--at-version <number>', 'a value that was replaced, as "versions" counts them', parseCount)
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets get db-password
  trellis secrets get tls-key --output key.pem
  trellis secrets get db-password --sealed | age -d -i identity.txt`,
    );
  withSettings(get).action((name: string, flags: GetFlags) =>
    withSession(terminal, flags, async (session) => {
      const { getValue } = await import('./read-values.js');
      await getValue(session, name, flags);
    }),
  );
}

function addRotate(secrets: Command, terminal: Terminal): void {
  const rotate = withId(withReaders(withValue(secrets.command('rotate'))))
    .description('replace a value, sealed to the keys that its consumers have now; the one before is kept as a version')
    .argument('<object>', 'its name')
    .option('--reseal', 'keep the value: open it with the identity and seal it anew')
    .option(
      '--keep-readable-copy',
      "seal it to the owner's key as well (default: if it was, as far as that is recorded)",
    )
    .option('--no-keep-readable-copy', 'do not')
    .option('--rotate-after-days <number>', 'when it is due again', parseDays(MAX_ROTATION_DAYS))
    .addHelpText(
      'after',
      `
Without --consumer the consumers stay; with it they are replaced. Keys of --recipient have to be told again, but for
an object that has no consumers.

Examples:
  openssl rand -base64 30 | tr -d '\\n' | trellis secrets rotate db-password
  trellis secrets rotate db-password --reseal
  for name in $(trellis secrets list --reseal --json | jq -r '.[].slug'); do
    trellis secrets rotate "$name" --reseal
  done`,
    );
  withSettings(rotate).action((name: string, flags: RotateFlags) =>
    withSession(terminal, flags, async (session) => {
      const { rotateValue } = await import('./write-values.js');
      await rotateValue(session, name, flags);
    }),
  );
}
