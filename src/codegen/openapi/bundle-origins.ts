import type { Location } from '../contract-error.js';
import { findComponent } from './references.js';
import type { Sources } from './references.js';
import { child, has, locate } from './source.js';
import type { Place } from './source.js';

interface Documents {
  readonly sources: Sources;
  readonly root: Place;
}

/**
 * Finds the contract line behind each line of a bundled document, by the way
 * that leads to it in both.
 *
 * @param text JSON with two spaces for each level.
 */
export function createBundleOrigins(text: string, documents: Documents): (line: number) => Location | undefined {
  const lines = text.split('\n');
  return (line) => {
    const [first, section = '', name = '', ...rest] = pathAt(lines, line - 1);
    if (first === undefined) return undefined;
    const component = first === 'components' && name !== '' ? findOwner(documents, section, name) : undefined;
    const place = component ?? [first, section, name].filter((key) => key !== '').reduce(child, documents.root);
    const found = rest.reduce(child, place);
    return found.value === undefined ? undefined : locate(found, 'key');
  };
}

/** The component itself, and not one of its name that only refers to it. */
function findOwner({ sources, root }: Documents, section: string, name: string): Place | undefined {
  const files = [root.source.file, ...sources.keys()];
  const found = files.map((file) => findComponent(sources, { file, section, name }));
  return found.find((place) => place !== undefined && !has(place, '$ref'));
}

const MEMBER = /^ *("(?:[^"\\]|\\.)*"): /;
const CLOSING = /^ *[\]}]/;

/** The keys that lead to what stands on a line; a closing bracket belongs to what it closes. */
function pathAt(lines: readonly string[], at: number): string[] {
  const path: string[] = [];
  for (let index: number | undefined = at; index !== undefined; index = findAbove(lines, index, isOutside)) {
    const start: number = CLOSING.test(lines[index] ?? '') ? (findAbove(lines, index, isBeside) ?? index) : index;
    const depth = depthOf(lines[start]);
    if (depth > 0) path.unshift(keyOf(lines, start));
  }
  return path;
}

function keyOf(lines: readonly string[], at: number): string {
  const key = MEMBER.exec(lines[at] ?? '')?.[1];
  if (key !== undefined) return JSON.parse(key) as string;
  let count = 0;
  for (let index = findAbove(lines, at, isBeside); index !== undefined; index = findAbove(lines, index, isBeside)) {
    count += 1;
  }
  return String(count);
}

type IsMeant = (depth: number, own: number, line: string) => boolean;

const isOutside: IsMeant = (depth, own) => depth < own;

/** The beginning of another part of the same list or object. */
const isBeside: IsMeant = (depth, own, line) => depth === own && !CLOSING.test(line);

/** The nearest line above that is meant, unless the object or list around ends before. */
function findAbove(lines: readonly string[], at: number, isMeant: IsMeant): number | undefined {
  const own = depthOf(lines[at]);
  for (let index = at - 1; index >= 0; index -= 1) {
    const depth = depthOf(lines[index]);
    if (isMeant(depth, own, lines[index] ?? '')) return index;
    if (depth < own) return undefined;
  }
  return undefined;
}

const depthOf = (line = ''): number => line.length - line.trimStart().length;
