import type { EnvFile } from '../../../sealing/env-file.js';
import { findSlugProblem, SEALED_PREFIX, toKebab } from '../../../sealing/env-names.js';
import type { ObjectMetadata } from './metadata.js';

/** Whether names such as `DB_PASSWORD` stay as they are or become `db-password`. */
export type Naming = 'as-is' | 'kebab';

/**
 * The state of a variable before the import: `exists` when a secret has its name and its value is not known, `changed`
 * and `unchanged` after the values were compared.
 */
type EntryState = 'changed' | 'exists' | 'invalid' | 'new' | 'unchanged';

/** A variable of the file, with the secret that it becomes or replaces. */
export interface PlannedEntry {
  readonly variable: string;
  readonly slug: string;
  readonly value: string;
  readonly state: EntryState;
  /** Why the variable can't be imported. */
  readonly problem?: string;
  /** The secret that is replaced. */
  readonly object?: ObjectMetadata;
}

/** More variables would make the preview hard to check. */
export const MAX_VARIABLES = 500;

interface PlanOptions {
  readonly naming: Naming;
  /** The consumers of the new secrets. */
  readonly usedBy: readonly string[];
  readonly objects: readonly ObjectMetadata[];
}

/** Compares the variables of a file with the existing secrets, as `trellis secrets import` does. Sends nothing. */
export function planImport({ entries }: EnvFile, { naming, usedBy, objects }: PlanOptions): readonly PlannedEntry[] {
  const taken = new Map<string, string>();
  return entries.map(([variable, value]) => {
    const slug = naming === 'kebab' ? toKebab(variable) : variable;
    const before = taken.get(slug);
    taken.set(slug, variable);
    const known = { variable, slug, value };
    const problem = before === undefined ? findProblem(slug, value) : `${before} has the same name`;
    if (problem !== undefined) return { ...known, state: 'invalid', problem };
    const same = findReplaced(slug, usedBy, objects);
    if (same.length > 1) return { ...known, state: 'invalid', problem: 'several variants share this name' };
    const [object] = same;
    return object === undefined ? { ...known, state: 'new' } : { ...known, state: 'exists', object };
  });
}

function findProblem(slug: string, value: string): string | undefined {
  const problem = findSlugProblem(slug);
  if (problem !== undefined) return problem;
  if (value === '') return 'the value is empty';
  return value.startsWith(SEALED_PREFIX) ? 'encrypted already; use “trellis secrets import”' : undefined;
}

/** An existing name with other consumers gets a new variant; with the same consumers it is the same secret. */
function findReplaced(
  slug: string,
  usedBy: readonly string[],
  objects: readonly ObjectMetadata[],
): readonly ObjectMetadata[] {
  return objects.filter(
    ({ slug: name, used_by: consumers = [] }) =>
      name === slug &&
      (usedBy.length === 0 || consumers.length === 0 || consumers.some((each) => usedBy.includes(each))),
  );
}

const STATES = ['new', 'changed', 'exists', 'unchanged', 'invalid'] as const;

/** Returns the counts of a plan in words, such as "3 new, 1 invalid". */
export function describePlan(plan: readonly PlannedEntry[]): string {
  const counted = STATES.map((state) => [state, plan.filter((entry) => entry.state === state).length] as const);
  const words = counted.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${STATE_NAMES[state]}`);
  return words.length === 0 ? 'No variables yet.' : words.join(', ');
}

export const STATE_NAMES: Readonly<Record<EntryState, string>> = {
  new: 'new',
  changed: 'changed',
  exists: 'existing',
  unchanged: 'unchanged',
  invalid: 'invalid',
};
