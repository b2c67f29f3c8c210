import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { type LookupFunction, BlockList, isIP, isIPv4 } from 'node:net';
import type { Agent, fetch, RequestInit, Response } from 'undici';
import { ForgeError } from '../forge-error.js';

/** The largest responses, of 20 repositories with 50 pull requests each, have about 3 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const TIMEOUT_MS = 30_000;

export interface ForgeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The origin that sent it, if a redirect led to one that does not receive the credential. */
  readonly redirectedTo?: string;
}

/**
 * Opens its agent at the first request, and returns it with the function that sends requests by it. The package takes long
 * to load, and servers without boards do not need it. Importing it again for each request would take as long as a request
 * to a close server.
 */
export type ForgeAgent = () => Promise<{ readonly dispatcher: Agent; readonly fetch: typeof fetch }>;

interface FetchOptions extends Omit<RequestInit, 'dispatcher'> {
  /** Makes the connections, including those for redirects. */
  readonly agent: ForgeAgent;
  readonly timeoutMs?: number;
}

/**
 * Creates an agent that checks the policy before every connection, including those for redirects. It connects to the
 * addresses that the policy has checked, as a second resolution could return different ones (DNS rebinding).
 */
export function createAgent(policy: AddressPolicy): ForgeAgent {
  let agent: ReturnType<ForgeAgent> | undefined;
  return () => (agent ??= openAgent(policy));
}

