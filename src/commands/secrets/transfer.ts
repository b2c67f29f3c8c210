import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { parseEnvFile } from '../../sealing/env-file.js';
import { findSlugProblem, toVariable } from '../../sealing/env-names.js';
import type { SealedRequest } from '../../sealing/put-secret.js';
import { openStoredValue } from './age/open-value.js';
import { fetchSealedValues, toWanted, type ObjectMetadata, recordSigned, signStored } from './authentic-values.js';
import { type CommandContext, withContext, loadSealer, unwrapResult } from './context.js';
import type { ExportedSecret, TransferFormat } from './export-format.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { fetchSecrets } from './objects.js';
import {
  EXIT,
  readNamed,
  addRecipientOptions,
  collectValues,
  omitUndefined,
  MAX_ROTATION_DAYS,
  type RecipientOptions,
} from './options.js';
import { addConnectionOptions, type ConnectionOptions, writePrivateFile } from './settings.js';
import { type Terminal, readText, writeOutput } from './terminal.js';
import { chooseReplacement } from './values.js';

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
  if (flags.format !== 'json') assertDistinctNames(entries, flags.format);
  const text = formatExport(entries, flags.format);
  if (flags.output === undefined) await writeOutput(session.terminal.out, text);
  else await writePrivateFile(flags.output, text);
  session.say(`Exported ${entries.length} ${entries.length === 1 ? 'secret' : 'secrets'}.`);
}

function assertDistinctNames(entries: readonly ExportedSecret[], format: TransferFormat): void {
  const names = entries.map(({ slug }) => (format === 'yaml' ? slug : toVariable(slug)));
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new CommandError(`Several secrets would become ${duplicate} in the file. Use --format json`, EXIT.conflict);
}

interface ImportOptions extends ConnectionOptions, RecipientOptions {
  readonly format?: TransferFormat;
  readonly names: 'as-is' | 'kebab';
  readonly tag?: readonly string[];
  readonly replace?: true;
  readonly dryRun?: true;
}

/** Enough for hundreds of the largest values. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** Validates and seals all entries of a file before it stores the first one. A dry run ends there. */
async function importValues(session: CommandContext, file: string, flags: ImportOptions): Promise<void> {
  const text = await readText(file, session.terminal, MAX_FILE_BYTES);
  const format = flags.format ?? toFormat(file);
  const { parseExport } = await import('./export-format.js');
  const entries = (await parseExport(text, format, flags.names)).map((entry) => withFlags(entry, flags));
  if (format === 'dotenv') reportDoubts(session, text);
  await assertValid(entries);
  const steps = await plan(session, entries, flags);
  const prepared: (SealedRequest & Step)[] = [];
  for (const step of steps) {
    const request = await readNamed(step.entry.slug, () => prepare(session, step, flags));
    prepared.push({ ...step, ...request });
  }
  let stored = 0;
  try {
    for (const { entry, object, store } of prepared) {
      if (!flags.dryRun) await recordSigned(session, await store());
      session.say(`${describeStep(object, flags)} ${entry.slug}`);
      stored += 1;
    }
  } catch (error) {
    if (stored > 0)
      session.say(`${stored} of ${steps.length} secrets are stored. To continue, repeat the command with --replace.`);
    throw error;
  }
  const changes = steps.map(({ entry: { slug }, object }) => ({
    slug,
    change: object === undefined ? 'create' : 'replace',
  }));
  await session.report(`${steps.length} ${steps.length === 1 ? 'secret' : 'secrets'}.`, changes);
}

function toFormat(file: string): TransferFormat {
  if (/\.ya?ml$/.test(file)) return 'yaml';
  return /(^|\/)\.env(\.[\w-]+)*$|\.env$/.test(file) ? 'dotenv' : 'json';
}

const withFlags = (entry: ExportedSecret, { consumer, tag }: ImportOptions): ExportedSecret => ({
  ...entry,
  usedBy: (entry.usedBy ?? []).length > 0 ? entry.usedBy : consumer,
  tags: (entry.tags ?? []).length > 0 ? entry.tags : tag,
});

function reportDoubts(session: CommandContext, text: string): void {
  const { ignoredLines, cutVariables } = parseEnvFile(text);
  if (cutVariables.length > 0)
    session.say(
      `Without quotes, a # ends the value of ${cutVariables.join(', ')}. If it belongs to the value, add quotes.`,
    );
  if (ignoredLines.length === 1) session.say(`Line ${ignoredLines[0]} is ignored, because it sets no variable.`);
  if (ignoredLines.length > 1)
    session.say(`Lines ${ignoredLines.join(', ')} are ignored, because they set no variables.`);
}

/** The limits of the contract. */
const MAX_DESCRIPTION = 1000;

