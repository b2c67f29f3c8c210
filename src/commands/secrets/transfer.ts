import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { toVariable } from '../../sealing/env-names.js';
import { openStoredValue } from './age/open-value.js';
import { fetchSealedValue, recordSigned, signStored, toWanted, type ObjectMetadata } from './authentic-values.js';
import { type CommandContext, loadSealer, loadSealing, type Terminal, unwrapResult, withContext } from './context.js';
import { EXIT, readNamed } from './exit-codes.js';
import type { ExportedSecret, TransferFormat } from './export-format.js';
import { readValue } from './input.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { fetchSecrets } from './objects.js';
import { addRecipientOptions, collectValues, omitUndefined, type RecipientOptions } from './options.js';
import { writeOutput } from './print.js';
import { addConnectionOptions, type ConnectionOptions, writePrivateFile } from './settings.js';

interface ExportOptions extends ConnectionOptions {
  readonly format: TransferFormat;
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly open?: true;
  readonly output?: string;
}

interface ImportOptions extends ConnectionOptions, RecipientOptions {
  readonly format?: TransferFormat;
  readonly names: 'as-is' | 'kebab';
  readonly tag?: readonly string[];
  readonly replace?: true;
  readonly dryRun?: true;
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
  for (const object of await fetchSecrets(session, flags)) {
    const { slug, used_by: usedBy, tags, description, rotate_after_days: rotateAfterDays, recipients } = object;
    const sealed = await fetchSealedValue(session, slug, toWanted(session, object));
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

/** Enough for hundreds of the largest values. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** `import`: validates all entries before it stores the first value. */
async function importValues(session: CommandContext, file: string, flags: ImportOptions): Promise<void> {
  const text = (await readValue(file, session.terminal, MAX_FILE_BYTES)).toString();
  const { parseExport } = await import('./export-format.js');
  const entries = await parseExport(text, flags.format ?? toFormat(file), flags.names);
  const steps = await plan(
    session,
    entries.map((entry) => withFlags(entry, flags)),
    flags,
  );
  if (!flags.dryRun) await confirmRecipients(session, { chosen: flags.recipient, recorded: [] });
  for (const { entry, object } of steps) {
    if (!flags.dryRun) {
      const stored = object === undefined ? create(session, entry, flags) : replace(session, { entry, object, flags });
      await recordSigned(session, await stored);
    }
    session.say(`${describeStep(object, flags)} ${entry.slug}`);
  }
  const changes = steps.map(({ entry: { slug }, object }) => ({
    slug,
    change: object === undefined ? 'create' : 'replace',
  }));
  await session.report(`${steps.length} ${steps.length === 1 ? 'secret' : 'secrets'}.`, changes);
}

function toFormat(file: string): TransferFormat {
  if (/\.ya?ml$/.test(file)) return 'yaml';
  return /(^|\/)\.env(\.[\w-]+)?$|\.env$/.test(file) ? 'dotenv' : 'json';
}

function describeStep(object: ObjectMetadata | undefined, { dryRun }: ImportOptions): string {
  if (dryRun) return object === undefined ? 'Would store' : 'Would replace';
  return object === undefined ? 'Stored' : 'Replaced';
}

const withFlags = (entry: ExportedSecret, { consumer, tag }: ImportOptions): ExportedSecret => ({
  ...entry,
  usedBy: entry.usedBy ?? consumer,
  tags: (entry.tags ?? []).length > 0 ? entry.tags : tag,
});

interface Step {
  readonly entry: ExportedSecret;
  /** The existing secret. */
  readonly object: ObjectMetadata | undefined;
}

/** An existing name with other consumers gets a new variant; with the same consumers it is the same secret. */
async function plan(
  session: CommandContext,
  entries: readonly ExportedSecret[],
  { replace: mayReplace }: ImportOptions,
): Promise<Step[]> {
  const known = await fetchSecrets(session, {});
  const steps = entries.map((entry) => {
    const variants = known.filter(({ slug }) => slug === entry.slug);
    const wanted = new Set(entry.usedBy);
    const same = variants.filter(
      ({ used_by = [] }) => wanted.size === 0 || used_by.length === 0 || used_by.some((each) => wanted.has(each)),
    );
    if (same.length > 1) throw new CommandError(`Several variants of ${entry.slug} to replace`, EXIT.conflict);
    return { entry, object: same[0] };
  });
  const taken = steps.filter(({ object }) => object !== undefined).map(({ entry }) => entry.slug);
  if (taken.length === 0 || mayReplace) return steps;
  throw new CommandError(`These names exist: ${taken.join(', ')}`, EXIT.conflict);
}

async function create(session: CommandContext, entry: ExportedSecret, flags: ImportOptions): Promise<ObjectMetadata> {
  const { slug, value, isSealed, usedBy, tags, description, rotateAfterDays, recipients } = entry;
  if (!isSealed) {
    const { recipient, keepReadableCopy, acceptKey } = flags;
    const checkKeys = createKeyCheck(session, { acceptKey });
    const sealWith = await loadSealer(session.terminal);
    const readers = { usedBy, recipients: recipient, keepReadableCopy, checkKeys, sealWith };
    const { putSecret } = await loadSealing();
    const signer = await session.readSigner();
    return putSecret(session.client, { slug, value, ...readers, tags, description, rotateAfterDays, signer });
  }
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients), description });
  const body = { slug, value: Buffer.from(value).toString('base64'), keep_readable_copy: false, ...known };
  const stored = { slug, id: randomUUID(), version: 1, sealed: value, recipients: recipients ?? [] };
  const rest = omitUndefined({ rotate_after_days: rotateAfterDays, signature: await signStored(session, stored) });
  return unwrapResult(session.client.POST('/objects', { body: { ...body, ...rest } }));
}

interface Replacement {
  readonly entry: ExportedSecret;
  readonly object: ObjectMetadata;
  readonly flags: ImportOptions;
}

async function replace(session: CommandContext, { entry, object, flags }: Replacement): Promise<ObjectMetadata> {
  const { id, version = 0, used_by: previousConsumers, recipients: recordedRecipients } = object;
  const { slug, value, isSealed, usedBy, tags, rotateAfterDays, recipients } = entry;
  if (!isSealed) {
    const { recipient, keepReadableCopy, acceptKey } = flags;
    const checkKeys = createKeyCheck(session, { acceptKey, recordedRecipients, previousConsumers });
    const sealWith = await loadSealer(session.terminal);
    const readers = { usedBy, recipients: recipient, keepReadableCopy, checkKeys, sealWith };
    const { replaceSecret } = await loadSealing();
    const signer = await session.readSigner();
    return replaceSecret(session.client, { slug, id, version, value, ...readers, tags, rotateAfterDays, signer });
  }
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients) });
  const body = { value: Buffer.from(value).toString('base64'), keep_readable_copy: false, ...known };
  const params = { path: { slug }, query: { id } };
  const next = { slug, id, version: version + 1, sealed: value, recipients: recipients ?? [] };
  const rest = omitUndefined({ rotate_after_days: rotateAfterDays, signature: await signStored(session, next) });
  return unwrapResult(session.client.PUT('/objects/{slug}', { params, body: { ...body, ...rest } }));
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];
