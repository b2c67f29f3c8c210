import type { Document, Node } from 'yaml';
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Location, Diagnostic } from '../contract-error.js';

/** One YAML document of a contract. */
interface Source {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/** A value in a document, with its path of keys from the root. */
export interface DocumentNode {
  readonly source: Source;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The part of a mapping entry that an error refers to. */
export type NodePart = 'key' | 'value';

/** Records an error at a place. The default part is the value. */
export type ReportDiagnostic = (place: DocumentNode, message: string, part?: NodePart) => void;

/** Parses a YAML document. Appends syntax errors, including duplicate keys, to `diagnostics`. */
export function parseSource(file: string, text: string, diagnostics: Diagnostic[]): DocumentNode {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  for (const { message, pos } of document.errors) {
    diagnostics.push({ ...toLocation(file, lines, pos[0]), message: toSentence(message) });
  }
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS();
  return { source: { file, document, lines }, path: [], value };
}

export function child(place: DocumentNode, key: number | string): DocumentNode {
  const parent = place.value as Readonly<Record<string, unknown>> | null | undefined;
  const value = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key) ? parent[key] : undefined;
  return { source: place.source, path: [...place.path, String(key)], value };
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
export function locateNode({ source, path }: DocumentNode, part: NodePart = 'value'): Location {
  let node: Node | null = source.document.contents;
  let found = node;
  for (const [index, key] of path.entries()) {
    const entry = findChild(source.document, node, key);
    const isLast = index === path.length - 1;
    // An empty value has no characters to point at, so its key is used.
    const next: Node | undefined = (isLast && part === 'key') || isEmpty(entry?.value) ? entry?.key : entry?.value;
    if (next === undefined) break;
    found = next;
    node = entry?.value ?? next;
  }
  return toLocation(source.file, source.lines, found?.range?.[0] ?? 0);
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
