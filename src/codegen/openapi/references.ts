import path from 'node:path/posix';
import { child, entries, has, isRecord } from './source.js';
import type { Place, Report } from './source.js';
import { suggest } from './suggest.js';

/** The documents of a contract by file. */
export type Sources = ReadonlyMap<string, Place>;

/** Where a `$ref` points: `common.yaml#/components/schemas/Error`. */
export interface Reference {
  readonly file: string;
  readonly section: string;
  readonly name: string;
}

/** Reads a `$ref`, relative to the file that it stands in; `undefined` for any other form than ours. */
export function parseReference(file: string, text: string): Reference | undefined {
  const [, relative, section, name] = /^([^#]*)#\/components\/([A-Za-z]+)\/([A-Za-z0-9._-]+)$/.exec(text) ?? [];
  if (relative === undefined || section === undefined || name === undefined) return undefined;
  return { file: relative === '' ? file : path.join(path.dirname(file), relative), section, name };
}

/** The component that a reference names, if there is one. */
export function findComponent(sources: Sources, { file, section, name }: Reference): Place | undefined {
  const root = sources.get(file);
  if (root === undefined) return undefined;
  const components = child(child(root, 'components'), section);
  return has(components, name) ? child(components, name) : undefined;
}

/** The place itself, or what its `$ref` leads to in the end; `undefined` when that is nowhere. */
export function follow(sources: Sources, place: Place): Place | undefined {
  const { end } = trace(sources, place);
  return typeof end === 'object' ? end : undefined;
}

function trace(sources: Sources, place: Place): { readonly end: Place | 'loop' | 'missing' } {
  const seen = new Set<unknown>();
  let current = place;
  while (isRecord(current.value) && typeof current.value.$ref === 'string') {
    if (seen.has(current.value)) return { end: 'loop' };
    seen.add(current.value);
    const reference = parseReference(current.source.file, current.value.$ref);
    const next = reference && findComponent(sources, reference);
    if (next === undefined) return { end: 'missing' };
    current = next;
  }
  return { end: current };
}

/** Reports a `$ref` that leads nowhere, or to a component of another sort than its place asks for. */
export function checkReference(sources: Sources, place: Place, section: string, report: Report): void {
  const ref = child(place, '$ref');
  const problem =
    typeof ref.value === 'string' ? findProblem(sources, place, section, ref.value) : 'Expected $ref to be text.';
  if (problem !== undefined) report(ref, problem);
}

function findProblem(sources: Sources, place: Place, section: string, text: string): string | undefined {
  const reference = parseReference(place.source.file, text);
  if (reference === undefined) {
    return `Expected $ref as "#/components/${section}/Name", with a file before the # or without; received "${text}".`;
  }
  if (reference.section !== section) return `Expected $ref to lead to components/${section}; received "${text}".`;
  if (findComponent(sources, reference) === undefined) return describeMissing(sources, reference, text);
  return leadsBack(sources, place) ? `Expected $ref to lead to something; "${text}" leads back to itself.` : undefined;
}

/** Whether a chain of references never ends; one that breaks off is reported where its last link stands. */
function leadsBack(sources: Sources, place: Place): boolean {
  return trace(sources, place).end === 'loop';
}

function describeMissing(sources: Sources, { file, section, name }: Reference, received: string): string {
  const root = sources.get(file);
  if (root === undefined) {
    return `Expected $ref to lead to a document of this contract; received "${received}".${suggest(file, sources.keys())}`;
  }
  const known = entries(child(child(root, 'components'), section)).map(([key]) => key);
  return `Expected "${name}" in components/${section} of ${file}; there is none.${suggest(name, known)}`;
}
