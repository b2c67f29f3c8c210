import { METHODS } from '../openapi/contract.js';
import { DEFAULT_MAX_BYTES, parseMediaType } from '../openapi/forms.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  items,
  locateNode,
} from '../openapi/nodes.js';
import {
  type ContractChange,
  type MessageKind,
  type OperationRule,
  type SchemaRuleName,
  severityOf,
} from './changes.js';
import { compareSchemas, type Comparison } from './schemas.js';

/** One version of a contract: its documents, and the one with the paths. */
export interface ContractVersion {
  readonly sources: ContractSources;
  readonly root: DocumentNode;
}

/** The changes of a contract, without the programs that they affect. */
export type FoundChange = Omit<ContractChange, 'consumers'>;

/**
 * Compares two versions of an OpenAPI contract. Changes of shared parts are listed once, with all operations.
 *
 * @param ref Names the previous version in the locations of removed parts.
 */
export function compareContracts(before: ContractVersion, after: ContractVersion, ref: string): readonly FoundChange[] {
  const changes = new Changes(before, ref);
  compareServers(changes, before, after);
  const [old, now] = [listOperations(before), listOperations(after)];
  for (const [key, operation] of old) {
    const match = now.get(key);
    if (match === undefined)
      changes.add('operation-removed', operation.place, `${operation.name} is removed.`, operation);
    else compareOperations({ before, after, changes, operation: match }, operation, match);
  }
  for (const [key, operation] of now) {
    if (!old.has(key)) changes.add('operation-added', operation.place, `${operation.name} is added.`, operation);
  }
  compareHooks({ before, after, changes }, listWebhooks(before), listWebhooks(after));
  return changes.list();
}

/** Compares requests that the server sends: clients read their bodies, as those of responses. */
function compareHooks(
  versions: Versions,
  old: ReadonlyMap<string, Operation>,
  now: ReadonlyMap<string, Operation>,
): void {
  const { before, after, changes } = versions;
  for (const [key, hook] of old) {
    const match = now.get(key);
    if (match === undefined) {
      changes.add('webhook-removed', hook.place, `The ${hook.name} is removed.`, hook);
      continue;
    }
    const [body, next] = [findBody(before, hook) ?? hook.place, findBody(after, match) ?? match.place];
    compareContents({ ...versions, operation: match }, 'response', body, next);
  }
  for (const [key, hook] of now) {
    if (!old.has(key)) changes.add('webhook-added', hook.place, `The ${hook.name} is added.`, hook);
  }
}

const listWebhooks = (version: ContractVersion): ReadonlyMap<string, Operation> =>
  new Map(
    entries(child(version.root, 'webhooks')).flatMap(([name, item]) =>
      listHooks(version, item, name, `webhook ${name}`),
    ),
  );

function listCallbacks(version: ContractVersion, { id, place }: Operation): ReadonlyMap<string, Operation> {
  const found = entries(child(place, 'callbacks')).flatMap(([name, mention]) =>
    entries(follow(version.sources, mention) ?? mention).flatMap(([url, item]) =>
      listHooks(version, item, id, `callback ${name} to ${url}`),
    ),
  );
  return new Map(found);
}

function listHooks({ sources }: ContractVersion, mention: DocumentNode, id: string, name: string) {
  const item = follow(sources, mention) ?? mention;
  return METHODS.filter((method) => has(item, method)).map((method): [string, Operation] => {
    return [`${name} ${method}`, { id, name, place: child(item, method), item, path: '' }];
  });
}

/** Collects changes, each once. */
class Changes {
  readonly #byKey = new Map<string, FoundChange & { operations: string[] }>();
  readonly #previous: ReadonlySet<unknown>;
  readonly #ref: string;

  constructor(previous: ContractVersion, ref: string) {
    this.#previous = new Set([...previous.sources.values()].map(({ source }) => source));
    this.#ref = ref;
  }

