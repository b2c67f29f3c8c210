import type { Caller, ConsumerTokenCaller, SessionCaller, TokenCaller } from '../accounts/callers.js';

/** Who did something, as far as a credential proves; `machine` is a command on the server's own machine. */
export interface Actor {
  readonly type: Caller['kind'] | 'machine';
  readonly id: string;
}

/** Where a request came from, as the audit log tells it. */
export interface Origin {
  readonly caller: Caller | undefined;
  /** What the client says of itself, unproven. */
  readonly callerName?: string | undefined;
  readonly ip: string;
  /** When, in milliseconds. */
  readonly at: number;
}

/** As much of a caller as tells who it is; `machine` is a command on the server's own machine. */
export type Identified =
  | 'machine'
  | Pick<ConsumerTokenCaller, 'kind' | 'tokenId'>
  | Pick<SessionCaller, 'kind'>
  | Pick<TokenCaller, 'kind' | 'tokenId'>;

/** What an entry of the audit log needs of an {@link Origin}. */
export interface AuditOrigin extends Omit<Origin, 'caller'> {
  readonly caller: Identified | undefined;
}

/** Every session is the owner's, so all have the one id by which logs have always named it. */
const SESSION_ACTOR_ID = 'admin';

export function toActor(caller: Identified): Actor {
  if (caller === 'machine') return { type: caller, id: caller };
  return { type: caller.kind, id: caller.kind === 'session' ? SESSION_ACTOR_ID : caller.tokenId };
}
