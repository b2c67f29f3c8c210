import { readAll } from '@trellis/client/paging';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { findSlugProblem } from '../../sealing/env-names.js';
import {
  checkReceived,
  fetchCheckedValue,
  fetchReceivedValue,
  type ObjectMetadata,
  recordSigned,
  replaceSignature,
  signStored,
  toWanted,
} from './authentic-values.js';
import { type CommandContext, unwrapResult, withContext } from './context.js';
import { EXIT, addIdOption, collectValues, omitUndefined, parseCount, parseRotation } from './options.js';
import { addConnectionOptions, type ConnectionOptions } from './settings.js';
import { type Terminal, confirm, toDateText, toJson, toTable, writeOutput } from './terminal.js';

interface SecretListOptions extends ConnectionOptions {
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly due?: true;
  readonly reseal?: true;
  readonly json?: true;
}

interface LabelOptions extends ConnectionOptions {
  readonly id?: string;
  readonly tag?: readonly string[] | false;
  readonly consumer?: readonly string[] | false;
  readonly description?: string | false;
  readonly rotateAfterDays?: number | false;
}

interface SecretOptions extends ConnectionOptions {
  readonly id?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** The commands for secrets, except those for their values. */
export function addSecretCommands(secrets: Command, terminal: Terminal): void {
  addList(secrets, terminal);
  addRename(secrets, terminal);
  addLabel(secrets, terminal);
  addDelete(secrets, terminal);
  addVersions(secrets, terminal);
  addDestroy(secrets, terminal);
}

function addList(secrets: Command, terminal: Terminal): void {
  const list = secrets
    .command('list')
    .description('List secrets without their values')
    .option('--tag <tag>', 'only secrets with this tag; repeatable', collectValues)
    .option('--consumer <consumer>', 'only secrets of this consumer')
    .option('--due', 'only secrets due for rotation')
    .option('--reseal', 'only secrets that are not sealed to the current keys of their consumers')
    .option('--json', 'print the JSON of the service')
    .addHelpText('after', '\nExamples:\n  trellis secrets list --tag prod\n  trellis secrets list --due --json');
  addConnectionOptions(list).action((flags: SecretListOptions) =>
    withContext(terminal, flags, (session) => printSecrets(session, flags)),
  );
}

function addRename(secrets: Command, terminal: Terminal): void {
  const rename = addIdOption(secrets.command('rename'))
    .description('Rename a secret')
    .argument('<secret>', 'name of the secret')
    .argument('<name>', 'new name');
  addConnectionOptions(rename).action((slug: string, name: string, flags: SecretOptions) =>
    withContext(terminal, flags, (session) => renameSecret(session, { slug, name, id: flags.id })),
  );
}

function addLabel(secrets: Command, terminal: Terminal): void {
  const label = addIdOption(secrets.command('label'))
    .description('Change tags, consumers, description or rotation; the value stays')
    .argument('<secret>', 'name of the secret')
    .option('--tag <tag>', 'tag that replaces all tags; repeatable', collectValues)
    .option('--no-tag', 'remove all tags')
    .option('--consumer <consumer>', 'consumer that replaces all consumers; repeatable', collectValues)
    .option('--no-consumer', 'remove all consumers')
    .option('--description <text>', 'description')
    .option('--no-description', 'remove the description')
    .option('--rotate-after-days <number>', 'days until the value is due for rotation', parseRotation)
    .option('--no-rotate-after-days', 'remove the days until rotation')
    .addHelpText(
      'after',
      `
A new consumer can open the value after "rotate --reseal".

Examples:
  trellis secrets label db-password --tag prod --tag database
  trellis secrets label db-password --description "Opens the shop" --rotate-after-days 90`,
    );
  addConnectionOptions(label).action((slug: string, flags: LabelOptions) =>
    withContext(terminal, flags, (session) => labelSecret(session, slug, flags)),
  );
}

function addDelete(secrets: Command, terminal: Terminal): void {
  const remove = addIdOption(secrets.command('delete'))
    .description('Delete a secret and its versions')
    .argument('<secret>', 'name of the secret')
    .option('--yes', 'do not ask for confirmation');
  addConnectionOptions(remove).action((slug: string, flags: SecretOptions) =>
    withContext(terminal, flags, (session) => deleteSecret(session, slug, flags)),
  );
}

function addVersions(secrets: Command, terminal: Terminal): void {
  const versions = addIdOption(secrets.command('versions'))
    .description('List the previous values of a secret')
    .argument('<secret>', 'name of the secret')
    .option('--json', 'print the JSON of the service')
    .addHelpText('after', '\nExample:\n  trellis secrets get db-password --at-version 3');
  addConnectionOptions(versions).action((slug: string, flags: SecretOptions) =>
    withContext(terminal, flags, (session) => printVersions(session, slug, flags)),
  );
  const restore = addIdOption(secrets.command('restore'))
    .description('Restore a previous value; the current one becomes a version')
    .argument('<secret>', 'name of the secret')
    .argument('<version>', 'number of the version, see "versions"', parseCount);
  addConnectionOptions(restore).action((slug: string, version: number, flags: SecretOptions) =>
    withContext(terminal, flags, (session) => restoreVersion(session, { slug, version, id: flags.id })),
  );
}

function addDestroy(secrets: Command, terminal: Terminal): void {
  const destroy = addIdOption(secrets.command('destroy'))
    .description('Destroy the previous values of a secret, such as after a leak; the current one stays')
    .argument('<secret>', 'name of the secret')
    .option('--at-version <number>', 'only this previous value, see "versions"', parseCount)
    .option('--yes', 'do not ask for confirmation');
  addConnectionOptions(destroy).action((slug: string, flags: SecretOptions & { readonly atVersion?: number }) =>
    withContext(terminal, flags, (session) => destroyVersions(session, slug, flags)),
  );
}

/** Selects secrets. */
interface SecretSelection {
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly due?: true;
  readonly reseal?: true;
}

/** `list`: prints secrets. */
async function printSecrets(session: CommandContext, flags: SecretListOptions): Promise<void> {
  const objects = await fetchSecrets(session, flags);
  await writeOutput(session.terminal.out, flags.json ? toJson(objects) : await toObjectTable(objects));
}

/** Reads all pages. */
export async function fetchSecrets({ client }: CommandContext, selection: SecretSelection): Promise<ObjectMetadata[]> {
  const { tag, consumer, due, reseal } = selection;
  const filter = omitUndefined({ tag: tag && [...tag], used_by: consumer, rotation_due: due, reseal });
  const objects: ObjectMetadata[] = [];
  const pages = readAll((page) => client.GET('/objects', { params: { query: { ...filter, ...page } } }));
  for await (const object of pages) objects.push(assertNamed(object));
  return objects;
}

/** The names become variables and files, which a manipulated service could choose by names that the contract forbids. */
function assertNamed(object: ObjectMetadata): ObjectMetadata {
  const problem = findSlugProblem(object.slug);
  if (problem === undefined) return object;
  throw new CommandError(`The service returned an invalid name of a secret: ${problem}`, EXIT.failed);
}

/** Rejects a new name that the contract does not allow, before the user enters a value. */
export function assertNewName(slug: string): void {
  const problem = findSlugProblem(slug);
  if (problem !== undefined) throw new CommandError(`${slug}: ${problem}`, EXIT.usage);
}

/**
 * Reads the metadata of a secret, which a read of its value does not return.
 *
 * @throws CommandFailure for an unknown name, and for several variants without an id.
 */
export async function findSecret({ client }: CommandContext, slug: string, id?: string): Promise<ObjectMetadata> {
  const variants: ObjectMetadata[] = [];
  for await (const variant of readAll(client, '/objects', { params: { query: { slug } } })) {
    if (variant.id === id) return variant;
    variants.push(variant);
  }
  const [object, other] = id === undefined ? variants : [];
  if (object === undefined) throw new CommandError('unknown object', EXIT.notFound);
  if (other === undefined) return object;
  const ids = variants.map((each) => `${each.id} (${(each.used_by ?? []).join(', ')})`).join('\n  ');
  throw new CommandError(`Use --id to select a variant of ${slug}:\n  ${ids}`, EXIT.conflict);
}

const toObjectTable = (objects: readonly ObjectMetadata[]): Promise<string> =>
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
async function printVersions(session: CommandContext, slug: string, { id, json }: SecretOptions): Promise<void> {
  const params = { path: { slug }, query: omitUndefined({ id }) };
  const versions = await unwrapResult(session.client.GET('/objects/{slug}/versions', { params }));
  const text = json
    ? toJson(versions)
    : await toTable(
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
  await writeOutput(session.terminal.out, text);
}

interface Variant {
  readonly slug: string;
  readonly id: string | undefined;
}

/** `rename`: renames a secret. */
async function renameSecret(session: CommandContext, { slug, id, name }: Variant & { readonly name: string }) {
  assertNewName(name);
  const renamed =
    (await renameSigned(session, { slug, id, name })) ??
    (await unwrapResult(
      session.client.PATCH('/objects/{slug}', {
        params: { path: { slug }, query: omitUndefined({ id }) },
        body: { slug: name },
      }),
    ));
  await session.report(`Renamed ${slug} to ${renamed.slug} (${renamed.id}).`, renamed);
}

/** Renames a secret with a signature, which contains its name, and signs it again. Returns nothing if it is not signed. */
async function renameSigned(
  session: CommandContext,
  { slug, id, name }: Variant & { readonly name: string },
): Promise<ObjectMetadata | undefined> {
  if ((await session.readSigner()) === undefined) return undefined;
  const object = await findSecret(session, slug, id);
  const { sealed, checked } = await fetchCheckedValue(session, slug, toWanted(session, object));
  if (checked.statement === undefined) return undefined;
  const previousTime = checked.statement.time;
  const renamed = await replaceSignature(session, object, sealed, { slug: name, previousTime });
  await recordSigned(session, renamed);
  return renamed;
}

/** `label`: changes the metadata of a secret. */
async function labelSecret(session: CommandContext, slug: string, flags: LabelOptions): Promise<void> {
  const { id, tag, consumer, description, rotateAfterDays } = flags;
  const body = omitUndefined({
    tags: tag === false ? [] : tag && [...tag],
    used_by: consumer === false ? [] : consumer && [...consumer],
    description: description === false ? null : description,
    rotate_after_days: rotateAfterDays === false ? null : rotateAfterDays,
  });
  if (Object.keys(body).length === 0) {
    throw new CommandError('Expected --tag, --consumer, --description or --rotate-after-days', EXIT.usage);
  }
  const params = { path: { slug }, query: omitUndefined({ id }) };
  const changed = await unwrapResult(session.client.PATCH('/objects/{slug}', { params, body }));
  await session.report(`Changed ${changed.slug} (${changed.id}).`, changed);
  if (consumer !== undefined)
    session.say(`Seal its value to the consumers with "trellis secrets rotate ${slug} --reseal".`);
}

/** `delete`: deletes a secret after confirmation. */
async function deleteSecret(session: CommandContext, slug: string, { id, yes }: SecretOptions): Promise<void> {
  await confirm(session.terminal, { question: `Delete ${slug} and its versions?`, yes });
  const params = { path: { slug }, query: omitUndefined({ id }) };
  await unwrapResult(session.client.DELETE('/objects/{slug}', { params }));
  await session.report(`Deleted ${slug}.`, { slug, ...omitUndefined({ id }) });
}

/** `destroy`: deletes previous values after confirmation. */
async function destroyVersions(
  session: CommandContext,
  slug: string,
  { id, yes, atVersion: version }: SecretOptions & { readonly atVersion?: number },
): Promise<void> {
  const what = version === undefined ? 'all previous values' : `version ${version}`;
  await confirm(session.terminal, { question: `Destroy ${what} of ${slug}?`, yes });
  const params = { path: { slug }, query: omitUndefined({ id, version }) };
  await unwrapResult(session.client.DELETE('/objects/{slug}/versions', { params }));
  await session.report(`Destroyed ${what} of ${slug}.`, { slug, ...omitUndefined({ id, version }) });
}

/** `restore`: restores a version. */
async function restoreVersion(session: CommandContext, { slug, id, version }: Variant & { readonly version: number }) {
  const params = { path: { slug, version }, query: omitUndefined({ id }) };
  const signature = await signVersion(session, { slug, id, version });
  const body = omitUndefined({ signature });
  const restored = await unwrapResult(
    session.client.POST('/objects/{slug}/versions/{version}/restore', { params, body }),
  );
  await recordSigned(session, restored, { isSigned: signature !== undefined });
  await session.report(`Restored version ${version} of ${slug}.`, restored);
}

/** Signs a previous value as the next one of its secret. Returns nothing if it is not signed, or without a signing key. */
async function signVersion(
  session: CommandContext,
  { slug, id, version }: Variant & { readonly version: number },
): Promise<string | undefined> {
  if ((await session.readSigner()) === undefined) return undefined;
  const object = await findSecret(session, slug, id);
  const params = { path: { slug }, query: { id: object.id } };
  const versions = await unwrapResult(session.client.GET('/objects/{slug}/versions', { params }));
  const recipients = versions.find((each) => each.version === version)?.recipients ?? [];
  const wanted = { id: object.id, version, recipients };
  const received = await fetchReceivedValue(session, slug, wanted);
  // The value may be older than the key, and is rejected by readers until "sign" signs it.
  if (received.signature === undefined) return undefined;
  const { sealed } = received;
  await checkReceived(session, received, wanted);
  return signStored(session, { slug, id: object.id, version: (object.version ?? 0) + 1, sealed, recipients });
}
