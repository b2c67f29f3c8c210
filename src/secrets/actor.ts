import type { Caller, ConsumerTokenCaller, SessionCaller, TokenCaller } from '../accounts/callers.js';

/** The author of a change or read, as proven by a credential; `machine` is a command on the server's machine. */
export interface Actor {
  readonly type: Caller['kind'] | 'machine';
  readonly id: string;
}

/** The origin of a request, as recorded in the audit log. */
export interface RequestOrigin {
  readonly caller: Caller | undefined;
  /** The name that the client gave itself; not verified. */
  readonly callerName?: string | undefined;
  readonly ip: string;
  /** The time of the request, in milliseconds since the epoch. */
  readonly at: number;
}

/** The part of a caller that identifies it; `machine` is a command on the server's machine. */
export type CallerIdentity =
  | 'machine'
  | Pick<ConsumerTokenCaller, 'kind' | 'tokenId'>
  | Pick<SessionCaller, 'kind'>
  | Pick<TokenCaller, 'kind' | 'tokenId'>;

/** The part of an {@link RequestOrigin} that an audit entry records. */
export interface AuditOrigin extends Omit<RequestOrigin, 'caller'> {
  readonly caller: CallerIdentity | undefined;
}

/** All sessions are the owner's and share one id; existing audit logs contain it. */
const SESSION_ACTOR_ID = 'admin';

export function toActor(caller: CallerIdentity): Actor {
  if (caller === 'machine') return { type: caller, id: caller };
  return { type: caller.kind, id: caller.kind === 'session' ? SESSION_ACTOR_ID : caller.tokenId };
}
