import { CommandError } from '../../config/startup-error.js';
import type { components } from '../../generated/secrets/client.js';
import { toBase64 } from '../../sealing/put-secret.js';
import { findOwnerKey } from '../../sealing/put-secret.js';
import { open, toRecipients } from '../../sealing/seal.js';
import { putSecret, replaceSecret } from '../../sealing/put-secret.js';
import { EXIT } from './exit-codes.js';
import { confirmRecipients, createKeyCheck } from './known-keys-file.js';
import { omitUndefined } from './options.js';
import { toJson } from './print.js';
import { fetchSealedValue, writeOutput } from './read-values.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';
import { readSecretValue } from './value-input.js';
import type { PutOptions, RotateOptions } from './value-commands.js';

export type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** `put`: creates a secret, or a variant of a name. */
export async function putValue(session: CommandContext, slug: string, flags: PutOptions): Promise<void> {
  const value = await readSecretValue(flags, session.terminal);
  const stored = flags.sealed
    ? await storeSealed(session, slug, { value, flags })
    : await sealNew(session, slug, { value, flags });
  session.say(`Stored ${describe(stored)}.`);
  if (flags.json) await writeOutput(session.terminal.out, toJson(stored));
}

async function sealNew(session: CommandContext, slug: string, { value, flags }: SealedValue): Promise<ObjectMetadata> {
  const { consumer: usedBy, recipient: chosen, acceptKey, keepReadableCopy, tag: tags } = flags;
  const { description, rotateAfterDays } = flags;
  const recipients = await confirmRecipients(session, { chosen, recorded: [] });
  const checkKeys = createKeyCheck(session, { acceptKey });
  return putSecret(session.client, {
    ...{ slug, value, usedBy, recipients, keepReadableCopy, checkKeys },
    ...{ tags, description, rotateAfterDays },
  });
}

interface SealedValue {
  readonly value: Uint8Array;
  readonly flags: PutOptions;
}

/** Stores an age file unchanged, without recording its recipients. */
function storeSealed({ client }: CommandContext, slug: string, { value, flags }: SealedValue): Promise<ObjectMetadata> {
  const { consumer, recipient, tag, description, rotateAfterDays } = flags;
  const body = {
    slug,
    value: toBase64(value),
    keep_readable_copy: flags.keepReadableCopy ?? false,
    ...omitUndefined({ used_by: copy(consumer), recipients: copy(recipient), tags: copy(tag), description }),
    ...omitUndefined({ rotate_after_days: rotateAfterDays }),
  };
  return unwrapResult(client.POST('/objects', { body }));
}

const copy = (list: readonly string[] | undefined): string[] | undefined => list && [...list];

/** `rotate`: replaces the value, or reseals it, unless another request replaced it first. */
export async function rotateValue(session: CommandContext, slug: string, flags: RotateOptions): Promise<void> {
  assertOneSource(flags);
  const object = await findSecret(session, slug, flags.id);
  const stored = flags.sealed
    ? await replaceSealed(session, object, { value: await readSecretValue(flags, session.terminal), flags })
    : await sealReplacement(session, object, flags);
  session.say(`Replaced the value of ${describe(stored)}. "trellis secrets restore" restores the previous one.`);
  const left = (object.recipients ?? []).filter((key) => !(stored.recipients ?? []).includes(key));
  if (left.length > 0) session.say(`No longer sealed to: ${left.join(', ')}`);
}

async function sealReplacement(
  session: CommandContext,
  object: ObjectMetadata,
  flags: RotateOptions,
): Promise<ObjectMetadata> {
  const { slug, id, etag, used_by = [], recipients: recorded = [] } = object;
  const { consumer: usedBy, recipient: chosen, acceptKey, rotateAfterDays } = flags;
  const identity = flags.reseal ? await session.readIdentity() : undefined;
  const value =
    identity === undefined
      ? await readSecretValue(flags, session.terminal)
      : await open(await fetchSealedValue(session, slug, { id }), identity);
  const own = identity === undefined ? [] : await toRecipients(identity);
  // A value without consumers stays readable by the recipients that it was sealed to.
  const isForRecorded = (usedBy ?? used_by).length === 0;
  return replaceSecret(session.client, {
    ...{ slug, id, etag, value, usedBy, rotateAfterDays },
    recipients: await confirmRecipients(session, { chosen, recorded: isForRecorded ? recorded : [], acceptKey, own }),
    keepReadableCopy: flags.keepReadableCopy ?? (await hasReadableCopy(session, object)),
    checkKeys: createKeyCheck(session, { acceptKey, recordedRecipients: recorded, previousConsumers: used_by }),
  });
}

function assertOneSource({ reseal, file, sealed }: RotateOptions): void {
  if (!reseal || (file === undefined && !sealed)) return;
  throw new CommandError("--reseal keeps the value, so it can't be combined with --file or --sealed", EXIT.usage);
}

function replaceSealed(
  { client }: CommandContext,
  { slug, id, etag }: ObjectMetadata,
  { value, flags }: { readonly value: Uint8Array; readonly flags: RotateOptions },
): Promise<ObjectMetadata> {
  const { consumer, recipient, rotateAfterDays, keepReadableCopy = false } = flags;
  const body = {
    value: toBase64(value),
    keep_readable_copy: keepReadableCopy,
    ...omitUndefined({ used_by: copy(consumer), recipients: copy(recipient), rotate_after_days: rotateAfterDays }),
  };
  const params = { path: { slug }, query: { id }, header: omitUndefined({ 'If-Match': etag }) };
  return unwrapResult(client.PUT('/objects/{slug}', { params, body }));
}

/**
 * Reads the metadata of a secret, which a read of its value does not return.
 *
 * @throws CommandFailure for an unknown name, and for several variants without an id.
 */
async function findSecret({ client }: CommandContext, slug: string, id?: string): Promise<ObjectMetadata> {
  const query = { slug, limit: 500, offset: 0 };
  const variants = await unwrapResult(client.GET('/objects', { params: { query } }));
  const [object, other] = variants.filter((each) => id === undefined || each.id === id);
  if (object === undefined) throw new CommandError('unknown object', EXIT.notFound);
  if (other === undefined) return object;
  const ids = variants.map((each) => `${each.id} (${(each.used_by ?? []).join(', ')})`).join('\n  ');
  throw new CommandError(`Use --id to select a variant of ${slug}:\n  ${ids}`, EXIT.conflict);
}

/** Reports whether the current key of the owner is among the recorded recipients. */
async function hasReadableCopy({ client }: CommandContext, { recipients = [] }: ObjectMetadata): Promise<boolean> {
  if (recipients.length === 0) return false;
  const owner = await findOwnerKey(client);
  return owner !== undefined && recipients.includes(owner);
}

function describe({ slug, id, recipient_count: count }: ObjectMetadata): string {
  return `${slug} (${id}), sealed to ${count ?? 'unknown'} ${count === 1 ? 'key' : 'keys'}`;
}
