import type { Document, Node } from 'yaml';
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Location, Mistake } from '../contract-error.js';

/** One YAML document of a contract. */
interface Source {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/** A value inside a document, and the way that leads to it. */
export interface Place {
  readonly source: Source;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Which part of a mapping's entry a message is about. */
export type Part = 'key' | 'value';

/** Notes a mistake; the message says what was expected and what came. */
export type Report = (place: Place, message: string, part?: Part) => void;

/** Reads a document; its syntax errors, duplicate keys among them, go to `mistakes`. */
export function parseSource(file: string, text: string, mistakes: Mistake[]): Place {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  for (const { message, pos } of document.errors) {
    mistakes.push({ ...toLocation(file, lines, pos[0]), message: toSentence(message) });
  }
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS();
  return { source: { file, document, lines }, path: [], value };
}

export function child(place: Place, key: number | string): Place {
  const parent = place.value as Readonly<Record<string, unknown>> | null | undefined;
  const value = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key) ? parent[key] : undefined;
  return { source: place.source, path: [...place.path, String(key)], value };
}

/** The entries of a mapping; none when the place holds something else. */
export function entries(place: Place): [key: string, value: Place][] {
  return isRecord(place.value) ? Object.keys(place.value).map((key) => [key, child(place, key)]) : [];
}

/** The items of a list; none when the place holds something else. */
export function items(place: Place): Place[] {
  return Array.isArray(place.value) ? place.value.map((_, index) => child(place, index)) : [];
}

export function has(place: Place, key: string): boolean {
  return isRecord(place.value) && Object.hasOwn(place.value, key);
}

/** The field of a place, when it holds text. */
export function findText(place: Place, key: string): string | undefined {
  const { value } = child(place, key);
  return typeof value === 'string' ? value : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where a place stands in its file; the nearest place around it when it does not exist. */
export function locate({ source, path }: Place, part: Part = 'value'): Location {
  let node: Node | null = source.document.contents;
  let found = node;
  for (const [index, key] of path.entries()) {
    const step = findChild(source.document, node, key);
    const isLast = index === path.length - 1;
    // An empty value has no characters of its own, its key has.
    const next: Node | undefined = (isLast && part === 'key') || isEmpty(step?.value) ? step?.key : step?.value;
    if (next === undefined) break;
    found = next;
    node = step?.value ?? next;
  }
  return toLocation(source.file, source.lines, found?.range?.[0] ?? 0);
}

interface Step {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}

function findChild(document: Document, node: Node | null, key: string): Step | undefined {
  const target = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(target)) {
    const item = target.items[Number(key)];
    return isNode(item) ? { key: item, value: item } : undefined;
  }
  if (!isMap(target)) return undefined;
  const pair = target.items.find((entry) => isScalar(entry.key) && String(entry.key.value) === key);
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
