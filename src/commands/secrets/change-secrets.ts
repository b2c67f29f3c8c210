import { confirm } from './confirm.js';
import type { SecretOptions } from './secret-commands.js';
import { omitUndefined } from './options.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';

interface Variant {
  readonly slug: string;
  readonly id: string | undefined;
}

/** `rename`: renames a secret. */
export async function renameSecret(session: CommandContext, { slug, id, name }: Variant & { readonly name: string }) {
  const params = { path: { slug }, query: omitUndefined({ id }) };
  const renamed = await unwrapResult(session.client.PATCH('/objects/{slug}', { params, body: { slug: name } }));
  session.say(`Renamed ${slug} to ${renamed.slug} (${renamed.id}).`);
}

/** `delete`: deletes a secret after confirmation. */
export async function deleteSecret(session: CommandContext, slug: string, { id, yes }: SecretOptions): Promise<void> {
  await confirm(session.terminal, { question: `Delete ${slug} and its versions?`, yes });
  const params = { path: { slug }, query: omitUndefined({ id }) };
  await unwrapResult(session.client.DELETE('/objects/{slug}', { params }));
  session.say(`Deleted ${slug}.`);
}

/** `restore`: restores a version. */
export async function restoreVersion(
  session: CommandContext,
  { slug, id, version }: Variant & { readonly version: number },
) {
  const params = { path: { slug, version }, query: omitUndefined({ id }) };
  await unwrapResult(session.client.POST('/objects/{slug}/versions/{version}/restore', { params }));
  session.say(`Restored version ${version} of ${slug}.`);
}
