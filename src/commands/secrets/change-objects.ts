import { confirm } from './confirm.js';
import type { ObjectFlags } from './objects.js';
import { defined } from './options.js';
import { request } from './session.js';
import type { Session } from './session.js';

interface Variant {
  readonly slug: string;
  readonly id: string | undefined;
}

/** `rename`: renames a secret. */
export async function renameObject(session: Session, { slug, id, name }: Variant & { readonly name: string }) {
  const params = { path: { slug }, query: defined({ id }) };
  const renamed = await request(session.client.PATCH('/objects/{slug}', { params, body: { slug: name } }));
  session.say(`Renamed ${slug} to ${renamed.slug} (${renamed.id}).`);
}

/** `delete`: deletes a secret after confirmation. */
export async function deleteObject(session: Session, slug: string, { id, yes }: ObjectFlags): Promise<void> {
  await confirm(session.terminal, { question: `Delete ${slug} and its versions?`, yes });
  const params = { path: { slug }, query: defined({ id }) };
  await request(session.client.DELETE('/objects/{slug}', { params }));
  session.say(`Deleted ${slug}.`);
}

/** `restore`: restores a version. */
export async function restoreVersion(session: Session, { slug, id, version }: Variant & { readonly version: number }) {
  const params = { path: { slug, version }, query: defined({ id }) };
  await request(session.client.POST('/objects/{slug}/versions/{version}/restore', { params }));
  session.say(`Restored version ${version} of ${slug}.`);
}
