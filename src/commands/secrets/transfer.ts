import { Option } from 'commander';
import type { Command } from 'commander';
import { collect, withReaders } from './options.js';
import type { ReaderFlags } from './options.js';
import { withSession } from './run-command.js';
import { withSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import type { Terminal } from './terminal.js';

export type Format = 'dotenv' | 'json';

export interface ExportFlags extends SettingsFlags {
  readonly format: Format;
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly open?: true;
  readonly output?: string;
}

export interface ImportFlags extends SettingsFlags, ReaderFlags {
  readonly format?: Format;
  readonly names: 'as-is' | 'kebab';
  readonly tag?: readonly string[];
  readonly replace?: true;
  readonly dryRun?: true;
}

const FORMATS = ['json', 'dotenv'];

/** `export` and `import`: many values at once, sealed unless asked otherwise. */
export function addTransferCommands(secrets: Command, terminal: Terminal): void {
  addExport(secrets, terminal);
  addImport(secrets, terminal);
}

function addExport(secrets: Command, terminal: Terminal): void {
  const command = secrets
    .command('export')
    .description('print values with what is known of them, sealed as they are')
    .addOption(new Option('--format <format>', 'dotenv holds names and values only').choices(FORMATS).default('json'))
    .option('--tag <tag>', 'only those with this label; repeat it for several at once', collect)
    .option('--consumer <consumer>', 'only those that it depends on')
    .option('--open', 'open the values with the identity: whoever reads the result reads them')
    .option('--output <file>', 'write a file that only you may read, instead of printing')
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets export --output backup.json
  trellis secrets export --consumer acme/shop --format dotenv --open --output .env`,
    );
  withSettings(command).action((flags: ExportFlags) =>
    withSession(terminal, flags, async (session) => {
      const { exportValues } = await import('./export-values.js');
      await exportValues(session, flags);
    }),
  );
}

function addImport(secrets: Command, terminal: Terminal): void {
  const command = withReaders(secrets.command('import'))
    .description('store the values of a file: sealed ones as they are, others sealed to their consumers')
    .argument('<file>', 'what "export" wrote, a .env file, or JSON with a text for each name; - for standard input')
    .addOption(
      new Option('--format <format>', 'what it is (default: by the name, JSON unless it ends in .env)').choices(
        FORMATS,
      ),
    )
    .addOption(
      new Option('--names <names>', 'DB_PASSWORD as it is, or as db-password')
        .choices(['as-is', 'kebab'])
        .default('as-is'),
    )
    .option('--keep-readable-copy', "seal to the owner's key as well")
    .option('--tag <tag>', 'a label for those that have none; repeat it for several', collect)
    .option('--replace', 'replace the values of names that are there, instead of stopping before anything is done')
    .option('--dry-run', 'say what would be done')
    .addHelpText(
      'after',
      `
--consumer counts for entries that name no consumers themselves.

Examples:
  trellis secrets import .env --names kebab --consumer acme/shop --dry-run
  trellis secrets import backup.json`,
    );
  withSettings(command).action((file: string, flags: ImportFlags) =>
    withSession(terminal, flags, async (session) => {
      const { importValues } = await import('./import-values.js');
      await importValues(session, file, flags);
    }),
  );
}
