import { createHash } from 'node:crypto';

/** Returns a strong ETag of a response body. */
export function toEtag(payload: Uint8Array | string): string {
  // 22 characters encode 128 bits, which rules out collisions.
  return `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
}

/** Returns whether an `If-None-Match` header matches the ETag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
}
