import { createHash } from 'node:crypto';

/** Names the bytes of an answer. */
export function etagOf(payload: Uint8Array | string): string {
  // 128 bits are more than enough to tell two answers apart.
  return `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
}

/** Whether an `If-None-Match` header names the answer, in the weak comparison that it asks for. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
}
