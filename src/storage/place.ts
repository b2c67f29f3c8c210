import { join } from 'node:path';
import type { DatabasePlace } from './database.js';

export interface PlaceSettings {
  readonly databaseUrl: string | undefined;
  /** The state folder. */
  readonly state: string;
}

/** Returns the configured database of the user data: PostgreSQL, or a file in the state folder. */
export function placeOf({ databaseUrl, state }: PlaceSettings): DatabasePlace {
  return databaseUrl === undefined ? { file: join(state, 'trellis.db') } : { url: databaseUrl };
}
