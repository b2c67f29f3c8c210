import path from 'node:path/posix';
import { Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { closestName, type Diagnostic, didYouMean, type Location } from '../documents.js';
import { FAILSAFE_SCHEMA, loadYaml, YamlType } from './third-party.js';

/** One YAML document of a contract. */
interface Source {
  readonly file: string;
  /** Reads the positions of its parts, which only messages need. */
  readonly readPositions: () => Positions;
  /** Parts that were moved after parsing: the path, joined by {@link SEPARATOR}, and where the part is written. */
  readonly moved: Map<string, Written>;
}

/** Where a part is written: its document, and its path there. */
type Written = Pick<DocumentNode, 'path' | 'source'> & {
  /** Whether the path is that of the text, which may have a different part now. */
  readonly isFinal?: true;
};

interface Positions {
  readonly document: Document;
  readonly lines: LineCounter;
}

/** No key of a document contains it. */
const SEPARATOR = '\0';

/** A value in a document, with its path of keys from the root. */
export interface DocumentNode {
  readonly source: Source;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The part of a mapping entry that an error refers to. */
type NodePart = 'key' | 'value';

/** Records something at a place. The default part is the value. */
type Report = (place: DocumentNode, message: string, part?: NodePart) => void;

/** Records an error. */
export interface ReportDiagnostic extends Report {
  /** Records a warning, which does not stop the generation unless the contract is strict. */
  readonly warn: Report;
}

/** Creates a report that appends to two lists. */
export function createReport(errors: Diagnostic[], warnings: Diagnostic[]): ReportDiagnostic {
  const into =
    (list: Diagnostic[]): Report =>
    (place, message, part) =>
      list.push({ ...locateNode(place, part), message });
  return Object.assign(into(errors), { warn: into(warnings) });
}

/**
 * Parses a YAML document. Appends syntax errors to `diagnostics`, with duplicate keys, aliases that contain themselves,
 * values that are nested too deeply, and the key `__proto__`.
 */
export function parseSource(file: string, text: string, diagnostics: Diagnostic[]): DocumentNode {
  let positions: Positions | undefined;
  const source = { file, readPositions: () => (positions ??= parsePositions(text)), moved: new Map() };
  const quickly = readQuickly(text);
  if (quickly !== undefined) return requireDepth({ source, path: [], value: quickly }, diagnostics);
  const { document, lines } = source.readPositions();
  // A tag that is not of JSON would be ignored.
  const errors = [...document.errors, ...document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED')];
  // The library reports a stack overflow where each of its parsers has stopped.
  const overflow = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  for (const { message, pos } of overflow ? [overflow] : errors) {
    const shown = overflow ? TOO_DEEP : toSentence(message);
    diagnostics.push({ ...toLocation(file, lines, pos[0]), message: shown });
  }
  const problems = errors.length > 0 ? [] : findProblems(document, text);
  for (const { message, offset } of problems) diagnostics.push({ ...toLocation(file, lines, offset), message });
  const isSound = errors.length + problems.length === 0;
  return requireDepth({ source, path: [], value: isSound ? toValue(document) : undefined }, diagnostics);

  function toValue(parsed: Document): unknown {
    try {
      return parsed.toJS();
    } catch (error) {
      if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
      // The library limits how often aliases are repeated, to 100 times.
      const repeated = 'The aliases of the document repeat too many values.';
      diagnostics.push({ file, line: 1, column: 1, message: error instanceof RangeError ? TOO_DEEP : repeated });
      return undefined;
    }
  }
}

/** Several times the depth of contracts that people or tools write. The limit protects recursive functions. */
const MAX_DEPTH = 256;

const TOO_DEEP = `Expected values nested at most ${MAX_DEPTH} levels deep; received more levels.`;

/** Replaces the value of a document that is nested too deeply, which is reported where the excess begins. */
function requireDepth(root: DocumentNode, diagnostics: Diagnostic[]): DocumentNode {
  const path = findTooDeep(root.value, MAX_DEPTH);
  if (path === undefined) return root;
  diagnostics.push({ ...locateNode({ ...root, path }), message: TOO_DEEP });
  return { ...root, value: undefined };
}

/** Returns the path of the first value that more than a number of values contain. */
function findTooDeep(value: unknown, levels: number): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return [];
  for (const [key, item] of Object.entries(value)) {
    const path = findTooDeep(item, levels - 1);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

function parsePositions(text: string): Positions {
  const lines = new LineCounter();
  const options = { lineCounter: lines, merge: true, prettyErrors: false, resolveKnownTags: false };
  return { document: parseDocument(text, options), lines };
}

/** Directives, anchors, merge keys, and empty or explicit keys, which the reader without positions understands differently. */
const UNUSUAL =
  /^\uFEFF?%|(?:^|[\s[{,:-])&[^\s&]|<<|__proto__|(?:^|[\s[{,])(?:~|[Nn]ull|NULL)?\s*:(?:\s|$)|(?:^|[\s[{,-])\?(?:\s|$)/mu;

/** The plain scalars of YAML 1.2 that are not text, with the values of the reader with positions. */
const SCALARS: readonly (readonly [tag: string, pattern: RegExp, toValue: (text: string) => unknown])[] = [
  ['null', /^(?:~|[Nn]ull|NULL)?$/u, () => null],
  ['bool', /^(?:[Tt]rue|TRUE|false|False|FALSE)$/u, (text) => /^t/iu.test(text)],
  ['int', /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+)$/u, Number],
  ['float', /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/u, Number],
  ['infinity', /^[-+]?\.(?:inf|Inf|INF)$/u, (text) => (text.startsWith('-') ? -Infinity : Infinity)],
  ['nan', /^\.(?:nan|NaN|NAN)$/u, () => NaN],
];

const QUICK_SCHEMA = FAILSAFE_SCHEMA.extend({
  implicit: SCALARS.map(([name, pattern, toValue]) => {
    const tag = `tag:yaml.org,2002:${name}`;
    const resolve = (text: string | null) => pattern.test(text ?? '');
    return new YamlType(tag, { kind: 'scalar', resolve, construct: (text: string | null) => toValue(text ?? '') });
  }),
});

/**
 * Returns the value of a document in a fifth of the time that its positions take; `undefined` if it has errors, or text
 * that this reader understands differently.
 */
function readQuickly(text: string): unknown {
  if (UNUSUAL.test(text)) return undefined;
  try {
    return loadYaml(text, { schema: QUICK_SCHEMA });
  } catch {
    return undefined;
  }
}

interface Problem {
  readonly message: string;
  readonly offset: number;
}

/** Finds parts of a document that have no value in JavaScript. Most documents have neither anchors nor such a key. */
function findProblems(document: Document, text: string): readonly Problem[] {
  if (!['&', '*', MERGE, UNSAFE_NAME].some((part) => text.includes(part))) return [];
  const found: Problem[] = [];
  visit(document, {
    Alias(_key, alias, parents) {
      const target = alias.resolve(document);
      const offset = alias.range?.[0] ?? 0;
      if (target === undefined) found.push({ message: `No anchor "&${alias.source}" before this alias.`, offset });
      else if (parents.includes(target))
        found.push({ message: `The alias "*${alias.source}" is circular. Use $ref.`, offset });
    },
    Pair(_key, { key, value }) {
      if (!isScalar(key)) return;
      const offset = key.range?.[0] ?? 0;
      if (key.value === UNSAFE_NAME)
        found.push({ message: `The name "${UNSAFE_NAME}" is reserved by JavaScript.`, offset });
      if (isMergeKey(key) && !listMerged(document, value as Node | null).every(isMapping))
        found.push({ message: `Expected "${MERGE}" to have a mapping, or a list of mappings.`, offset });
    },
  });
  return found;
}

/** The key of a mapping whose members a mapping takes over, as most readers of YAML have it. */
const MERGE = '<<';

/** The library replaces the value of such a key by a symbol. */
const isMergeKey = (key: unknown): boolean =>
  isScalar(key) && typeof key.value === 'symbol' && key.value.description === MERGE;

/** Aliases without an anchor have an error of their own. */
const isMapping = (part: unknown): boolean => part === undefined || isMap(part);

/** Lists the mappings that a merge key names, the first of which takes precedence. */
function listMerged(document: Document, value: Node | null): readonly unknown[] {
  const target = isAlias(value) ? value.resolve(document) : value;
  return isSeq(target) ? target.items.map((item) => (isAlias(item) ? item.resolve(document) : item)) : [target];
}

/** The name of a property that sets the prototype of an object. */
export const UNSAFE_NAME = '__proto__';

/** Records where a part that was moved is written, for its position in messages. It may be in another document. */
export function recordMove({ source, path }: DocumentNode, written: Written): void {
  source.moved.set(path.join(SEPARATOR), written);
}

/** Records where the items of a list are written after some of them were removed. */
export function recordItems(list: DocumentNode, kept: readonly Written[]): void {
  const written = kept.map(findWritten);
  for (const [index, { source, path }] of written.entries())
    recordMove(child(list, index), { source, path, isFinal: true });
}

/** Returns the place at which a part is written. */
function findWritten({ source, path }: Written): Written {
  let found: Written = { source, path };
  for (let end = path.length; end > 0; end -= 1) {
    const written = found.source.moved.get(found.path.slice(0, end).join(SEPARATOR));
    if (written === undefined) continue;
    found = { source: written.source, path: [...written.path, ...found.path.slice(end)] };
    if (written.isFinal === true) return found;
    end = found.path.length + 1;
  }
  return found;
}

const NOWHERE: Positions = { document: new Document(), lines: new LineCounter() };

/** Returns a part of a bundled document as a place, to read it like a part of its sources. */
export function toNode(
  document: object,
  value: unknown,
): { readonly sources: ContractSources; readonly place: DocumentNode } {
  const source = { file: '', readPositions: () => NOWHERE, moved: new Map() };
  return { sources: new Map([['', { source, path: [], value: document }]]), place: { source, path: [], value } };
}

export function child(place: DocumentNode, key: number | string): DocumentNode {
  const parent = place.value as Readonly<Record<string, unknown>> | null | undefined;
  const value = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key) ? parent[key] : undefined;
  return new Child(place, String(key), value);
}

/** A part of a place. Few paths are read, so they are not written before. */
class Child implements DocumentNode {
  readonly source: Source;
  readonly value: unknown;
  readonly #parent: DocumentNode;
  readonly #key: string;
  #path: readonly string[] | undefined;

  constructor(parent: DocumentNode, key: string, value: unknown) {
    this.source = parent.source;
    this.value = value;
    this.#parent = parent;
    this.#key = key;
  }

  get path(): readonly string[] {
    return (this.#path ??= [...this.#parent.path, this.#key]);
  }
}

/** Lists the entries of a mapping; empty if the place is not a mapping. */
export function entries(place: DocumentNode): [key: string, value: DocumentNode][] {
  return isRecord(place.value) ? Object.keys(place.value).map((key) => [key, child(place, key)]) : [];
}

/** Lists the items of a list; empty if the place is not a list. */
export function items(place: DocumentNode): DocumentNode[] {
  return Array.isArray(place.value) ? place.value.map((_, index) => child(place, index)) : [];
}

export function has(place: DocumentNode, key: string): boolean {
  return isRecord(place.value) && Object.hasOwn(place.value, key);
}

/** Returns a field of a place if it is text. */
export function findTextField(place: DocumentNode, key: string): string | undefined {
  const { value } = child(place, key);
  return typeof value === 'string' ? value : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the position of a place in its file, or that of the nearest enclosing place if it does not exist. */
export function locateNode(place: DocumentNode, part: NodePart = 'value'): Location {
  const { source, path } = findWritten(place);
  const { document, lines } = source.readPositions();
  let node: Node | null = document.contents;
  let found = node;
  for (const [index, key] of path.entries()) {
    const entry = findChild(document, node, key);
    const isLast = index === path.length - 1;
    // An empty value has no characters to point at, so its key is used.
    const next: Node | undefined = (isLast && part === 'key') || isEmpty(entry?.value) ? entry?.key : entry?.value;
    if (next === undefined) break;
    found = next;
    node = entry?.value ?? next;
  }
  return toLocation(source.file, lines, found?.range?.[0] ?? 0);
}

interface Entry {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}

function findChild(document: Document, node: Node | null, key: string): Entry | undefined {
  const target = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(target)) {
    const item = target.items[Number(key)];
    return isNode(item) ? { key: item, value: item } : undefined;
  }
  if (!isMap(target)) return undefined;
  const pair = target.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  if (pair === undefined) {
    const merged = target.items.filter((item) => isMergeKey(item.key));
    const parts = merged.flatMap(({ value }) => listMerged(document, value as Node | null));
    for (const part of parts) {
      const found = isNode(part) ? findChild(document, part, key) : undefined;
      if (found !== undefined) return found;
    }
  }
  return pair && { key: isNode(pair.key) ? pair.key : undefined, value: isNode(pair.value) ? pair.value : undefined };
}

function isEmpty(node: Node | undefined): boolean {
  return node === undefined || (isScalar(node) && node.source === '');
}

function toLocation(file: string, lines: LineCounter, offset: number): Location {
  const { line, col } = lines.linePos(offset);
  return { file, line, column: col };
}

function toSentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}

/** The documents of a contract by path. */
export type ContractSources = ReadonlyMap<string, DocumentNode>;

/** The target of a `$ref` such as `common.yaml#/components/schemas/Error`. */
export interface ComponentReference {
  readonly file: string;
  readonly section: string;
  readonly name: string;
}

/** Parses a `$ref`, relative to the file that contains it. Returns `undefined` unless it refers to a component. */
export function parseReference(file: string, text: string): ComponentReference | undefined {
  const [, relative, section, name] = /^([^#]*)#\/components\/([A-Za-z]+)\/([A-Za-z0-9._-]+)$/.exec(text) ?? [];
  if (relative === undefined || section === undefined || name === undefined) return undefined;
  return { file: resolveFile(file, relative), section, name };
}

/** Resolves the file of a `$ref`, which is relative to the file that contains it. As in all URLs, `%20` is a space. */
export function resolveFile(file: string, relative: string): string {
  if (relative === '') return file;
  const target = path.join(path.dirname(file), relative);
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** Returns the component that a reference names, or `undefined`. */
export function findComponent(
  sources: ContractSources,
  { file, section, name }: ComponentReference,
): DocumentNode | undefined {
  const root = sources.get(file);
  if (root === undefined) return undefined;
  const components = child(child(root, 'components'), section);
  return has(components, name) ? child(components, name) : undefined;
}

/** Follows the chain of `$ref`s from a place to its end. Returns `undefined` if the chain is broken or circular. */
export function follow(sources: ContractSources, place: DocumentNode): DocumentNode | undefined {
  const { end } = trace(sources, place);
  return typeof end === 'object' ? end : undefined;
}

function trace(sources: ContractSources, place: DocumentNode): { readonly end: DocumentNode | 'loop' | 'missing' } {
  const seen = new Set<unknown>();
  let current = place;
  while (isRecord(current.value) && typeof current.value.$ref === 'string') {
    if (seen.has(current.value)) return { end: 'loop' };
    seen.add(current.value);
    const next = followOnce(sources, current);
    if (next === undefined) return { end: 'missing' };
    current = next;
  }
  return { end: current };
}

/** Returns the component that the `$ref` of a place names, or `undefined`. */
export function followOnce(sources: ContractSources, { source, value }: DocumentNode): DocumentNode | undefined {
  if (!isRecord(value) || typeof value.$ref !== 'string') return undefined;
  const reference = parseReference(source.file, value.$ref);
  return reference && findComponent(sources, reference);
}

/** Reports a `$ref` that is malformed, broken or circular, or refers to the wrong section of the components. */
export function checkReference(
  sources: ContractSources,
  place: DocumentNode,
  section: string,
  report: ReportDiagnostic,
): void {
  const ref = child(place, '$ref');
  const problem =
    typeof ref.value === 'string' ? findProblem(sources, place, section, ref.value) : 'Expected $ref to be text.';
  if (problem !== undefined) report(ref, problem);
}

function findProblem(sources: ContractSources, place: DocumentNode, section: string, text: string): string | undefined {
  const reference = parseReference(place.source.file, text);
  if (reference === undefined) return describeUnknown(sources, place, text);
  if (reference.section !== section) return `Expected $ref to refer to components/${section}; received "${text}".`;
  if (findComponent(sources, reference) === undefined) return describeMissing(sources, reference, text);
  return isCircular(sources, place) ? `The reference "${text}" is circular.` : undefined;
}

function describeUnknown(sources: ContractSources, { source: { file } }: DocumentNode, text: string): string {
  const [relative = '', fragment = ''] = text.split('#');
  const target = resolveFile(file, relative);
  if (!sources.has(target)) return describeUnlisted(sources, target, text);
  return fragment === '' || fragment.startsWith('/')
    ? `The reference "${text}" leads to nothing.`
    : `Expected $ref to contain a path, such as "#/components/schemas/Item"; received "${text}".`;
}

function describeUnlisted(sources: ContractSources, file: string, text: string): string {
  // The extension and the folder are often the same, so that every path is close to the others.
  const name = closestName(toStem(file), Array.from(sources.keys(), toStem));
  const near = [...sources.keys()].find((key) => toStem(key) === name);
  const remedy =
    near === undefined ? 'List it, or a copy, in "documents" of trellis.config.ts.' : `Did you mean "${near}"?`;
  return `Expected $ref to refer to a document of this contract; received "${text}". ${remedy}`;
}

const toStem = (file: string): string => path.basename(file, path.extname(file));

/** Returns whether a chain of references is circular. A broken chain is reported at its last reference instead. */
function isCircular(sources: ContractSources, place: DocumentNode): boolean {
  return trace(sources, place).end === 'loop';
}

function describeMissing(
  sources: ContractSources,
  { file, section, name }: ComponentReference,
  received: string,
): string {
  const root = sources.get(file);
  if (root === undefined) return describeUnlisted(sources, file, received);
  const known = entries(child(child(root, 'components'), section)).map(([key]) => key);
  return `No component "${name}" in components/${section} of ${file}.${didYouMean(name, known)}`;
}
