import type { Location } from '../contract-error.js';
import { findComponent } from './references.js';
import type { ContractSources } from './references.js';
import { child, has, locateNode } from './document-node.js';
import type { DocumentNode } from './document-node.js';

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
