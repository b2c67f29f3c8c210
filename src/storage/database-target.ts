import { join } from 'node:path';
import type { DatabaseTarget } from './database.js';

export interface DatabaseTargetConfig {
  readonly databaseUrl: string | undefined;
  /** The state folder. */
  readonly state: string;
}

/** Returns the configured database of the user data: PostgreSQL, or a file in the state folder. */
export function toDatabaseTarget({ databaseUrl, state }: DatabaseTargetConfig): DatabaseTarget {
  return databaseUrl === undefined ? { file: join(state, 'trellis.db') } : { url: databaseUrl };
}