  add(rule: string, place: DocumentNode, message: string, operation?: Operation): void {
    const found = locateNode(place, 'key');
    const location = this.#previous.has(place.source) ? { ...found, file: `${this.#ref}:${found.file}` } : found;
    const key = JSON.stringify([rule, location, message]);
    const known = this.#byKey.get(key) ?? { rule, severity: severityOf(rule), message, location, operations: [] };
    this.#byKey.set(key, known);
    if (operation && !known.operations.includes(operation.id)) known.operations.push(operation.id);
  }

  list(): readonly FoundChange[] {
    return [...this.#byKey.values()];
  }
}

interface Operation {
  readonly id: string;
  /** `GET /notes/{id}`, as shown in messages. */
  readonly name: string;
  readonly place: DocumentNode;
  readonly item: DocumentNode;
  readonly path: string;
}

/** Lists the operations by method and path, without the names of path parameters. */
function listOperations({ sources, root }: ContractVersion): ReadonlyMap<string, Operation> {
  const found = entries(child(root, 'paths')).flatMap(([path, place]) => {
    const item = follow(sources, place) ?? place;
    return METHODS.filter((method) => has(item, method)).map((method): [string, Operation] => {
      const operation = child(item, method);
      const name = `${method.toUpperCase()} ${path}`;
      const id = findTextField(operation, 'operationId') ?? name;
      return [name.replaceAll(/\{[^}]*\}/g, '{}'), { id, name, place: operation, item, path }];
    });
  });
  return new Map(found);
}

interface Versions {
  readonly before: ContractVersion;
  readonly after: ContractVersion;
  readonly changes: Changes;
}

interface Context extends Versions {
  readonly operation: Operation;
}

const report = ({ changes, operation }: Context, rule: OperationRule, place: DocumentNode, message: string): void =>
  changes.add(rule, place, message, operation);

function compareServers(changes: Changes, before: ContractVersion, after: ContractVersion): void {
  // A new or deleted contract has a server in one version only.
  if (![before, after].every(({ root }) => has(root, 'paths'))) return;
  const [old, now] = [before, after].map(({ root }) => {
    const server = child(child(root, 'servers'), 0);
    return { url: fillVariables(server).replace(/\/$/, ''), server };
  });
  if (old === undefined || now === undefined || toPath(old.url) === toPath(now.url)) return;
  changes.add('server-changed', now.server, `The server is ${now.url} instead of ${old.url}.`);
}

/** Returns the URL of a server with the defaults of its variables. */
const fillVariables = (server: DocumentNode): string =>
  (findTextField(server, 'url') ?? '').replaceAll(
    /\{([^{}]+)\}/g,
    (_, name: string) => findTextField(child(child(server, 'variables'), name), 'default') ?? name,
  );

/** The host of a server is a setting of its deployment. */
const toPath = (url: string): string => url.replace(/^[a-z]+:\/\/[^/]*/, '');

function compareOperations(context: Context, old: Operation, now: Operation): void {
  if (old.id !== now.id) {
    report(context, 'operation-renamed', child(now.place, 'operationId'), `${old.id} is named ${now.id}.`);
  }
  if (child(now.place, 'deprecated').value === true && child(old.place, 'deprecated').value !== true) {
    report(context, 'operation-deprecated', child(now.place, 'deprecated'), `${now.id} is deprecated.`);
  }
  compareSecurity(context, old, now);
  compareParameters(context, old, now);
  compareBodies(context, old, now);
  compareResponses(context, old, now);
  compareHooks(context, listCallbacks(context.before, old), listCallbacks(context.after, now));
}

type Alternative = Readonly<Record<string, readonly string[]>>;

function compareSecurity(context: Context, old: Operation, now: Operation): void {
  const [before, after] = [listAlternatives(context.before, old), listAlternatives(context.after, now)];
  const place = has(now.place, 'security') ? child(now.place, 'security') : now.place;
  const lost = before.filter((one) => !after.some((other) => suffices(one, other)));
  const won = after.filter((one) => !before.some((other) => suffices(one, other)));
  for (const one of lost) {
    report(context, 'security-stricter', place, `${showAlternative(one)} suffices no longer for ${now.name}.`);
  }
  for (const one of won) report(context, 'security-looser', place, `${showAlternative(one)} suffices for ${now.name}.`);
  const names = new Set(after.flatMap((one) => Object.keys(one)));
  for (const name of new Set(before.flatMap((one) => Object.keys(one)))) {
    if (names.has(name)) compareScheme(context, name);
  }
}

