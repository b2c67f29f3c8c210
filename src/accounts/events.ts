import { randomUUID } from 'node:crypto';
import type { Database } from '../storage/database.js';
import { prepareInsert } from '../storage/prepared.js';
import type { ConsumerTokenCaller, SessionCaller, TokenCaller } from './callers.js';

/** What is kept of accounts: who did what, when, and from where. */
export type AccountAction =
  | 'account_created'
  | 'account_recovered'
  | 'account_removed'
  | 'account_revoked'
  | 'invitation_created'
  | 'invitation_revoked'
  | 'passkey_added'
  | 'passkey_removed'
  | 'passkey_renamed'
  | 'signed_in'
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'token_created'
  | 'token_revoked';

/** Whose act it was; `machine` stands for a command on the server's own machine. */
export type Actor =
  | 'machine'
  | Pick<ConsumerTokenCaller, 'kind' | 'tokenId'>
  | Pick<SessionCaller, 'kind' | 'personId'>
  | Pick<TokenCaller, 'kind' | 'tokenId'>;

/** Where commands on the server's own machine come from. */
export const THIS_MACHINE = 'this machine';

export interface AccountEvent {
  readonly action: AccountAction;
  readonly actor: Actor;
  /** Whose account it is about. */
  readonly personId?: string;
  /** The id of the token, passkey or invitation, or a name. Never a secret. */
  readonly subject?: string;
  /** The peer's address. */
  readonly from: string;
  readonly at: number;
}

const insertEvent = prepareInsert('account_events');

/** Writes an event in the caller's transaction, so that it is there exactly when the change is. */
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

/** A session is named by its person: its own id stands for the cookie. */
function toColumns(actor: Actor): { readonly actor_type: string; readonly actor_id: string | null } {
  if (actor === 'machine') return { actor_type: actor, actor_id: null };
  return { actor_type: actor.kind, actor_id: actor.kind === 'session' ? actor.personId : actor.tokenId };
}
