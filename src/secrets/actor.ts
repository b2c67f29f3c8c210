import type { Caller } from '../accounts/callers.js';

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

/** A command on the server's own machine, which needs no credential. */
export interface MachineOrigin extends Omit<Origin, 'caller'> {
  readonly caller: 'machine';
}

/** Every session is the owner's, so all have the one id by which logs have always named it. */
const SESSION_ACTOR_ID = 'admin';

export function toActor(caller: Caller | 'machine'): Actor {
  if (caller === 'machine') return { type: caller, id: caller };
  return { type: caller.kind, id: caller.kind === 'session' ? SESSION_ACTOR_ID : caller.tokenId };
}
