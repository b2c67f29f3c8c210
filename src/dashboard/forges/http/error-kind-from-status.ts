import type { ForgeErrorKind } from '../forge-error.js';

const KIND_BY_STATUS: Readonly<Record<number, ForgeErrorKind>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not_found',
  405: 'conflict',
  406: 'conflict',
  409: 'conflict',
  410: 'not_found',
  422: 'conflict',
  429: 'rate_limited',
};

/** Returns the kind of error for a status, unless the forge reports a more exact one. 5xx may come from a gateway. */
export function errorKindFromStatus(status: number): ForgeErrorKind {
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'unreachable' : 'unknown');
}
