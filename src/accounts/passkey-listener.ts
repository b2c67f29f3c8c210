import type { Database } from '../storage/database.js';
import type { AccountActor } from './events.js';

export interface PasskeyChange {
  readonly action: 'create' | 'delete' | 'rename';
  readonly passkeyId: string;
  readonly personId: string;
  readonly actor: AccountActor;
  /** The address of the client. */
  readonly from: string;
  readonly at: number;
}

/**
 * Called when a passkey is created, deleted or renamed, in the transaction of that change. Throwing rolls the change
 * back. On PostgreSQL it may be called several times for one change, see `inTransaction`.
 */
export type PasskeyListener = (transaction: Database, change: PasskeyChange) => Promise<void>;
