import type { ForgeErrorKind } from '../forge-error.js';

const OF_STATUS: Readonly<Record<number, ForgeErrorKind>> = {
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

/** What kind of error a status is, where a forge says nothing better. Behind a gateway, 5xx is nobody's answer. */
export function kindOfStatus(status: number): ForgeErrorKind {
  return OF_STATUS[status] ?? (status >= 500 ? 'unreachable' : 'unknown');
}