/** @throws CommandError with a line for each entry that the contract does not allow. */
async function assertValid(entries: readonly ExportedSecret[]): Promise<void> {
  const [{ MAX_SEALED_BYTES }, { readAgeFile }, { parseTags }] = await Promise.all([
    import('../../sealing/seal.js'),
    import('../../secrets/age-format.js'),
    import('../../secrets/token-scope.js'),
  ]);
  const check = ({
    value,
    isSealed,
    tags,
    description = '',
    rotateAfterDays = 1,
  }: ExportedSecret): string | undefined => {
    if (description.length > MAX_DESCRIPTION) return `the description is longer than ${MAX_DESCRIPTION} characters`;
    const isRotation =
      Number.isInteger(rotateAfterDays) && rotateAfterDays >= 1 && rotateAfterDays <= MAX_ROTATION_DAYS;
    if (!isRotation) return `expected rotate_after_days to be a whole number from 1 to ${MAX_ROTATION_DAYS}`;
    if (isSealed && value.length > MAX_SEALED_BYTES) return 'the value is larger than 1 MiB';
    try {
      parseTags(tags ?? []);
      if (isSealed) readAgeFile(value);
      return undefined;
    } catch (error) {
      return (error as Error).message.replace(/\.$/, '');
    }
  };
  const problems = entries.flatMap((entry) => {
    const problem = findSlugProblem(entry.slug) ?? check(entry);
    return problem === undefined ? [] : [`${entry.slug}: ${problem}`];
  });
  if (problems.length > 0) throw new CommandError(`Nothing was stored.\n${problems.join('\n')}`, EXIT.usage);
}

function describeStep(object: ObjectMetadata | undefined, { dryRun }: ImportOptions): string {
  if (dryRun) return object === undefined ? 'Would store' : 'Would replace';
  return object === undefined ? 'Stored' : 'Replaced';
}

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
    const same = known.filter(({ slug, used_by }) => slug === entry.slug && isSameVariant(used_by, entry.usedBy));
    if (same.length > 1) throw new CommandError(`Several variants of ${entry.slug} to replace`, EXIT.conflict);
    return { entry, object: same[0] };
  });
  assertDistinctEntries(steps);
  const taken = steps.filter(({ object }) => object !== undefined).map(({ entry }) => entry.slug);
  if (taken.length === 0 || mayReplace) return steps;
  throw new CommandError(`These names exist: ${taken.join(', ')}`, EXIT.conflict);
}

const isSameVariant = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  one.length === 0 || other.length === 0 || one.some((consumer) => other.includes(consumer));

/** @throws CommandError if two entries would become the same secret, as `DB_PASSWORD` and `db-password` may. */
function assertDistinctEntries(steps: readonly Step[]): void {
  const seen = new Map<string, Step[]>();
  for (const step of steps) {
    const { slug, usedBy } = step.entry;
    const others = seen.get(slug) ?? [];
    const isSame = ({ entry, object }: Step): boolean =>
      isSameVariant(entry.usedBy, usedBy) || (object !== undefined && object === step.object);
    if (others.some(isSame))
      throw new CommandError(`Several entries of the file would become ${slug}; nothing was stored`, EXIT.conflict);
    seen.set(slug, [...others, step]);
  }
}

/** Seals the value of a step, if it isn't sealed. */
async function prepare(session: CommandContext, { entry, object }: Step, flags: ImportOptions): Promise<SealedRequest> {
  const { client } = session;
  const { slug, value, isSealed, usedBy, tags, description, rotateAfterDays } = entry;
  if (isSealed) return { store: () => (object ? replaceSealed(session, entry, object) : createSealed(session, entry)) };
  const { sealNewSecret, sealSecretReplacement } = await import('../../sealing/put-secret.js');
  const { acceptKey, keepReadableCopy, recipient: chosen, dryRun } = flags;
  if (object !== undefined) {
    const kept = omitUndefined({ acceptKey, keepReadableCopy, recipient: chosen, dryRun, consumer: usedBy });
    const replacement = { value, flags: { ...kept, ...omitUndefined({ rotateAfterDays }) } };
    return sealSecretReplacement(client, {
      ...(await chooseReplacement(session, object, replacement)),
      ...omitUndefined({ tags, description }),
    });
  }
  const secret = {
    ...{ slug, value, usedBy, tags, description, rotateAfterDays, keepReadableCopy },
    sealWith: await loadSealer(session.terminal),
  };
  // The checks record the keys, and a signing key may ask for its passphrase.
  if (dryRun) return sealNewSecret(client, { ...secret, recipients: chosen });
  return sealNewSecret(client, {
    ...secret,
    recipients: await confirmRecipients(session, { chosen, recorded: [] }),
    checkKeys: createKeyCheck(session, { acceptKey }),
    signer: await session.readSigner(),
  });
}

async function createSealed(session: CommandContext, entry: ExportedSecret): Promise<ObjectMetadata> {
  const { slug, value, usedBy, tags, description, rotateAfterDays, recipients } = entry;
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients), description });
  const body = { slug, value: Buffer.from(value).toString('base64'), keep_readable_copy: false, ...known };
  const stored = { slug, id: randomUUID(), version: 1, sealed: value, recipients: recipients ?? [] };
  const rest = omitUndefined({ rotate_after_days: rotateAfterDays, signature: await signStored(session, stored) });
  return unwrapResult(session.client.POST('/objects', { body: { ...body, ...rest } }));
}

async function replaceSealed(
  session: CommandContext,
  { slug, value, usedBy, tags, description, rotateAfterDays, recipients }: ExportedSecret,
  { id, version = 0 }: ObjectMetadata,
): Promise<ObjectMetadata> {
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients), description });
  const body = { value: Buffer.from(value).toString('base64'), keep_readable_copy: false, ...known };
  const params = { path: { slug }, query: { id } };
  const next = { slug, id, version: version + 1, sealed: value, recipients: recipients ?? [] };
  const rest = omitUndefined({ rotate_after_days: rotateAfterDays, signature: await signStored(session, next) });
  return unwrapResult(session.client.PUT('/objects/{slug}', { params, body: { ...body, ...rest } }));
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];
