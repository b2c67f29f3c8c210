import type { IncomingMessage } from 'node:http';

/** A request; Express adds the address that trusted proxies name. */
type Peer = Pick<IncomingMessage, 'headers' | 'socket'> & { readonly ip?: string | undefined };

/** The peer's address, IPv4 in its own spelling also when it came over an IPv6 socket; empty once the peer is gone. */
export function peerAddress(request: Peer): string {
  // Without the header that proxies write, nobody else is named, whomever we trust.
  const isDirect = request.headers['x-forwarded-for'] === undefined;
  return ((isDirect ? request.socket.remoteAddress : request.ip) ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}
