import { AppError } from '../core/errors.js';
import type { SecretTableRow } from './variants.js';

/** Returns the ETag of the current value. It is never reused, even by a later secret with the same slug. */
export function toSecretEtag({ id, version }: Pick<SecretTableRow, 'id' | 'version'>): string {
  return `"${id}.${version}"`;
}

/**
 * Asserts that a secret still has the value that the caller has read.
 *
 * @param ifMatch The `If-Match` header: ETags separated by commas, or `*`; when absent, every value matches.
 * @throws AppError `precondition_failed` when the value was replaced.
 */
export function assertIfMatch(object: SecretTableRow, ifMatch: string | undefined): void {
  const etag = toSecretEtag(object);
  // A proxy that compresses responses turns the ETag into a weak one, which identifies the same value.
  const names = (given: string): boolean => given === '*' || given.replace(/^W\//, '') === etag;
  if (ifMatch === undefined || ifMatch.split(',').some((given) => names(given.trim()))) return;
  throw new AppError('precondition_failed', 'The secret was changed by another request; reload it.', {
    field: 'If-Match',
  });
}