/** Reports a credential that clients send in another place or form. */
function compareScheme(context: Context, name: string): void {
  const [old, now] = [context.before, context.after].map(({ sources, root }) => {
    const mention = child(child(child(root, 'components'), 'securitySchemes'), name);
    return follow(sources, mention) ?? mention;
  }) as [DocumentNode, DocumentNode];
  const [before, after] = [showForm(old), showForm(now)];
  if (before === after) return;
  report(context, 'security-stricter', now, `The credential ${name} is ${after} instead of ${before}.`);
}

/** Returns the form in which clients send a credential. */
function showForm(scheme: DocumentNode): string {
  const [kind, place, name] = ['type', 'in', 'name'].map((key) => findTextField(scheme, key) ?? '');
  if (kind === 'apiKey') return `the ${place} "${place === 'header' ? name?.toLowerCase() : name}"`;
  return `a token of the scheme ${(findTextField(scheme, 'scheme') ?? 'bearer').toLowerCase()}`;
}

function listAlternatives({ root }: ContractVersion, { place }: Operation): readonly Alternative[] {
  const list = has(place, 'security') ? child(place, 'security') : child(root, 'security');
  const found = items(list).map(({ value }) => value as Alternative);
  return found.length === 0 ? [{}] : found;
}

/** Returns whether credentials are enough for a requirement. */
const suffices = (credentials: Alternative, requirement: Alternative): boolean =>
  Object.entries(requirement).every(
    ([scheme, scopes]) =>
      scopes.every((scope) => credentials[scheme]?.includes(scope)) && credentials[scheme] !== undefined,
  );

function showAlternative(alternative: Alternative): string {
  const schemes = Object.entries(alternative).map(([scheme, scopes]) => [scheme, ...scopes].join(' '));
  return schemes.length === 0 ? 'No credential' : `The credential ${schemes.join(' with ')}`;
}

interface Parameter {
  readonly place: DocumentNode;
  readonly name: string;
  readonly isRequired: boolean;
}

function compareParameters(context: Context, old: Operation, now: Operation): void {
  const [before, after] = [listParameters(context.before, old), listParameters(context.after, now)];
  for (const [key, parameter] of before) {
    const match = after.get(key);
    if (match === undefined) {
      report(context, 'parameter-removed', parameter.place, `The ${parameter.name} is removed.`);
    } else compareParameter(context, parameter, match);
  }
  for (const [key, { place, name, isRequired }] of after) {
    if (before.has(key)) continue;
    const rule = isRequired ? 'required-parameter-added' : 'parameter-added';
    report(context, rule, place, `The ${isRequired ? 'required ' : ''}${name} is added.`);
  }
}

/** Lists the parameters by place and name; those of the path by their position. */
function listParameters(
  { sources }: ContractVersion,
  { item, place, path }: Operation,
): ReadonlyMap<string, Parameter> {
  const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
  const all = [...items(child(item, 'parameters')), ...items(child(place, 'parameters'))];
  const found = all.map((one): [string, Parameter] => {
    const parameter = follow(sources, one) ?? one;
    const [kind, name] = [findTextField(parameter, 'in') ?? '', findTextField(parameter, 'name') ?? ''];
    const key = kind === 'path' ? names.indexOf(name) : kind === 'header' ? name.toLowerCase() : name;
    const isRequired = child(parameter, 'required').value === true;
    return [`${kind} ${key}`, { place: parameter, name: `${kind} parameter "${name}"`, isRequired }];
  });
  return new Map(found);
}

