import { createHash } from 'node:crypto';
import type { Location } from '../documents.js';
import { toStringLiteral } from '../output.js';
import type { Contract, ContractDocument } from './contract.js';
import {
  child,
  type ComponentReference,
  type ContractSources,
  type DocumentNode,
  findComponent,
  findTextField,
  has,
  isRecord,
  locateNode,
  parseReference,
  type ReportDiagnostic,
} from './nodes.js';

/**
 * Bundles the documents of a contract into one: components of other documents that it refers to are copied under the
 * same name. Reports different components with the same name.
 */
export function bundle(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): ContractDocument {
  const bundler = new Bundler(sources, root, report);
  // Structure and references are checked before the result is used.
  return bundler.run() as unknown as ContractDocument;
}

type Components = Record<string, Record<string, unknown>>;

class Bundler {
  readonly #sources: ContractSources;
  readonly #root: DocumentNode;
  readonly #report: ReportDiagnostic;
  readonly #components: Components = {};
  /** `schemas/Error` → its declaration. */
  readonly #origins = new Map<string, DocumentNode>();
  /** The references of the part that is being copied, which are followed afterwards: chains of them may be long. */
  #found: ComponentReference[] = [];

  constructor(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic) {
    this.#sources = sources;
    this.#root = root;
    this.#report = report;
  }

  run(): Record<string, unknown> {
    const { file } = this.#root.source;
    const { components, ...rest } = isRecord(this.#root.value) ? this.#root.value : {};
    const document = this.#copy(rest, file) as Record<string, unknown>;
    this.#addAll(this.#takeFound());
    for (const [section, members] of Object.entries(isRecord(components) ? components : {})) {
      for (const name of Object.keys(isRecord(members) ? members : {})) this.#addAll([{ file, section, name }]);
    }
    return { ...document, components: this.#components };
  }

  #copy(value: unknown, file: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, file));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        key === '$ref' && typeof part === 'string'
          ? this.#refer(part, file)
          : key === 'discriminator' && isRecord(part) && isRecord(part.mapping)
            ? { ...part, mapping: this.#copyMapping(part.mapping, file) }
            : this.#copy(part, file),
      ]),
    );
  }

  #copyMapping(mapping: Record<string, unknown>, file: string): Record<string, unknown> {
    const targets = Object.entries(mapping).map(([key, target]) => [
      key,
      typeof target === 'string' ? this.#refer(target, file) : target,
    ]);
    return Object.fromEntries(targets) as Record<string, unknown>;
  }

  #refer(text: string, file: string): string {
    const reference = parseReference(file, text);
    if (reference === undefined) return text;
    this.#found.push(reference);
    return `#/components/${reference.section}/${reference.name}`;
  }

  #takeFound(): readonly ComponentReference[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  /** Adds components, each with those that it refers to before the next. */
  #addAll(references: readonly ComponentReference[]): void {
    const due = references.toReversed();
    for (let next = due.pop(); next !== undefined; next = due.pop()) {
      this.#add(next);
      due.push(...this.#takeFound().toReversed());
    }
  }

  #add(reference: ComponentReference): void {
    const place = findComponent(this.#sources, reference);
    if (place === undefined) return;
    const target = this.#skipAliases(place, reference);
    const key = `${reference.section}/${reference.name}`;
    const known = this.#origins.get(key);
    if (known?.value === target.value) return;
    if (known !== undefined) {
      const message = `The component "${key}" is declared in both ${known.source.file} and ${target.source.file}.`;
      this.#report(place, message, 'key');
      return;
    }
    this.#origins.set(key, target);
    const section = (this.#components[reference.section] ??= {});
    const copy = this.#copy(target.value, target.source.file);
    const description = target === place ? undefined : findTextField(place, 'description');
    section[reference.name] = isRecord(copy) && description !== undefined ? { ...copy, description } : copy;
  }

  /**
   * Follows an alias such as `session: {$ref: 'common.yaml#/…/session'}` to its end. Only schemas stay aliases of
   * components with different names, as the generated types have no other aliases.
   */
  #skipAliases(place: DocumentNode, { name, section }: ComponentReference): DocumentNode {
    const seen = new Set<unknown>();
    let found = place;
    for (let ref = findTextField(found, '$ref'); ref !== undefined; ref = findTextField(found, '$ref')) {
      const next = parseReference(found.source.file, ref);
      const isSame = next?.name === name && next.file !== found.source.file;
      const target = next && findComponent(this.#sources, next);
      if (next?.section !== section || target === undefined || seen.has(target.value)) return found;
      if (section === 'schemas' && !isSame) return found;
      seen.add(target.value);
      found = target;
    }
    return found;
  }
}

interface Documents {
  readonly sources: ContractSources;
  readonly root: DocumentNode;
}

/**
 * Returns a lookup of the contract line that a line of the bundled document comes from. Lines are matched by their path
 * of keys, which is the same in both documents.
 *
 * @param text JSON with two spaces for each level.
 */
