import { randomUUID } from 'node:crypto';
import type { Database } from '../storage/database.js';
import { prepareInsert } from '../storage/prepared.js';
import type { ConsumerTokenCaller, SessionCaller, TokenCaller } from './callers.js';

/** The actions that the log of account events records. */
type AccountAction =
  | 'account_created'
  | 'account_recovered'
  | 'account_removed'
  | 'account_revoked'
  | 'invitation_created'
  | 'invitation_revoked'
  | 'other_sessions_ended'
  | 'passkey_added'
  | 'passkey_removed'
  | 'passkey_renamed'
  | 'session_ended'
  | 'signed_in'
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'token_created'
  | 'token_revoked';

/** The actor of an event; `machine` is a command on the server's machine. */
export type AccountActor =
  | 'machine'
  | Pick<ConsumerTokenCaller, 'kind' | 'tokenId'>
  | Pick<SessionCaller, 'kind' | 'personId'>
  | Pick<TokenCaller, 'kind' | 'tokenId'>;

/** The address recorded for commands on the server's machine. */
export const COMMAND_LINE_ACTOR = 'this machine';

interface AccountEvent {
  readonly action: AccountAction;
  readonly actor: AccountActor;
  /** The user whose account is affected. */
  readonly personId?: string;
  /** The id of the token, passkey or invitation, or a name. Never a secret. */
  readonly subject?: string;
  /** The address of the client. */
  readonly from: string;
  readonly at: number;
}

const insertEvent = prepareInsert('account_events');

/** Records an event in the transaction of the change that it describes. */
export async function recordEvent(transaction: Database, event: AccountEvent): Promise<void> {
  const { action, actor, personId, subject, from: address, at } = event;
  const row = {
    id: randomUUID(),
    at,
    action,
    person_id: personId ?? null,
    ...toColumns(actor),
    subject: subject ?? null,
    address,
  };
  await insertEvent(transaction, row);
}

/** A session is recorded by its user, because its id is derived from the cookie. */
function toColumns(actor: AccountActor): { readonly actor_type: string; readonly actor_id: string | null } {
  if (actor === 'machine') return { actor_type: actor, actor_id: null };
  return { actor_type: actor.kind, actor_id: actor.kind === 'session' ? actor.personId : actor.tokenId };
}

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