async function openAgent(policy: AddressPolicy): ReturnType<ForgeAgent> {
  const { Agent, buildConnector, fetch } = await import('undici');
  const dispatcher = new Agent({
    connect: (target, callback) => {
      policy.resolve(target).then(
        (addresses) => {
          const lookup: LookupFunction = (_hostname, { all }, found) => {
            const [first] = addresses;
            if (all === true) found(null, [...addresses]);
            else found(null, first?.address ?? '', first?.family);
          };
          buildConnector({ lookup })(target, callback);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
  return { dispatcher, fetch };
}

/**
 * Sends one request and reads the whole response, whatever its status.
 *
 * @throws ForgeError `address_refused` when the policy refuses an address, before any connection to it; `unreachable`
 * when the request fails, takes longer than the timeout (30 seconds by default) or its response exceeds 16 MiB.
 */
export async function fetchResponse(
  url: string,
  { timeoutMs = TIMEOUT_MS, agent, ...init }: FetchOptions,
): Promise<ForgeResponse> {
  const { dispatcher, fetch } = await agent();
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, dispatcher, signal });
    const { origin } = new URL(response.url);
    return {
      status: response.status,
      headers: new Headers([...response.headers]),
      text: await readText(response),
      ...(origin !== new URL(url).origin && { redirectedTo: origin }),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.cause : undefined;
    if (reason instanceof AddressRefusedError) throw new ForgeError('address_refused', { cause });
    throw new ForgeError('unreachable', { cause, timedOut: signal.aborted });
  }
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let length = 0;
  let text = '';
  for await (const chunk of body) {
    const bytes = chunk as Uint8Array;
    length += bytes.byteLength;
    if (length > MAX_BODY_BYTES) throw new Error(`The response exceeds ${MAX_BODY_BYTES} bytes.`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Parses JSON. @throws ForgeError `unknown` for anything else, such as the error page of a proxy. */
export function parseForgeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ForgeError('unknown', { cause });
  }
}

/** The target of a connection as parts of a URL. The port is empty for the protocol's default port. */
type Destination = Readonly<Pick<URL, 'hostname' | 'port' | 'protocol'>>;

/** Decides which addresses the server may connect to on behalf of its users. */
export interface AddressPolicy {
  /**
   * Resolves a host to the addresses that a connection may use.
   *
   * @throws AddressRefusedError when any address of the host is refused, or the error of the resolver.
   */
  resolve(destination: Destination): Promise<readonly LookupAddress[]>;
}

export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

interface AddressPolicyOptions {
  /**
   * CIDR ranges, IP addresses and host names that are always allowed. Hosts and addresses may have a port: `host:3000`.
   */
  readonly allow?: readonly string[];
  /** Returns all addresses of a host name. Defaults to the system's resolver. */
  readonly resolveHost?: (hostname: string) => Promise<readonly LookupAddress[]>;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Creates a policy that allows public addresses and the addresses in `allow`.
 *
 * A host with several addresses is refused if one of them is: such a resolution is a mistake or an attack, and which
 * address a connection would use is undefined.
 */
export function createAddressPolicy({
  allow = [],
  resolveHost = (hostname) => lookup(hostname, { all: true }),
}: AddressPolicyOptions = {}): AddressPolicy {
  const { hosts, addresses } = parseAllowed(allow);
  const isAllowed = (address: string): boolean => isPublic(address) || matches(addresses, address);
  return {
    async resolve({ hostname, port, protocol }) {
      const host = toPlainHost(hostname);
      const family = isIP(host);
      const found = family === 0 ? await resolveHost(host) : [{ address: host, family }];
      if (hosts.has(host) || hosts.has(`${host}:${port || DEFAULT_PORTS[protocol]}`)) return found;
      if (found.length > 0 && found.every(({ address }) => isAllowed(address))) return found;
      throw new AddressRefusedError(`${hostname} is in a private or reserved range.`);
    },
  };
}

interface Allowed {
  /** Host names, and hosts or addresses with a port. */
  readonly hosts: ReadonlySet<string>;
  readonly addresses: BlockList;
}

function parseAllowed(rules: readonly string[]): Allowed {
  const hosts = new Set<string>();
  const addresses = new BlockList();
  for (const rule of rules) {
    const [address = '', prefix] = rule.split('/');
    if (prefix !== undefined) addresses.addSubnet(address, Number(prefix), familyOf(address));
    else if (isIP(address) !== 0) addresses.addAddress(address, familyOf(address));
    else hosts.add(toHostRule(address));
  }
  return { hosts, addresses };
}

/** Converts a rule to the spelling of host and port that {@link AddressPolicy.resolve} compares. */
function toHostRule(rule: string): string {
  const [, host = '', port = ''] = /^(.*?)(:\d+)?$/.exec(rule) ?? [];
  return toPlainHost(new URL(`http://${host}`).hostname) + port;
}

/** Removes the brackets of IPv6, the trailing dot of an absolute name, and the zone of a link-local address. */
const toPlainHost = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, '').replace(/%.*$/, '');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

function toBlockList(subnets: readonly string[]): BlockList {
  return parseAllowed(subnets).addresses;
}

/**
 * IPv4 ranges that are not globally reachable by IANA's registry of special-purpose addresses (RFC 6890), multicast,
 * and reserved ranges. Cloud metadata services use 169.254.0.0/16, 100.64.0.0/10 and 192.0.0.0/24; Azure's has the
 * public address 168.63.129.16.
 */
const SPECIAL_IPV4 = toBlockList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
]);

/** Global unicast IPv6, which excludes loopback, link-local and unique-local addresses. */
const GLOBAL_IPV6 = toBlockList(['2000::/3']);

/** IETF protocol assignments, including Teredo, and the documentation ranges of RFC 3849 and RFC 9637. */
const SPECIAL_IPV6 = toBlockList(['2001::/23', '2001:db8::/32', '3fff::/20']);

function isPublic(address: string): boolean {
  const ipv4 = toIPv4(address);
  if (ipv4 !== undefined) return !SPECIAL_IPV4.check(ipv4);
  return matches(GLOBAL_IPV6, address) && !matches(SPECIAL_IPV6, address);
}

function matches(list: BlockList, address: string): boolean {
  const plain = toPlainHost(address);
  const ipv4 = toIPv4(plain);
  return list.check(plain, familyOf(plain)) || (ipv4 !== undefined && list.check(ipv4));
}

/** IPv6 prefixes that embed an IPv4 address, with the index of the group where it starts. */
const EMBEDDING: readonly (readonly [BlockList, number])[] = [
  // IPv4-mapped (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056).
  [toBlockList(['::ffff:0:0/96']), 6],
  [toBlockList(['64:ff9b::/96']), 6],
  [toBlockList(['2002::/16']), 1],
];

/** Returns the IPv4 address that a connection to this address reaches, or `undefined` for native IPv6. */
function toIPv4(address: string): string | undefined {
  const plain = toPlainHost(address);
  if (isIPv4(plain)) return plain;
  const start = EMBEDDING.find(([prefix]) => prefix.check(plain, 'ipv6'))?.[1];
  if (start === undefined) return undefined;
  const bytes = toGroups(plain)
    .slice(start, start + 2)
    .flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}

/**
 * Returns the eight groups of an IPv6 address. The URL parser converts every spelling to the canonical one (RFC 5952).
 */
function toGroups(address: string): number[] {
  const [head = '', tail] = toPlainHost(new URL(`http://[${address}]`).hostname).split('::');
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  return [...(before ?? []), ...Array<string>(zeros).fill('0'), ...(after ?? [])].map((group) => parseInt(group, 16));
}
