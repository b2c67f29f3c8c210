import { isIP } from 'node:net';

export interface HostRules {
  /** Whether no other machine reaches the server. */
  readonly isLoopback: boolean;
  /** The origin that people use; `undefined` where none is configured. */
  readonly publicUrl: string | undefined;
  /** Further host names, in lower case. */
  readonly allowedHosts: readonly string[];
}

/** Decides whether a request for a URL may use a host name, given in lower case without its port. */
export type HostCheck = (name: string, url: string) => boolean;

/** Names that always mean this machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Load balancers probe these by any name, and the responses hold no data. */
const PROBES = ['/healthz', '/readyz'];

/**
 * Creates the check against DNS rebinding: a web page whose own name resolves to this server would be of the same
 * origin, and could read all that the server shows to anyone who reaches it.
 *
 * On a network, IP addresses and names without a dot are accepted too: no page on the internet has such an origin, and
 * proxies, containers and probes use them. A server without a configured name on a network accepts every name.
 */
export function createHostCheck({ isLoopback, publicUrl, allowedHosts }: HostRules): HostCheck {
  if (!isLoopback && publicUrl === undefined && allowedHosts.length === 0) return () => true;
  const names = new Set(allowedHosts);
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname);
  const isInternal = (name: string): boolean => !isLoopback && (isIP(unbracket(name)) !== 0 || !name.includes('.'));
  return (name, url) => names.has(name) || LOOPBACK.test(name) || isInternal(name) || PROBES.includes(url);
}

const unbracket = (name: string): string => name.replace(/^\[(.*)\]$/, '$1');
