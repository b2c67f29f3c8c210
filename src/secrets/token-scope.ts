/** The part of the secrets that a caller may use: all for the owner, some for a token with restrictions. */
import { AppError } from '@trellis/core/errors';
import { type Caller, requireOwner, type TokenAccess, type UserCaller } from '../accounts/callers.js';
import type { Database } from '../storage/database.js';

/** The labels of a secret that restrictions concern. */
interface Labels {
  readonly slug: string;
  readonly tags: readonly string[];
  readonly consumers: readonly string[];
}

/** Returns the restrictions of a caller to some secrets; `undefined` if it may use all of them. */
export function findRestrictions(caller: Caller | undefined): TokenAccess | undefined {
  const access = caller?.kind === 'token' ? caller.access : undefined;
  const isRestricted =
    access?.namePrefix !== undefined || access?.tags !== undefined || access?.consumers !== undefined;
  return isRestricted ? access : undefined;
}

/**
 * Requires a caller that may use all secrets, for operations that concern all of them: consumers, their tokens, and the
 * audit log.
 *
 * @throws AppError `forbidden` for a token that is restricted to some secrets, and as `requireOwner`.
 */
export function requireUnrestricted(caller: Caller | undefined): UserCaller {
  const owner = requireOwner(caller);
  if (findRestrictions(caller) === undefined) return owner;
  const message = 'This operation concerns all secrets; the token is restricted to some of them.';
  throw new AppError('forbidden', message);
}

/**
 * Requires that a caller may see a secret: its name has the prefix, it has one of the tags, and it names one of the
 * consumers.
 *
 * @throws AppError `not_found` for every other secret, as for an unknown one.
 */
export async function assertInScope(
  database: Database,
  caller: Caller | undefined,
  { id, slug }: { readonly id: string; readonly slug: string },
): Promise<void> {
  const access = findRestrictions(caller);
  if (access === undefined) return;
  if (isVisible(access, { slug, ...(await readLabels(database, id)) })) return;
  throw new AppError('not_found', 'unknown object');
}

/**
 * Requires that a caller may change a secret that it sees: other consumers than those of the token must not use it.
 *
 * @throws AppError `forbidden`; `not_found` as {@link assertInScope}.
 */
export async function assertCanChange(
  database: Database,
  caller: Caller | undefined,
  secret: { readonly id: string; readonly slug: string },
): Promise<void> {
  await assertInScope(database, caller, secret);
  const access = findRestrictions(caller);
  if (access === undefined) return;
  assertOwnConsumers(access, (await readLabels(database, secret.id)).consumers);
}

/** The labels after a change. */
interface NewLabels extends Labels {
  /** The tags before the change; empty for a new secret. */
  readonly previousTags?: readonly string[];
}

/**
 * Requires that a caller may give a secret these labels: it must still see the secret, no other consumer may use it, and
 * no other tag is added, as consumers select secrets by their tags.
 *
 * @throws AppError `forbidden` otherwise.
 */
export function assertCanLabel(caller: Caller | undefined, labels: NewLabels): void {
  const access = findRestrictions(caller);
  if (access === undefined) return;
  const { slug, tags, consumers, previousTags = [] } = labels;
  if (access.namePrefix !== undefined && !slug.startsWith(access.namePrefix)) {
    throw outside('slug', `names that start with "${access.namePrefix}"`);
  }
  assertOwnConsumers(access, consumers);
  const added = tags.filter((tag) => !previousTags.includes(tag));
  const allowed = access.tags ?? tags;
  if (!isVisible(access, labels) || added.some((tag) => !allowed.includes(tag))) {
    throw outside('tags', `the tags ${(access.tags ?? []).join(', ')}`);
  }
}

/** Reads the labels that a change does not give. */
export async function readLabels(database: Database, id: string): Promise<Omit<Labels, 'slug'>> {
  const tags = await database.selectFrom('secret_object_tags').select('tag').where('object_id', '=', id).execute();
  const consumers = database.selectFrom('secret_object_consumers').select('consumer').where('object_id', '=', id);
  return {
    tags: tags.map(({ tag }) => tag),
    consumers: (await consumers.execute()).map(({ consumer }) => consumer),
  };
}

function isVisible({ namePrefix = '', tags, consumers }: TokenAccess, labels: Labels): boolean {
  return (
    labels.slug.startsWith(namePrefix) &&
    (tags === undefined || labels.tags.some((tag) => tags.includes(tag))) &&
    (consumers === undefined || labels.consumers.some((consumer) => consumers.includes(consumer)))
  );
}

function assertOwnConsumers({ consumers: own }: TokenAccess, consumers: readonly string[]): void {
  if (own === undefined || (consumers.length > 0 && consumers.every((consumer) => own.includes(consumer)))) return;
  throw outside('used_by', `secrets of only these consumers: ${own.join(', ')}`);
}

function outside(field: string, allowed: string): AppError {
  return new AppError('forbidden', `The token may only write ${allowed}.`, { field });
}

const TAG = /^[a-z0-9._/-]{1,32}$/;
const MAX_TAGS = 10;

/**
 * Returns the tags in lower case, without duplicates, in alphabetical order.
 *
 * @throws AppError `invalid_input` for an invalid tag, and for more than 10.
 */
export function parseTags(texts: readonly string[]): string[] {
  const tags = texts.map(toTag);
  const found = [...new Set(tags)].sort();
  if (found.length <= MAX_TAGS) return found;
  throw new AppError('invalid_input', `Expected at most ${MAX_TAGS} tags; received ${found.length}.`, {
    field: 'tags',
  });
}

function toTag(text: string, index: number): string {
  // Only ASCII is lower-cased: the lower case of the Kelvin sign, for example, is an ASCII letter.
  const tag = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (TAG.test(tag)) return tag;
  const message = 'Expected a tag to be 1 to 32 characters of a-z, 0-9, ".", "_", "/" and "-".';
  throw new AppError('invalid_input', message, { field: `tags.${index}` });
}
