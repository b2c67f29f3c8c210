/** What the lists select, by list; of another release maybe, or of nobody knows whom. */
export interface KeptFilters {
  readonly pullRequests?: unknown;
  readonly issues?: unknown;
}

const KEPT_AS = 'trellis-filters';

/** What this browser keeps, and is there at once. */
export function readKept(): KeptFilters {
  try {
    return (JSON.parse(localStorage.getItem(KEPT_AS) ?? '{}') ?? {}) as KeptFilters;
  } catch {
    return {};
  }
}

export const writeKept = (filters: KeptFilters): void => localStorage.setItem(KEPT_AS, JSON.stringify(filters));

/** What another release kept may lack a member, or have one of another type. */
export function takeKnown<F extends object>(kept: unknown, none: F): F {
  const members = new Map(Object.entries(kept ?? {}));
  const known = Object.entries(none).map(([name, value]) => {
    const found: unknown = members.get(name);
    return [name, typeof found === typeof value ? found : value] as const;
  });
  return Object.fromEntries(known) as F;
}
