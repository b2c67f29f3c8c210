/** The values that both engines store and return unchanged. */
export type Bindable = number | string | Uint8Array | null;

/**
 * Converts a value to a statement parameter; booleans become 0 and 1.
 *
 * The driver silently treats a Date or an object as a set of named parameters, stores NaN as NULL, and truncates text
 * at a NUL when it reads it.
 *
 * @throws TypeError for these values, and for any others that a database would not return unchanged.
 */
export function toBindable(value: unknown): Bindable {
  if (value === null || value instanceof Uint8Array) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' && isExact(value)) return value;
  if (typeof value === 'string' && !value.includes('\0')) return value;
  throw new TypeError(`Expected text without NUL, an exact number, bytes or null to store; received ${nameOf(value)}.`);
}

/** Integers beyond 2^53 are not exact. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return 'text with NUL';
  if (typeof value === 'number') return String(value);
  return value instanceof Object ? value.constructor.name : typeof value;
}
