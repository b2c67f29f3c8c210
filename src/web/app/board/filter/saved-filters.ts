import { user } from '../../session.js';

/** The stored filters of both lists. They may come from another release, so their types are unknown. */
export interface SavedFilters {
  readonly pullRequests?: unknown;
  readonly issues?: unknown;
}

interface StoredFilters extends SavedFilters {
  /** The user who selected the filters; other users of this browser do not get them. */
  readonly username?: string;
}

const STORAGE_KEY = 'trellis-filters';

/** Reads the filters of the signed-in user that this browser stores. */
export function readSavedFilters(): SavedFilters {
  try {
    const found = (JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as StoredFilters;
    return found.username === user.peek()?.username ? found : {};
  } catch {
    return {};
  }
}

export function writeSavedFilters({ pullRequests, issues }: SavedFilters): void {
  const stored: StoredFilters = { username: user.peek()?.username, pullRequests, issues };
  localStorage.setItem(STORAGE_KEY, JSON.stringify(stored));
}
