/**
 * References to parts of documents, such as `#/components/schemas/Pet/properties/owner` or `pet.yaml`. Each part becomes
 * a component, so that all later steps know references to components only.
 */
import path from 'node:path/posix';
import { pascal } from '../output.js';
import { OPENAPI_GRAMMAR, listObjects, type TypedNode } from './grammar.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  followOnce,
  has,
  isRecord,
  parseReference,
  recordMove,
  type ReportDiagnostic,
  resolveFile,
} from './nodes.js';

/** The member of a document without `openapi` that holds its own text. */
const FRAGMENT = 'x-document';

/** Returns a document that consists of components only, if it is a part of OpenAPI, such as a single schema. */
export function wrapFragment(place: DocumentNode): DocumentNode {
  if (!isRecord(place.value) || has(place, 'openapi') || has(place, 'swagger')) return place;
  const info = { title: place.source.file, version: '1.0.0' };
  const wrapped = { ...place, value: { openapi: '3.1.0', info, components: {}, [FRAGMENT]: place.value } };
  recordMove(child(wrapped, FRAGMENT), { source: place.source, path: [] });
  return wrapped;
}

/** Returns whether a document is a part of OpenAPI without a version of its own. */
export const isFragment = (root: DocumentNode): boolean => has(root, FRAGMENT);

/** The documents, with the names of their components by section. */
interface Components {
  readonly sources: ContractSources;
  readonly names: Map<string, Set<string>>;
}

/** The longest chain of schemas that are nothing but references. Others may form chains of any length. */
const MAX_ALIASES = 1000;

/** Reports a longer chain, with which later steps would run out of stack. */
export function checkAliases(sources: ContractSources, report: ReportDiagnostic): void {
  const places = new Map([...sources].flatMap(([file, source]) => listSchemas(file, source)));
  const lengths = measureChains(places.keys(), (key) => listTarget(places.get(key)));
  const [longest] = [...lengths].sort(([, one], [, other]) => other - one);
  const [name = '', length = 0] = longest ?? [];
  const place = places.get(name);
  if (place === undefined || length <= MAX_ALIASES) return;
  report(place, `Expected at most ${MAX_ALIASES} schemas that only refer to the next; received ${length}.`, 'key');
}

const listSchemas = (file: string, source: DocumentNode): [key: string, place: DocumentNode][] =>
  entries(child(child(source, 'components'), 'schemas')).map(([name, place]) => [`${file} ${name}`, place]);

/** Returns the key of the schema that a schema is a reference to, if it is one. */
function listTarget(place: DocumentNode | undefined): readonly string[] {
  const text = place && findTextField(place, '$ref');
  const reference = text === undefined ? undefined : parseReference(place?.source.file ?? '', text);
  return reference?.section === 'schemas' ? [`${reference.file} ${reference.name}`] : [];
}

/** Returns the length of the longest chain of references from each name, without those that lead back into the chain. */
export function measureChains(
  names: Iterable<string>,
  listReferences: (name: string) => readonly string[],
): ReadonlyMap<string, number> {
  const measured = new Map<string, number>();
  const seen = new Set<string>();
  const visit = (name: string) => ({ name, targets: listReferences(name), at: 0 });
  for (const start of names) {
    if (seen.has(start)) continue;
    const open = [visit(start)];
    seen.add(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = top.targets[top.at];
      top.at += 1;
      if (next === undefined) {
        measured.set(top.name, Math.max(0, ...top.targets.map((target) => measured.get(target) ?? 0)) + 1);
        open.pop();
      } else if (!seen.has(next)) {
        seen.add(next);
        open.push(visit(next));
      }
    }
  }
  return measured;
}

/** Makes a component of every part that a reference leads to. Changes the values of the documents. */
export function resolveReferences(sources: ContractSources): void {
  const sorted = [...sources].sort(([one], [other]) => (one < other ? -1 : 1));
  const due = sorted.flatMap(([, source]) => listObjects(source));
  const components = { sources, names: listNames(sources) };
  const seen = new Set<unknown>();
  const replaced: string[] = [];
  for (let object = due.shift(); object !== undefined; object = due.shift()) {
    if (seen.has(object.place.value)) continue;
    if (object.name === 'discriminator') due.push(...resolveMapping(components, object.place));
    if (findTextField(object.place, '$ref') === undefined) continue;
    seen.add(object.place.value);
    if (object.name === 'pathItem' && object.place.path[0] === 'paths') {
      replaced.push(findTextField(object.place, '$ref') ?? '');
      due.push(...replacePathItem(sources, object.place));
    } else due.push(...resolvePart(components, object));
  }
  for (const { place, name } of [...sources.values()].flatMap((source) => listObjects(source))) {
    if (!isRecord(place.value)) continue;
    delete place.value.$defs;
    if (name === 'discriminator') completeMapping(place);
    // Path items that stand in paths now are no components.
    for (const key of name === 'components' ? Object.keys(child(place, 'pathItems').value ?? {}) : [])
      if (replaced.includes(`#/components/pathItems/${key}`))
        Reflect.deleteProperty(place.value.pathItems as object, key);
  }
}

