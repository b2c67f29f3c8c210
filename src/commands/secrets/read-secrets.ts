import { readAll } from '../../client/paging.js';
import type { components } from '../../generated/secrets/client.js';
import type { SecretListOptions, SecretOptions } from './secret-commands.js';
import { omitUndefined } from './options.js';
import { toDateText, toJson, toTable } from './print.js';
import { writeOutput } from './read-values.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';

type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** Selects secrets. */
export interface SecretSelection {
  readonly tag?: readonly string[] | undefined;
  readonly consumer?: string | undefined;
  readonly due?: true | undefined;
  readonly reseal?: true | undefined;
}

/** `list`: prints secrets. */
export async function printSecrets(session: CommandContext, flags: SecretListOptions): Promise<void> {
  const objects = await fetchSecrets(session, flags);
  await writeOutput(session.terminal.out, flags.json ? toJson(objects) : toObjectTable(objects));
}

/** Reads all pages. */
export async function fetchSecrets({ client }: CommandContext, selection: SecretSelection): Promise<ObjectMetadata[]> {
  const { tag, consumer, due, reseal } = selection;
  const filter = omitUndefined({ tag: tag && [...tag], used_by: consumer, rotation_due: due, reseal });
  const objects: ObjectMetadata[] = [];
  const pages = readAll((page) => client.GET('/objects', { params: { query: { ...filter, ...page } } }));
  for await (const object of pages) objects.push(object);
  return objects;
}

const toObjectTable = (objects: readonly ObjectMetadata[]): string =>
  toTable(
    ['name', 'tags', 'consumers', 'value from', 'due', 'reseal'],
    objects.map(({ slug, tags, used_by = [], updated_at, rotation_due_at, rotation_due, reseal }) => [
      slug,
      tags.join(' '),
      used_by.join('\n'),
      toDateText(updated_at),
      rotation_due ? `since ${toDateText(rotation_due_at)}` : toDateText(rotation_due_at),
      reseal ? ['yes', ...(reseal.missing ?? [])].join(' ') : '',
    ]),
    'No secrets.',
  );

/** `versions`: prints the previous values of a secret. */
export async function printVersions(session: CommandContext, slug: string, { id, json }: SecretOptions): Promise<void> {
  const params = { path: { slug }, query: omitUndefined({ id }) };
  const versions = await unwrapResult(session.client.GET('/objects/{slug}/versions', { params }));
  const table = toTable(
    ['version', 'from', 'until', 'replaced by', 'keys'],
    versions.map((each) => [
      String(each.version),
      each.created_at,
      each.replaced_at,
      `${each.replaced_by.type} ${each.replaced_by.id}`,
      String(each.recipient_count),
    ]),
    'No versions.',
  );
  await writeOutput(session.terminal.out, json ? toJson(versions) : table);
}
