import { type Command, Option } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { toVariable } from '../../sealing/env-names.js';
import { openStoredValue } from './age/open-value.js';
import { fetchSealedValues, toWanted } from './authentic-values.js';
import { type CommandContext, type Terminal, withContext } from './context.js';
import { EXIT, readNamed } from './exit-codes.js';
import type { ExportedSecret, TransferFormat } from './export-format.js';
import { type ImportOptions, importValues } from './import.js';
import { fetchSecrets } from './objects.js';
import { addRecipientOptions, collectValues, omitUndefined } from './options.js';
import { writeOutput } from './print.js';
import { addConnectionOptions, type ConnectionOptions, writePrivateFile } from './settings.js';

interface ExportOptions extends ConnectionOptions {
  readonly format: TransferFormat;
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly open?: true;
  readonly output?: string;
}

const FORMATS = ['json', 'dotenv', 'yaml'];

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
      new Option('--format <format>', 'output format; dotenv and yaml contain names and values only')
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
    withContext(terminal, flags, (session) => exportValues(session, flags)),
  );
}

function addImport(secrets: Command, terminal: Terminal): void {
  const command = addRecipientOptions(secrets.command('import'))
    .description('Store the values of a file; plain values are sealed to their consumers')
    .argument(
      '<file>',
      'output of "export", a .env file, or a JSON object or YAML map of names to strings; - for standard input',
    )
    .addOption(
      new Option(
        '--format <format>',
        'format of the file (default: by the ending .env, .yaml or .yml, else json)',
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
    withContext(terminal, flags, (session) => importValues(session, file, flags)),
  );
}

/** `export`: values stay sealed by default. */
async function exportValues(session: CommandContext, flags: ExportOptions): Promise<void> {
  const identity = flags.open ? await session.readIdentity() : undefined;
  const { formatExport } = await import('./export-format.js');
  const entries: ExportedSecret[] = [];
  const objects = await fetchSecrets(session, flags);
  const values = await fetchSealedValues(
    session,
    objects.map((object) => ({ slug: object.slug, ...toWanted(session, object) })),
  );
  for (const [index, object] of objects.entries()) {
    const { slug, used_by: usedBy, tags, description, rotate_after_days: rotateAfterDays, recipients } = object;
    const sealed = values[index] ?? new Uint8Array();
    const known = omitUndefined({ usedBy, tags, description, rotateAfterDays });
    entries.push(
      identity === undefined
        ? { slug, value: sealed, isSealed: true, ...known, ...omitUndefined({ recipients }) }
        : {
            ...{ slug, isSealed: false, ...known },
            value: await readNamed(slug, () => openStoredValue(sealed, identity, session.terminal)),
          },
    );
  }
  if (flags.format !== 'json') assertDistinct(entries, flags.format);
  const text = formatExport(entries, flags.format);
  if (flags.output === undefined) await writeOutput(session.terminal.out, text);
  else await writePrivateFile(flags.output, text);
  session.say(`Exported ${entries.length} ${entries.length === 1 ? 'secret' : 'secrets'}.`);
}

function assertDistinct(entries: readonly ExportedSecret[], format: TransferFormat): void {
  const names = entries.map(({ slug }) => (format === 'yaml' ? slug : toVariable(slug)));
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new CommandError(`Several secrets would become ${duplicate} in the file. Use --format json`, EXIT.conflict);
}
