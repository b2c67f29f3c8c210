import { Option } from 'commander';
import type { Command } from 'commander';
import { collectValues, addRecipientOptions } from './options.js';
import type { RecipientOptions } from './options.js';
import { withContext } from './with-context.js';
import { addConnectionOptions } from './settings.js';
import type { ConnectionOptions } from './settings.js';
import type { Terminal } from './terminal.js';

export type TransferFormat = 'dotenv' | 'json';

export interface ExportOptions extends ConnectionOptions {
  readonly format: TransferFormat;
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly open?: true;
  readonly output?: string;
}

export interface ImportOptions extends ConnectionOptions, RecipientOptions {
  readonly format?: TransferFormat;
  readonly names: 'as-is' | 'kebab';
  readonly tag?: readonly string[];
  readonly replace?: true;
  readonly dryRun?: true;
}

const FORMATS = ['json', 'dotenv'];

/** `export` and `import`: many values at once, sealed by default. */
export function addTransferCommands(secrets: Command, terminal: Terminal): void {
  addExport(secrets, terminal);
  addImport(secrets, terminal);
}

function addExport(secrets: Command, terminal: Terminal): void {
  const command = secrets
    .command('export')
    .description('Print sealed values and their metadata')
    .addOption(
      new Option('--format <format>', 'output format; dotenv contains names and values only')
        .choices(FORMATS)
        .default('json'),
    )
    .option('--tag <tag>', 'only secrets with this tag; repeatable', collectValues)
    .option('--consumer <consumer>', 'only secrets of this consumer')
    .option('--open', 'open the values with the identity; the output is then plain text')
    .option('--output <file>', 'write to a file with mode 0600 instead of standard output')
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets export --output backup.json
  trellis secrets export --consumer acme/shop --format dotenv --open --output .env`,
    );
  addConnectionOptions(command).action((flags: ExportOptions) =>
    withContext(terminal, flags, async (session) => {
      const { exportValues } = await import('./export-values.js');
      await exportValues(session, flags);
    }),
  );
}

function addImport(secrets: Command, terminal: Terminal): void {
  const command = addRecipientOptions(secrets.command('import'))
    .description('Store the values of a file; plain values are sealed to their consumers')
    .argument(
      '<file>',
      'output of "export", a .env file, or a JSON object that maps names to strings; - for standard input',
    )
    .addOption(
      new Option(
        '--format <format>',
        'format of the file (default: dotenv if the name ends in .env, else json)',
      ).choices(FORMATS),
    )
    .addOption(
      new Option('--names <names>', 'keep names like DB_PASSWORD, or change them to db-password')
        .choices(['as-is', 'kebab'])
        .default('as-is'),
    )
    .option('--keep-readable-copy', 'also seal to the key of the owner')
    .option('--tag <tag>', 'tag for entries without tags; repeatable', collectValues)
    .option('--replace', 'replace the values of existing names, instead of stopping before the first change')
    .option('--dry-run', 'print the changes without making them')
    .addHelpText(
      'after',
      `
--consumer applies to entries without consumers.

Examples:
  trellis secrets import .env --names kebab --consumer acme/shop --dry-run
  trellis secrets import backup.json`,
    );
  addConnectionOptions(command).action((file: string, flags: ImportOptions) =>
    withContext(terminal, flags, async (session) => {
      const { importValues } = await import('./import-values.js');
      await importValues(session, file, flags);
    }),
  );
}
