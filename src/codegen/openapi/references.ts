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
  const seen = new Set<unknown>();
  let current: Place | undefined = place;
  while (current !== undefined && isRecord(current.value) && typeof current.value.$ref === 'string') {
    // References that lead back to themselves end nowhere.
    if (seen.has(current.value)) return undefined;
    seen.add(current.value);
    const reference = parseReference(current.source.file, current.value.$ref);
    current = reference && findComponent(sources, reference);
  }
  return current;
}

/** Reports a `$ref` that leads nowhere, or to a component of another sort than its place asks for. */
export function checkReference(sources: Sources, place: Place, section: string, report: Report): void {
  const ref = child(place, '$ref');
  if (typeof ref.value !== 'string') return report(ref, 'Expected $ref to be text.');
  const reference = parseReference(place.source.file, ref.value);
  if (reference === undefined) {
    const example = `#/components/${section}/Name`;
    return report(ref, `Expected $ref as "${example}", with a file before the # or without; received "${ref.value}".`);
  }
  if (reference.section !== section) {
    return report(ref, `Expected $ref to lead to components/${section}; received "${ref.value}".`);
  }
  if (findComponent(sources, reference) === undefined) report(ref, describeMissing(sources, reference, ref.value));
  else if (follow(sources, place) === undefined && !leadsToMissing(sources, place)) {
    report(ref, `Expected $ref to lead to something; "${ref.value}" leads back to itself.`);
  }
}

/** Whether a later link of the chain is missing, which is reported where that link stands. */
function leadsToMissing(sources: Sources, place: Place): boolean {
  const seen = new Set<unknown>();
  let current: Place = place;
  while (isRecord(current.value) && typeof current.value.$ref === 'string' && !seen.has(current.value)) {
    seen.add(current.value);
    const reference = parseReference(current.source.file, current.value.$ref);
    const next = reference && findComponent(sources, reference);
    if (next === undefined) return true;
    current = next;
  }
  return false;
}

function describeMissing(sources: Sources, { file, section, name }: Reference, received: string): string {
  const root = sources.get(file);
  if (root === undefined) {
    return `Expected $ref to lead to a document of this contract; received "${received}".${suggest(file, sources.keys())}`;
  }
  const known = entries(child(child(root, 'components'), section)).map(([key]) => key);
  return `Expected "${name}" in components/${section} of ${file}; there is none.${suggest(name, known)}`;
}
