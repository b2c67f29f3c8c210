import { CommandError } from '../../config/startup-error.js';
import { toBase64 } from '../../sealing/put-secret.js';
import { putSecret, replaceSecret } from '../../sealing/put-secret.js';
import { EXIT } from './exit-codes.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { omitUndefined } from './options.js';
import { fetchSecrets } from './read-secrets.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';
import { parseExport } from './import-export.js';
import type { ExportedSecret } from './import-export.js';
import type { ImportOptions } from './transfer-commands.js';
import type { ObjectMetadata } from './write-values.js';
import { readValue } from './value-input.js';

/** Enough for hundreds of the largest values. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** `import`: validates all entries before it stores the first value. */
export async function importValues(session: CommandContext, file: string, flags: ImportOptions): Promise<void> {
  const text = (await readValue(file, session.terminal, MAX_FILE_BYTES)).toString();
  const entries = parseExport(
    text,
    flags.format ?? (/(^|\/)\.env(\.[\w-]+)?$|\.env$/.test(file) ? 'dotenv' : 'json'),
    flags.names,
  );
  const steps = await plan(
    session,
    entries.map((entry) => withFlags(entry, flags)),
    flags,
  );
  if (!flags.dryRun) await confirmRecipients(session, { chosen: flags.recipient, recorded: [] });
  for (const { entry, object } of steps) {
    if (!flags.dryRun)
      await (object === undefined ? create(session, entry, flags) : replace(session, { entry, object, flags }));
    session.say(`${describeStep(object, flags)} ${entry.slug}`);
  }
  session.say(`${steps.length} ${steps.length === 1 ? 'secret' : 'secrets'}.`);
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

function create(session: CommandContext, entry: ExportedSecret, flags: ImportOptions): Promise<object> {
  const { slug, value, isSealed, usedBy, tags, description, rotateAfterDays, recipients } = entry;
  if (!isSealed) {
    const { recipient, keepReadableCopy, acceptKey } = flags;
    const checkKeys = createKeyCheck(session, { acceptKey });
    const readers = { usedBy, recipients: recipient, keepReadableCopy, checkKeys };
    return putSecret(session.client, { slug, value, ...readers, tags, description, rotateAfterDays });
  }
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients), description });
  const body = { slug, value: toBase64(value), keep_readable_copy: false, ...known };
  return unwrapResult(
    session.client.POST('/objects', { body: { ...body, ...omitUndefined({ rotate_after_days: rotateAfterDays }) } }),
  );
}

interface Replacement {
  readonly entry: ExportedSecret;
  readonly object: ObjectMetadata;
  readonly flags: ImportOptions;
}

function replace(session: CommandContext, { entry, object, flags }: Replacement): Promise<object> {
  const { id, used_by: previousConsumers, recipients: recordedRecipients } = object;
  const { slug, value, isSealed, usedBy, tags, rotateAfterDays, recipients } = entry;
  if (!isSealed) {
    const { recipient, keepReadableCopy, acceptKey } = flags;
    const checkKeys = createKeyCheck(session, { acceptKey, recordedRecipients, previousConsumers });
    const readers = { usedBy, recipients: recipient, keepReadableCopy, checkKeys };
    return replaceSecret(session.client, { slug, id, value, ...readers, tags, rotateAfterDays });
  }
  const known = omitUndefined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients) });
  const body = { value: toBase64(value), keep_readable_copy: false, ...known };
  const params = { path: { slug }, query: { id } };
  return unwrapResult(
    session.client.PUT('/objects/{slug}', {
      params,
      body: { ...body, ...omitUndefined({ rotate_after_days: rotateAfterDays }) },
    }),
  );
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];
