import type { Caller } from '../accounts/callers.js';

/** Who did something, as far as a credential proves. */
export interface Actor {
  readonly type: Caller['kind'];
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

/** Every session is the owner's, so all have the one id by which logs have always named it. */
const SESSION_ACTOR_ID = 'admin';

export function toActor(caller: Caller): Actor {
  return { type: caller.kind, id: caller.kind === 'session' ? SESSION_ACTOR_ID : caller.tokenId };
}
