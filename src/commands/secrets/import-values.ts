import { CommandFailure } from '../../start-error.js';
import { toBase64 } from '../../sealing/base64.js';
import { putSecret, replaceSecret } from '../../sealing/put-secret.js';
import { EXIT } from './exit-codes.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { defined } from './options.js';
import { readObjects } from './read-objects.js';
import { request } from './session.js';
import type { Session } from './session.js';
import { parseEntries } from './transfer-format.js';
import type { Entry } from './transfer-format.js';
import type { ImportFlags } from './transfer.js';
import type { ObjectMetadata } from './write-values.js';
import { readValue } from './value-input.js';

/** Enough for hundreds of the largest values. */
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** `import`: validates all entries before it stores the first value. */
export async function importValues(session: Session, file: string, flags: ImportFlags): Promise<void> {
  const text = (await readValue(file, session.terminal, MAX_FILE_BYTES)).toString();
  const entries = parseEntries(
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

function describeStep(object: ObjectMetadata | undefined, { dryRun }: ImportFlags): string {
  if (dryRun) return object === undefined ? 'Would store' : 'Would replace';
  return object === undefined ? 'Stored' : 'Replaced';
}

const withFlags = (entry: Entry, { consumer, tag }: ImportFlags): Entry => ({
  ...entry,
  usedBy: entry.usedBy ?? consumer,
  tags: (entry.tags ?? []).length > 0 ? entry.tags : tag,
});

interface Step {
  readonly entry: Entry;
  /** The existing secret. */
  readonly object: ObjectMetadata | undefined;
}

/** An existing name with other consumers gets a new variant; with the same consumers it is the same secret. */
async function plan(
  session: Session,
  entries: readonly Entry[],
  { replace: mayReplace }: ImportFlags,
): Promise<Step[]> {
  const known = await readObjects(session, {});
  const steps = entries.map((entry) => {
    const variants = known.filter(({ slug }) => slug === entry.slug);
    const wanted = new Set(entry.usedBy);
    const same = variants.filter(
      ({ used_by = [] }) => wanted.size === 0 || used_by.length === 0 || used_by.some((each) => wanted.has(each)),
    );
    if (same.length > 1) throw new CommandFailure(`Several variants of ${entry.slug} to replace`, EXIT.conflict);
    return { entry, object: same[0] };
  });
  const taken = steps.filter(({ object }) => object !== undefined).map(({ entry }) => entry.slug);
  if (taken.length === 0 || mayReplace) return steps;
  throw new CommandFailure(`These names exist: ${taken.join(', ')}`, EXIT.conflict);
}

function create(session: Session, entry: Entry, flags: ImportFlags): Promise<object> {
  const { slug, value, isSealed, usedBy, tags, description, rotateAfterDays, recipients } = entry;
  if (!isSealed) {
    const { recipient, keepReadableCopy, acceptKey } = flags;
    const checkKeys = createKeyCheck(session, { acceptKey });
    const readers = { usedBy, recipients: recipient, keepReadableCopy, checkKeys };
    return putSecret(session.client, { slug, value, ...readers, tags, description, rotateAfterDays });
  }
  const known = defined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients), description });
  const body = { slug, value: toBase64(value), keep_readable_copy: false, ...known };
  return request(
    session.client.POST('/objects', { body: { ...body, ...defined({ rotate_after_days: rotateAfterDays }) } }),
  );
}

interface Replacement {
  readonly entry: Entry;
  readonly object: ObjectMetadata;
  readonly flags: ImportFlags;
}

function replace(session: Session, { entry, object, flags }: Replacement): Promise<object> {
  const { id, used_by: previousConsumers, recipients: recordedRecipients } = object;
  const { slug, value, isSealed, usedBy, tags, rotateAfterDays, recipients } = entry;
  if (!isSealed) {
    const { recipient, keepReadableCopy, acceptKey } = flags;
    const checkKeys = createKeyCheck(session, { acceptKey, recordedRecipients, previousConsumers });
    const readers = { usedBy, recipients: recipient, keepReadableCopy, checkKeys };
    return replaceSecret(session.client, { slug, id, value, ...readers, tags, rotateAfterDays });
  }
  const known = defined({ used_by: copy(usedBy), tags: copy(tags), recipients: copy(recipients) });
  const body = { value: toBase64(value), keep_readable_copy: false, ...known };
  const params = { path: { slug }, query: { id } };
  return request(
    session.client.PUT('/objects/{slug}', {
      params,
      body: { ...body, ...defined({ rotate_after_days: rotateAfterDays }) },
    }),
  );
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];
