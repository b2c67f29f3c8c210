/** What both engines keep and give back unchanged. */
export type Bindable = number | string | Uint8Array | null;

/**
 * Makes a value fit to be a statement's parameter: booleans become 0 and 1.
 *
 * The driver takes a Date or an object for a set of named parameters, keeps NaN
 * as NULL and cuts text at a NUL when it reads it back, each without a word.
 *
 * @throws TypeError for all of these, and whatever else would not come back as it went in.
 */
export function toBindable(value: unknown): Bindable {
  if (value === null || value instanceof Uint8Array) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' && isKept(value)) return value;
  if (typeof value === 'string' && !value.includes('\0')) return value;
  throw new TypeError(`Expected text without NUL, an exact number, bytes or null to store; received ${nameOf(value)}.`);
}

/** Integers beyond 2^53 are not exact. */
function isKept(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return 'text with NUL';
  if (typeof value === 'number') return String(value);
  return value instanceof Object ? value.constructor.name : typeof value;
}
