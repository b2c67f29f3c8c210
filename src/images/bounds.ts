import { AppError } from '../core/errors.js';

/** The longest side that a JPEG can have; the limit of every length argument. */
const MAX_SIDE = 65_535;

interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

/**
 * Validates a number argument. Null and absent values are valid.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function assertWithin(name: string, value: number | null | undefined, { min, max, whole = true }: Range): void {
  if (value === null || value === undefined) return;
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return;
  throw invalidArgument(name, `${whole ? 'a whole number' : 'a number'} from ${min} to ${max}`, value);
}

export function assertSides(sides: Readonly<Record<string, number | null | undefined>>): void {
  for (const [name, value] of Object.entries(sides)) assertWithin(name, value, { min: 1, max: MAX_SIDE });
}

/** Returns an `invalid_input` error that states the argument, its rule and the first 100 characters of its value. */
export function invalidArgument(name: string, expected: string, received: unknown): AppError {
  const shown = typeof received === 'string' ? JSON.stringify(received) : String(received);
  const message = `Expected ${name} to be ${expected}; received ${shown.slice(0, 100)}.`;
  return new AppError('invalid_input', message, { field: name });
}
