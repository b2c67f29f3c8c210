/** Passes the denied requests of the secrets service to its audit log. */
import type { McpOptions } from '@trellis/server/mcp/endpoint';
import type { contractRouter } from '@trellis/server/rest/router';
import type { Caller } from '../../accounts/callers.js';
import type { DenialLog } from '../../secrets/audit/denials.js';

type OnRejected = NonNullable<Parameters<typeof contractRouter>[0]['onRejected']>;

type OnRejectedCall = NonNullable<McpOptions['onRejected']>;

/** Returns a listener that records the denied requests of the service. */
export function toDeniedRequest(denials: DenialLog): OnRejected {
  return ({ operation, params, headers, address, caller, error }) => {
    // Denied exchanges are recorded with the claims of their token.
    if (operation === 'exchangeToken') return;
    const { authorization, cookie, 'x-caller': callerName } = headers;
    denials.record({
      ...{ operation, address, error, slug: params.slug },
      // The authenticator of this service creates only these callers.
      caller: caller as Caller | undefined,
      hasCredential: authorization !== undefined || cookie !== undefined,
      ...(typeof callerName === 'string' && { callerName: callerName.slice(0, MAX_CALLER_LENGTH) }),
    });
  };
}

/** The limit of the contract. */
const MAX_CALLER_LENGTH = 128;

/** Returns a listener that records the denied calls of tools. */
export function toDeniedCall(denials: DenialLog): OnRejectedCall {
  return ({ operation, input, sender: { caller, address }, error }) => {
    const { slug } = Object(input) as { readonly slug?: unknown };
    const request = { operation, caller: caller as Caller | undefined, address, error, hasCredential: true };
    denials.record({ ...request, ...(typeof slug === 'string' && { slug }) });
  };
}