function listNames(sources: ContractSources): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const source of sources.values()) {
    for (const [section, members] of entries(child(source, 'components')))
      names.set(section, new Set([...(names.get(section) ?? []), ...entries(members).map(([name]) => name)]));
  }
  return names;
}

/** Replaces the names of schemas in the mapping of a discriminator by references. */
function completeMapping(discriminator: DocumentNode): void {
  const mapping = child(discriminator, 'mapping').value;
  if (!isRecord(mapping)) return;
  for (const [value, target] of Object.entries(mapping)) {
    if (typeof target === 'string' && !isReference(target)) mapping[value] = `#/components/schemas/${target}`;
  }
}

/** Returns whether a value of a mapping is a reference, not the name of a schema. */
const isReference = (text: string): boolean => !/^[A-Za-z0-9._-]+$/.test(text) || /\.(?:json|ya?ml)$/.test(text);

/** Replaces the references of a mapping. Returns the objects of the parts that were not known before. */
function resolveMapping(components: Components, discriminator: DocumentNode): TypedNode[] {
  const mapping = child(discriminator, 'mapping').value;
  if (!isRecord(mapping)) return [];
  return Object.entries(mapping).flatMap(([key, text]) => {
    if (typeof text !== 'string' || !isReference(text)) return [];
    const mention = { $ref: text };
    const place = { source: discriminator.source, path: discriminator.path, value: mention };
    const found = resolvePart(components, { place, name: 'schema' });
    mapping[key] = mention.$ref;
    return found;
  });
}

/** Replaces a reference to a part by one to a component. Returns the objects of a part that was not known before. */
function resolvePart(components: Components, { place, name }: TypedNode): TypedNode[] {
  const { sources } = components;
  const text = findTextField(place, '$ref') ?? '';
  const { section } = OPENAPI_GRAMMAR[name];
  // The components of a document without a version are parts of it, as it may be a part of OpenAPI itself.
  if (section === undefined || followOnce(sources, place) !== undefined) return [];
  const target = findPart(sources, place.source.file, text);
  if (target === undefined || !isRecord(place.value)) return [];
  const { name: component, isNew } = toComponent(components, target, section);
  const isLocal = target.source.file === place.source.file;
  const file = isLocal ? '' : path.relative(path.dirname(place.source.file), target.source.file);
  place.value.$ref = `${file}#/components/${section}/${component}`;
  if (!isNew) return [];
  const root = sources.get(target.source.file) ?? target;
  return listObjects(child(child(child(root, 'components'), section), component), name);
}

/** Finds the part that a reference leads to. Other references on the way are followed, unless the part is beside them. */
function findPart(sources: ContractSources, from: string, text: string): DocumentNode | undefined {
  const [relative = '', fragment = ''] = text.split('#');
  const root = sources.get(resolveFile(from, relative));
  if (root === undefined || !/^(?:\/.*)?$/s.test(fragment)) return undefined;
  // A contract, and each of its fields, contains the reference.
  if (fragment.split('/').length < 3 && !isFragment(root)) return undefined;
  let found: DocumentNode | undefined = has(root, FRAGMENT) ? child(root, FRAGMENT) : root;
  for (const segment of fragment.split('/').slice(1)) {
    const key = decode(segment);
    const isOwn: boolean = child(found, key).value !== undefined;
    const parent: DocumentNode | undefined = isOwn ? found : follow(sources, found);
    if (parent === undefined) return undefined;
    found = child(parent, key);
  }
  return found.value === undefined ? undefined : found;
}

