import { join } from 'node:path';
import type { DatabasePlace } from './database.js';

export interface PlaceSettings {
  readonly databaseUrl: string | undefined;
  /** The state folder. */
  readonly state: string;
}

/** Where the settings say that the precious data is: PostgreSQL, or a file of the state folder. */
export function placeOf({ databaseUrl, state }: PlaceSettings): DatabasePlace {
  return databaseUrl === undefined ? { file: join(state, 'trellis.db') } : { url: databaseUrl };
}
