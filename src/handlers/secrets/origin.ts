import type { Caller } from '../../accounts/callers.js';
import type { Origin } from '../../secrets/actor.js';

interface Input {
  readonly caller: Caller | undefined;
  readonly address: string;
  /** Absent where nothing is audited. */
  readonly headers?: { readonly 'x-caller'?: string };
}

/** Where a request came from, as the audit log tells it. */
export function toOrigin({ caller, address, headers }: Input): Origin {
  return { caller, callerName: headers?.['x-caller'], ip: address, at: Date.now() };
}