function decode(segment: string): string {
  const text = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Component {
  readonly name: string;
  readonly isNew: boolean;
}

/** Moves a part to the components of its document. A reference takes its place. */
function toComponent({ sources, names }: Components, target: DocumentNode, section: string): Component {
  const ref = findTextField(target, '$ref');
  const alias = ref === undefined ? undefined : parseReference(target.source.file, ref);
  const isAlias = isRecord(target.value) && Object.keys(target.value).length === 1;
  if (isAlias && alias?.section === section && alias.file === target.source.file)
    return { name: alias.name, isNew: false };
  const root = sources.get(target.source.file)?.value as Record<string, unknown>;
  const components = (root.components ??= {}) as Record<string, Record<string, unknown>>;
  const members = (components[section] ??= {});
  // The names of components differ in all documents, as these are bundled.
  const known = names.get(section) ?? new Set();
  const name = toUnusedName(toName(target), known);
  names.set(section, known.add(name));
  members[name] = target.value;
  recordMove({ ...target, path: ['components', section, name] }, target);
  const parent = target.path.slice(0, -1).reduce<unknown>(pick, root) as Record<string, unknown>;
  const key = target.path.at(-1) ?? '';
  if (target.path.length > 0) parent[key] = { $ref: `#/components/${section}/${name}` };
  return { name, isNew: true };
}

const pick = (value: unknown, key: string): unknown => (value as Readonly<Record<string, unknown>>)[key];

/** Keywords that lead to a schema, which its name does not need. */
const STEPS = ['$defs', 'allOf', 'anyOf', 'components', 'content', 'items', 'oneOf', 'properties', 'schema', 'schemas'];

/** Returns a name for a part: `Pet_owner` for a property of a component, `Pet` for the file `pet.yaml`. */
function toName({ path: keys, source: { file } }: DocumentNode): string {
  const [first, section, name = '', ...rest] = keys;
  const own = (list: readonly string[]) => list.filter((key) => !STEPS.includes(key)).map(toWord);
  if (first === 'components' && section === 'schemas') return [toWord(name), ...own(rest)].join('_');
  if (first !== FRAGMENT) return own(keys).map(pascal).join('');
  if (section === 'components' && rest.length === 1) return toWord(rest[0] ?? '');
  return own(keys.slice(1)).join('_') || pascal(path.basename(file).replace(/\.\w+$/, ''));
}

const toWord = (text: string): string => text.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^_+|_+$/g, '') || 'Root';

function toUnusedName(name: string, known: ReadonlySet<string>): string {
  let count = 1;
  while (known.has(count === 1 ? name : `${name}${count}`)) count += 1;
  return count === 1 ? name : `${name}${count}`;
}

/**
 * Replaces a reference to a path item by the path item. The fields beside the reference take precedence. Returns the
 * objects of the path item.
 */
function replacePathItem(sources: ContractSources, place: DocumentNode): TypedNode[] {
  const seen = new Set<unknown>();
  while (isRecord(place.value) && typeof place.value.$ref === 'string' && !seen.has(place.value.$ref)) {
    seen.add(place.value.$ref);
    const target = findPart(sources, place.source.file, place.value.$ref);
    if (target === undefined || !isRecord(target.value)) return [];
    const own = Object.keys(place.value);
    delete place.value.$ref;
    for (const [key, part] of entries(rebase(target, place.source.file))) {
      if (own.includes(key) && key !== '$ref') continue;
      place.value[key] = part.value;
      recordMove(child(place, key), part);
    }
  }
  return listObjects(place, 'pathItem');
}

/** Returns a path item whose references are relative to the document that it moves to. */
function rebase(item: DocumentNode, file: string): DocumentNode {
  const from = item.source.file;
  if (from === file) return item;
  const copy = { source: item.source, path: item.path, value: structuredClone(item.value) };
  const move = (text: string) => moveReference(text, from, file);
  // YAML aliases may repeat an object.
  for (const value of new Set(listObjects(copy, 'pathItem').map(({ place }) => place.value))) {
    if (!isRecord(value)) continue;
    if (typeof value.$ref === 'string') value.$ref = move(value.$ref);
    if (!isRecord(value.discriminator) || !isRecord(value.discriminator.mapping)) continue;
    const { mapping } = value.discriminator;
    for (const [key, text] of Object.entries(mapping))
      if (typeof text === 'string' && isReference(text)) mapping[key] = move(text);
  }
  return copy;
}

function moveReference(text: string, from: string, to: string): string {
  const [relative = '', ...fragment] = text.split('#');
  if (/^[a-z][a-z\d+.-]*:/iu.test(relative)) return text;
  const target = resolveFile(from, relative);
  return [target === to ? '' : path.relative(path.dirname(to), target), ...fragment].join('#');
}
