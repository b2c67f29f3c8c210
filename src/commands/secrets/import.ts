import { randomUUID } from 'node:crypto';
import { CommandError } from '../../config/startup-error.js';
import { parseEnvFile } from '../../sealing/env-file.js';
import { findSlugProblem } from '../../sealing/env-names.js';
import type { SealedRequest } from '../../sealing/put-secret.js';
import { type ObjectMetadata, recordSigned, signStored } from './authentic-values.js';
import { type CommandContext, loadSealer, unwrapResult } from './context.js';
import { EXIT, readNamed } from './exit-codes.js';
import type { ExportedSecret, TransferFormat } from './export-format.js';
import { readValue } from './input.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { fetchSecrets } from './objects.js';
import { MAX_ROTATION_DAYS, omitUndefined, type RecipientOptions } from './options.js';
import type { ConnectionOptions } from './settings.js';

export interface ImportOptions extends ConnectionOptions, RecipientOptions {
  readonly format?: TransferFormat;
  readonly names: 'as-is' | 'kebab';
  readonly tag?: readonly string[];
  readonly replace?: true;
  readonly dryRun?: true;
}

/** Enough for hundreds of the largest values. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** Validates and seals all entries of a file before it stores the first one. A dry run ends there. */
export async function importValues(session: CommandContext, file: string, flags: ImportOptions): Promise<void> {
  const text = (await readValue(file, session.terminal, MAX_FILE_BYTES)).toString();
  const format = flags.format ?? toFormat(file);
  const { parseExport } = await import('./export-format.js');
  const entries = (await parseExport(text, format, flags.names)).map((entry) => withFlags(entry, flags));
  if (format === 'dotenv') reportIgnoredLines(session, text);
  await assertValid(entries);
  const steps = await plan(session, entries, flags);
  if (!flags.dryRun) await confirmRecipients(session, { chosen: flags.recipient, recorded: [] });
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
  return /(^|\/)\.env(\.[\w-]+)?$|\.env$/.test(file) ? 'dotenv' : 'json';
}

const withFlags = (entry: ExportedSecret, { consumer, tag }: ImportOptions): ExportedSecret => ({
  ...entry,
  usedBy: entry.usedBy ?? consumer,
  tags: (entry.tags ?? []).length > 0 ? entry.tags : tag,
});

function reportIgnoredLines(session: CommandContext, text: string): void {
  const { ignoredLines } = parseEnvFile(text);
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
    import('../../secrets/age-file.js'),
    import('../../secrets/tags.js'),
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
  assertDistinct(steps);
  const taken = steps.filter(({ object }) => object !== undefined).map(({ entry }) => entry.slug);
  if (taken.length === 0 || mayReplace) return steps;
  throw new CommandError(`These names exist: ${taken.join(', ')}`, EXIT.conflict);
}

const isSameVariant = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  one.length === 0 || other.length === 0 || one.some((consumer) => other.includes(consumer));

/** @throws CommandError if two entries would become the same secret, as `DB_PASSWORD` and `db-password` may. */
function assertDistinct(steps: readonly Step[]): void {
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
  const { id, version = 0, used_by: previousConsumers, recipients: recordedRecipients } = object ?? {};
  const { sealNewSecret, sealSecretReplacement } = await import('../../sealing/put-secret.js');
  const secret = {
    ...{ slug, value, usedBy, tags, rotateAfterDays },
    ...{ recipients: flags.recipient, keepReadableCopy: flags.keepReadableCopy },
    sealWith: await loadSealer(session.terminal),
    // The check records the keys, and a signing key may ask for its passphrase.
    ...(!flags.dryRun && {
      checkKeys: createKeyCheck(session, { acceptKey: flags.acceptKey, recordedRecipients, previousConsumers }),
      signer: await session.readSigner(),
    }),
  };
  if (object === undefined) return sealNewSecret(client, { ...secret, description });
  return sealSecretReplacement(client, { ...secret, id, version });
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
  { slug, value, usedBy, tags, rotateAfterDays, recipients }: ExportedSecret,
  { id, version = 0 }: ObjectMetadata,
): Promise<ObjectMetadata> {
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients) });
  const body = { value: Buffer.from(value).toString('base64'), keep_readable_copy: false, ...known };
  const params = { path: { slug }, query: { id } };
  const next = { slug, id, version: version + 1, sealed: value, recipients: recipients ?? [] };
  const rest = omitUndefined({ rotate_after_days: rotateAfterDays, signature: await signStored(session, next) });
  return unwrapResult(session.client.PUT('/objects/{slug}', { params, body: { ...body, ...rest } }));
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];
