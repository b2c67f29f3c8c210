import type { IncomingMessage } from 'node:http';

/** A request. Express adds `ip`, the client address that trusted proxies report. */
type Peer = Pick<IncomingMessage, 'headers' | 'socket'> & { readonly ip?: string | undefined };

/**
 * Returns the client's address, in IPv4 notation also for an IPv4 client of an IPv6 socket; empty once the client has
 * disconnected.
 */
export function getClientAddress(request: Peer): string {
  // Without this header no proxy reported a client, so the cheaper lookup gives the same address.
  const isDirect = request.headers['x-forwarded-for'] === undefined;
  return ((isDirect ? request.socket.remoteAddress : request.ip) ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}
