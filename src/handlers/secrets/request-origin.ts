import type { Caller } from '../../accounts/callers.js';
import type { RequestOrigin } from '../../secrets/audit/chain.js';

interface Input {
  readonly caller: Caller | undefined;
  readonly address: string;
  /** Absent for operations that are not audited. */
  readonly headers?: { readonly 'x-caller'?: string };
}

/** Returns the origin of a request, as recorded in the audit log. */
export function toRequestOrigin({ caller, address, headers }: Input): RequestOrigin {
  return { caller, callerName: headers?.['x-caller'], ip: address, at: Date.now() };
}
