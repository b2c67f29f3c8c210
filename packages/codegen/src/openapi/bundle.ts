import type { Location } from '../documents.js';
import type { ContractDocument } from './contract.js';
import {
  child,
  type ComponentReference,
  type ContractSources,
  type DocumentNode,
  findComponent,
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
  /** `schemas/Error` → the file that declares it. */
  readonly #origins = new Map<string, string>();

  constructor(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic) {
    this.#sources = sources;
    this.#root = root;
    this.#report = report;
  }

  run(): Record<string, unknown> {
    const { file } = this.#root.source;
    const { components, ...rest } = isRecord(this.#root.value) ? this.#root.value : {};
    const document = this.#copy(rest, file) as Record<string, unknown>;
    for (const [section, members] of Object.entries(isRecord(components) ? components : {})) {
      for (const name of Object.keys(isRecord(members) ? members : {})) this.#add({ file, section, name });
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
    this.#add(reference);
    return `#/components/${reference.section}/${reference.name}`;
  }

  #add(reference: ComponentReference): void {
    const place = findComponent(this.#sources, reference);
    if (place === undefined) return;
    const { target, file } = this.#skipAliases(place, reference);
    const key = `${reference.section}/${reference.name}`;
    const known = this.#origins.get(key);
    if (known === file) return;
    if (known !== undefined) {
      const message = `The component "${key}" is declared in both ${known} and ${file}.`;
      this.#report(place, message, 'key');
      return;
    }
    this.#origins.set(key, file);
    const section = (this.#components[reference.section] ??= {});
    // Reserves the position, so that components are in the order of their first reference.
    section[reference.name] = undefined;
    section[reference.name] = this.#copy(target.value, target.source.file);
  }

  /** Follows aliases such as `session: {$ref: 'common.yaml#/…/session'}` to the component of the same name. */
  #skipAliases(place: DocumentNode, { name, section }: ComponentReference): { target: DocumentNode; file: string } {
    const ref = has(place, '$ref') && isRecord(place.value) ? place.value.$ref : undefined;
    const next = typeof ref === 'string' ? parseReference(place.source.file, ref) : undefined;
    if (next?.name !== name || next.section !== section || next.file === place.source.file) {
      return { target: place, file: place.source.file };
    }
    const target = findComponent(this.#sources, next);
    return target === undefined ? { target: place, file: place.source.file } : this.#skipAliases(target, next);
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
