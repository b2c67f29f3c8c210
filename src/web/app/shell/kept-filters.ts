/** The stored filters of both lists. They may come from another release, so their types are unknown. */
export interface KeptFilters {
  readonly pullRequests?: unknown;
  readonly issues?: unknown;
}

const STORAGE_KEY = 'trellis-filters';

/** Reads the filters that this browser stores. */
export function readKept(): KeptFilters {
  try {
    return (JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as KeptFilters;
  } catch {
    return {};
  }
}

export const writeKept = (filters: KeptFilters): void => localStorage.setItem(STORAGE_KEY, JSON.stringify(filters));

/** Returns `defaults` with the members of a stored filter that have the expected type. */
export function takeKnown<F extends object>(stored: unknown, defaults: F): F {
  const members = new Map(Object.entries(stored ?? {}));
  const known = Object.entries(defaults).map(([name, value]) => {
    const found: unknown = members.get(name);
    return [name, typeof found === typeof value ? found : value] as const;
  });
  return Object.fromEntries(known) as F;
}