function compareParameter(context: Context, before: Parameter, after: Parameter): void {
  const { place, name } = after;
  if (!before.isRequired && after.isRequired) {
    report(context, 'parameter-became-required', place, `The ${name} is required.`);
  }
  if (before.isRequired && !after.isRequired) {
    report(context, 'parameter-became-optional', place, `The ${name} is optional.`);
  }
  const isForm = ['query', 'cookie'].includes(findTextField(place, 'in') ?? '');
  compareStyles(context, name, [before.place, place], isForm ? 'form' : 'simple');
  compareIn(context, 'request', child(before.place, 'schema'), child(place, 'schema'));
  compareContents(context, 'request', before.place, place);
}

function compareStyles(
  context: Context,
  name: string,
  [before, after]: readonly [DocumentNode, DocumentNode],
  usual: 'form' | 'simple',
): void {
  const [old, now] = [readStyle(before, usual), readStyle(after, usual)];
  for (const key of ['style', 'explode', 'allowReserved'] as const) {
    if (old[key] === now[key]) continue;
    const place = has(after, key) ? child(after, key) : after;
    report(context, 'parameter-style-changed', place, `${key} of the ${name} changes.`);
  }
}

/** Returns how a parameter or a field of a form is written, with the defaults of OpenAPI. */
function readStyle(place: DocumentNode, usual: 'form' | 'simple') {
  const style = findTextField(place, 'style') ?? usual;
  const explode = style === 'deepObject' || (child(place, 'explode').value ?? style === 'form');
  return { style, explode, allowReserved: child(place, 'allowReserved').value ?? false };
}

function compareIn(context: Context, direction: MessageKind, before: DocumentNode, after: DocumentNode): void {
  const { changes, operation } = context;
  const comparison: Comparison = {
    before: context.before.sources,
    after: context.after.sources,
    direction,
    report: (rule: SchemaRuleName, place, message) =>
      changes.add(`${direction}-${rule}`, place, subjectOf(place) + message, operation),
    seen: new Set(),
  };
  compareSchemas(comparison, before, after);
}

/** Names the schema that contains a place: `Note.text: `, or nothing for a schema without a name. */
function subjectOf({ path }: DocumentNode): string {
  const component = path[0] === 'components' && path[1] === 'schemas' ? path.slice(2, 3) : [];
  const properties = path.filter((_, index) => path[index - 1] === 'properties' && path[index - 2] !== 'properties');
  const names = [...component, ...properties];
  return names.length === 0 ? '' : `${names.join('.')}: `;
}

function compareBodies(context: Context, old: Operation, now: Operation): void {
  const [before, after] = [findBody(context.before, old), findBody(context.after, now)];
  const name = `request body of ${now.name}`;
  if (before === undefined && after === undefined) return;
  if (after === undefined) {
    report(context, 'body-removed', now.place, `The ${name} is removed.`);
    return;
  }
  const isRequired = child(after, 'required').value === true;
  if (before === undefined) {
    const rule = isRequired ? 'required-body-added' : 'body-added';
    report(context, rule, after, `The ${isRequired ? 'required ' : ''}${name} is added.`);
    return;
  }
  const wasRequired = child(before, 'required').value === true;
  if (!wasRequired && isRequired) report(context, 'body-became-required', after, `The ${name} is required.`);
  if (wasRequired && !isRequired) report(context, 'body-became-optional', after, `The ${name} is optional.`);
  compareLimits(context, before, after);
  compareContents(context, 'request', before, after);
}

function findBody({ sources }: ContractVersion, { place }: Operation): DocumentNode | undefined {
  return has(place, 'requestBody') ? follow(sources, child(place, 'requestBody')) : undefined;
}

function compareLimits(context: Context, before: DocumentNode, after: DocumentNode): void {
  const [old, now] = [before, after].map((body) => Number(child(body, 'x-max-bytes').value ?? DEFAULT_MAX_BYTES)) as [
    number,
    number,
  ];
  if (old === now) return;
  const rule = now < old ? 'body-limit-lowered' : 'body-limit-raised';
  report(
    context,
    rule,
    has(after, 'x-max-bytes') ? child(after, 'x-max-bytes') : after,
    `Bodies have at most ${now} bytes instead of ${old}.`,
  );
}

