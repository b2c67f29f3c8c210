import { AppError } from '../errors.js';
import type { ObjectRow } from './variants.js';

/** Names the present value of an object: no other one is named so, nor that of an object which has the name later. */
export function etagOf({ id, version }: Pick<ObjectRow, 'id' | 'version'>): string {
  return `"${id}.${version}"`;
}

/**
 * Holds an object to the value that a caller has seen.
 *
 * @param ifMatch As the header of HTTP: etags with commas between, or `*`; anything will do without.
 * @throws AppError `precondition_failed` when its value is another.
 */
export function requireMatch(object: ObjectRow, ifMatch: string | undefined): void {
  const etag = etagOf(object);
  // Proxies that pack what passes through them make a weak etag of ours; it names the same value.
  const names = (given: string): boolean => given === '*' || given.replace(/^W\//, '') === etag;
  if (ifMatch === undefined || ifMatch.split(',').some((given) => names(given.trim()))) return;
  throw new AppError('precondition_failed', 'value was replaced meanwhile', { field: 'If-Match' });
}
