import path from 'node:path/posix';
import { child, entries, has, isRecord } from './document-node.js';
import type { DocumentNode, ReportDiagnostic } from './document-node.js';
import { didYouMean } from './did-you-mean.js';

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
  return { file: relative === '' ? file : path.join(path.dirname(file), relative), section, name };
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
    const reference = parseReference(current.source.file, current.value.$ref);
    const next = reference && findComponent(sources, reference);
    if (next === undefined) return { end: 'missing' };
    current = next;
  }
  return { end: current };
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
  if (reference === undefined) {
    return `Expected $ref in the form "#/components/${section}/Name", with an optional file first; received "${text}".`;
  }
  if (reference.section !== section) return `Expected $ref to refer to components/${section}; received "${text}".`;
  if (findComponent(sources, reference) === undefined) return describeMissing(sources, reference, text);
  return isCircular(sources, place) ? `The reference "${text}" is circular.` : undefined;
}

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
  if (root === undefined) {
    return `Expected $ref to refer to a document of this contract; received "${received}".${didYouMean(file, sources.keys())}`;
  }
  const known = entries(child(child(root, 'components'), section)).map(([key]) => key);
  return `No component "${name}" in components/${section} of ${file}.${didYouMean(name, known)}`;
}
