/** The stored filters of both lists. They may come from another release, so their types are unknown. */
export interface SavedFilters {
  readonly pullRequests?: unknown;
  readonly issues?: unknown;
}

const STORAGE_KEY = 'trellis-filters';

/** Reads the filters that this browser stores. */
export function readSavedFilters(): SavedFilters {
  try {
    return (JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as SavedFilters;
  } catch {
    return {};
  }
}

export const writeSavedFilters = (filters: SavedFilters): void =>
  localStorage.setItem(STORAGE_KEY, JSON.stringify(filters));

/** Returns `defaults` with the members of a stored filter that have the expected type. */
export function pickKnownFilters<F extends object>(stored: unknown, defaults: F): F {
  const members = new Map(Object.entries(stored ?? {}));
  const known = Object.entries(defaults).map(([name, value]) => {
    const found: unknown = members.get(name);
    return [name, typeof found === typeof value ? found : value] as const;
  });
  return Object.fromEntries(known) as F;
}
