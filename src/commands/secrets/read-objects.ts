import { readAll } from '../../client/paging.js';
import type { components } from '../../generated/secrets/client.js';
import type { ListFlags, ObjectFlags } from './objects.js';
import { defined } from './options.js';
import { toDay, toJson, toTable } from './print.js';
import { write } from './read-values.js';
import { request } from './session.js';
import type { Session } from './session.js';

type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** Selects secrets. */
export interface Selection {
  readonly tag?: readonly string[] | undefined;
  readonly consumer?: string | undefined;
  readonly due?: true | undefined;
  readonly reseal?: true | undefined;
}

/** `list`: prints secrets. */
export async function listObjects(session: Session, flags: ListFlags): Promise<void> {
  const objects = await readObjects(session, flags);
  await write(session.terminal.out, flags.json ? toJson(objects) : toObjectTable(objects));
}

/** Reads all pages. */
export async function readObjects({ client }: Session, selection: Selection): Promise<ObjectMetadata[]> {
  const { tag, consumer, due, reseal } = selection;
  const filter = defined({ tag: tag && [...tag], used_by: consumer, rotation_due: due, reseal });
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
      toDay(updated_at),
      rotation_due ? `since ${toDay(rotation_due_at)}` : toDay(rotation_due_at),
      reseal ? ['yes', ...(reseal.missing ?? [])].join(' ') : '',
    ]),
    'No secrets.',
  );

/** `versions`: prints the previous values of a secret. */
export async function listVersions(session: Session, slug: string, { id, json }: ObjectFlags): Promise<void> {
  const params = { path: { slug }, query: defined({ id }) };
  const versions = await request(session.client.GET('/objects/{slug}/versions', { params }));
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
  await write(session.terminal.out, json ? toJson(versions) : table);
}
