import { isIP } from 'node:net';

export interface HostRules {
  /** Whether the server can be reached from this machine only. */
  readonly isLoopback: boolean;
  /** The public origin; `undefined` if none is configured. */
  readonly publicUrl: string | undefined;
  /** Further host names, in lower case. */
  readonly allowedHosts: readonly string[];
}

/** Returns whether a request for a URL may use a host name, which is given in lower case and without a port. */
export type HostCheck = (name: string, url: string) => boolean;

/** Names that always refer to this machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Load balancers use arbitrary host names for these paths, and the responses contain no data. */
const PROBES = ['/healthz', '/readyz'];

/**
 * Creates the check against DNS rebinding. A web page whose host name resolves to this server would have the same
 * origin as the server, and could read everything that the server shows without a credential.
 *
 * On a network, IP addresses and names without a dot are accepted too: no page on the internet has such an origin, and
 * proxies, containers and probes use them. A server on a network without a configured name accepts every name.
 */
export function createHostCheck({ isLoopback, publicUrl, allowedHosts }: HostRules): HostCheck {
  if (!isLoopback && publicUrl === undefined && allowedHosts.length === 0) return () => true;
  const names = new Set(allowedHosts);
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname);
  const isInternal = (name: string): boolean => !isLoopback && (isIP(unbracket(name)) !== 0 || !name.includes('.'));
  return (name, url) => names.has(name) || LOOPBACK.test(name) || isInternal(name) || PROBES.includes(url);
}

const unbracket = (name: string): string => name.replace(/^\[(.*)\]$/, '$1');