/** Compares the media types of two bodies or responses, and the schemas of those that both have. */
function compareContents(context: Context, direction: MessageKind, before: DocumentNode, after: DocumentNode): void {
  const [old, now] = [listMedia(before), listMedia(after)];
  for (const [type, media] of old) {
    const match = now.get(type);
    if (match === undefined) {
      report(context, `${direction}-type-removed`, media, `The media type ${type} is removed.`);
      continue;
    }
    for (const key of ['schema', 'x-event']) compareIn(context, direction, child(media, key), child(match, key));
    if (type === FORM_TYPE) compareEncodings(context, child(media, 'encoding'), child(match, 'encoding'));
  }
  for (const [type, media] of now) {
    if (!old.has(type)) report(context, `${direction}-type-added`, media, `The media type ${type} is added.`);
  }
}

/** The other types of forms have no styles. */
const FORM_TYPE = 'application/x-www-form-urlencoded';

function compareEncodings(context: Context, before: DocumentNode, after: DocumentNode): void {
  const names = new Set([before, after].flatMap((encoding) => entries(encoding).map(([name]) => name)));
  for (const name of names)
    compareStyles(context, `field "${name}"`, [child(before, name), child(after, name)], 'form');
}

/** Lists the media types of a body or response, without parameters such as a charset, which have no effect. */
const listMedia = (place: DocumentNode): ReadonlyMap<string, DocumentNode> =>
  new Map(entries(child(place, 'content')).map(([type, media]) => [parseMediaType(type)?.essence ?? type, media]));

function compareResponses(context: Context, old: Operation, now: Operation): void {
  const [before, after] = [child(old.place, 'responses'), child(now.place, 'responses')];
  for (const [status, place] of entries(before)) {
    if (!has(after, status)) {
      const rule = isError(status) ? 'error-removed' : 'success-removed';
      report(context, rule, place, `Status ${status} of ${now.name} is removed.`);
      continue;
    }
    const response = follow(context.before.sources, place) ?? place;
    const match = follow(context.after.sources, child(after, status)) ?? child(after, status);
    compareHeaders(context, response, match);
    compareContents(context, 'response', response, match);
  }
  for (const [status, place] of entries(after)) {
    if (has(before, status)) continue;
    const rule = isError(status) ? 'error-added' : 'success-added';
    report(context, rule, place, `Status ${status} of ${now.name} is added.`);
  }
}

const isError = (status: string): boolean => /^[45]|^default$/.test(status);

function compareHeaders(context: Context, before: DocumentNode, after: DocumentNode): void {
  const [old, now] = [listHeaders(context.before, before), listHeaders(context.after, after)];
  for (const [name, { place, isRequired }] of old) {
    const match = now.get(name);
    if (match === undefined) {
      const rule = isRequired ? 'required-header-removed' : 'header-removed';
      report(context, rule, place, `The header ${name} is removed.`);
      continue;
    }
    if (isRequired && !match.isRequired) {
      report(context, 'header-became-optional', match.place, `The header ${name} is optional.`);
    }
    if (!isRequired && match.isRequired) {
      report(context, 'header-became-required', match.place, `The header ${name} is required.`);
    }
    compareIn(context, 'response', child(place, 'schema'), child(match.place, 'schema'));
  }
  for (const [name, { place }] of now) {
    if (!old.has(name)) report(context, 'header-added', place, `The header ${name} is added.`);
  }
}

function listHeaders(
  { sources }: ContractVersion,
  response: DocumentNode,
): ReadonlyMap<string, Omit<Parameter, 'name'>> {
  return new Map(
    entries(child(response, 'headers')).map(([name, one]) => {
      const place = follow(sources, one) ?? one;
      return [name.toLowerCase(), { place, isRequired: child(place, 'required').value === true }];
    }),
  );
}
