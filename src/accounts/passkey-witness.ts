import type { Database } from '../storage/database.js';
import type { Actor } from './events.js';

export interface PasskeyChange {
  readonly action: 'create' | 'delete' | 'rename';
  readonly passkeyId: string;
  readonly personId: string;
  readonly actor: Actor;
  /** The peer's address. */
  readonly from: string;
  readonly at: number;
}

/**
 * Is told of every passkey that comes, goes or is renamed, in the transaction
 * that does so: what it throws undoes the change. On PostgreSQL it may be told
 * more than once, see `inTransaction`.
 */
export type PasskeyWitness = (transaction: Database, change: PasskeyChange) => Promise<void>;
