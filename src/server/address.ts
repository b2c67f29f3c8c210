import type { Request } from 'express';

/** The peer's address, IPv4 in its own spelling also when it came over an IPv6 socket; empty once the peer is gone. */
export function peerAddress(request: Request): string {
  return (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}