export function createBundleSourceMap(text: string, documents: Documents): (line: number) => Location | undefined {
  const lines = text.split('\n');
  return (line) => {
    const [first, section = '', name = '', ...rest] = pathAt(lines, line - 1);
    if (first === undefined) return undefined;
    const component = first === 'components' && name !== '' ? findOwner(documents, section, name) : undefined;
    const place = component ?? [first, section, name].filter((key) => key !== '').reduce(child, documents.root);
    const found = rest.reduce(child, place);
    return found.value === undefined ? undefined : locateNode(found, 'key');
  };
}

/** Finds the definition of a component, skipping entries that only refer to a component of the same name. */
function findOwner({ sources, root }: Documents, section: string, name: string): DocumentNode | undefined {
  const files = [root.source.file, ...sources.keys()];
  const found = files.map((file) => findComponent(sources, { file, section, name }));
  return found.find((place) => place !== undefined && !has(place, '$ref'));
}

const MEMBER = /^ *("(?:[^"\\]|\\.)*"): /;
const CLOSING = /^ *[\]}]/;

/** Returns the path of keys to a line. A closing bracket has the path of the object or list that it closes. */
function pathAt(lines: readonly string[], at: number): string[] {
  const path: string[] = [];
  for (let index: number | undefined = at; index !== undefined; index = findAbove(lines, index, isParent)) {
    const start: number = CLOSING.test(lines[index] ?? '') ? (findAbove(lines, index, isSibling) ?? index) : index;
    const depth = depthOf(lines[start]);
    if (depth > 0) path.unshift(keyOf(lines, start));
  }
  return path;
}

function keyOf(lines: readonly string[], at: number): string {
  const key = MEMBER.exec(lines[at] ?? '')?.[1];
  if (key !== undefined) return JSON.parse(key) as string;
  let count = 0;
  for (let index = findAbove(lines, at, isSibling); index !== undefined; index = findAbove(lines, index, isSibling)) {
    count += 1;
  }
  return String(count);
}

type LineTest = (depth: number, own: number, line: string) => boolean;

const isParent: LineTest = (depth, own) => depth < own;

/** Matches the first line of a sibling in the same list or object. */
const isSibling: LineTest = (depth, own, line) => depth === own && !CLOSING.test(line);

/** Finds the nearest matching line above, within the enclosing object or list. */
function findAbove(lines: readonly string[], at: number, matches: LineTest): number | undefined {
  const own = depthOf(lines[at]);
  for (let index = at - 1; index >= 0; index -= 1) {
    const depth = depthOf(lines[index]);
    if (matches(depth, own, lines[index] ?? '')) return index;
    if (depth < own) return undefined;
  }
  return undefined;
}

const depthOf = (line = ''): number => line.length - line.trimStart().length;

/**
 * Returns an identifier of the contract's rules for requests and responses. Clients warn of a different revision,
 * so layout, order, names of operations, tags and all texts for readers do not change it.
 */
export function toContractRevision(document: ContractDocument): string {
  // 16 hexadecimal digits suffice to distinguish the revisions of one contract.
  return createHash('sha256')
    .update(JSON.stringify(toWireRules(document)))
    .digest('hex')
    .slice(0, 16);
}

/** Writes `revision.ts`, the only file with the revision: branches that change the contract conflict nowhere else. */
export const writeRevision = ({ revision }: Pick<Contract, 'revision'>): string => `
/** Identifies the contract. The server sends it to clients, which compare it with their own. */
export const revision = ${toStringLiteral(revision)};
`;

/** The members that say nothing about requests and responses. */
const NOT_ON_THE_WIRE = new Set([
  'deprecated',
  'description',
  'example',
  'examples',
  'externalDocs',
  'info',
  'openapi',
  'operationId',
  'summary',
  'tags',
  'title',
]);

/** The extensions that change requests or responses. */
const WIRE_EXTENSIONS = new Set(['x-event', 'x-max-bytes', 'x-rest']);

/** The members whose own members have names that the contract chooses, such as a property `title`. */
export const NAME_MAPS: readonly string[] = [
  '$defs',
  'callbacks',
  'content',
  'dependentSchemas',
  'encoding',
  'headers',
  'links',
  'parameters',
  'pathItems',
  'paths',
  'patternProperties',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
  'securitySchemes',
  'webhooks',
];

/** The members that hold values instead of rules. */
const VALUES = new Set(['const', 'default', 'enum']);

/** Returns a value of a document with the members that change requests or responses, sorted by name. */
export function toWireRules(value: unknown, isNameMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => toWireRules(item));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([key]) => isNameMap || isOnTheWire(key));
  return Object.fromEntries(
    members
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [
        key,
        !isNameMap && VALUES.has(key) ? member : toWireRules(member, !isNameMap && NAME_MAPS.includes(key)),
      ]),
  );
}

const isOnTheWire = (key: string): boolean =>
  key.startsWith('x-') ? WIRE_EXTENSIONS.has(key) : !NOT_ON_THE_WIRE.has(key);
