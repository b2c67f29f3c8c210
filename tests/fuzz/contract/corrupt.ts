import fc from 'fast-check';
import { SeenValue } from './seen-values.js';

/** Values that match few schemas, or exceed their bounds. */
const MISFITS: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  2 ** 31,
  '\u0000',
  '\ud800',
  '\u202e\ufeff',
  '💥'.repeat(40),
  'x'.repeat(3_000),
  'constructor',
  '../../etc/passwd',
  '1e9',
  "'; drop table people; --",
  '<script>alert(1)</script>',
  '9999-99-99T99:99:99Z',
  '2026-02-30T00:00:00Z',
  [],
  {},
  [null],
  [[[[[[]]]]]],
  { toString: 1, constructor: {} },
];

const EXTRA_KEYS = ['extra', '__proto__', 'constructor', 'toString', 'id', '', 'x'.repeat(300)];

/** Changes one place in a value: replaces it, removes it, or adds an unknown property. */
export function generateCorrupted(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const change = fc.record({
    at: fc.nat(10_000),
    kind: fc.constantFrom('replace' as const, 'replace' as const, 'remove' as const, 'add' as const),
    misfit: fc.constantFrom(...MISFITS),
    key: fc.constantFrom(...EXTRA_KEYS),
  });
  return fc.tuple(values, change).map(([value, { at, ...how }]) => {
    const changed = changeAt(value, { left: at % countPlaces(value) }, how);
    return changed === REMOVED ? how.misfit : changed;
  });
}

interface Change {
  readonly kind: 'add' | 'remove' | 'replace';
  readonly misfit: unknown;
  readonly key: string;
}

const REMOVED = Symbol('removed');

function changeAt(value: unknown, cursor: { left: number }, change: Change): unknown {
  const isHere = cursor.left === 0;
  cursor.left -= 1;
  if (isHere) return changeHere(value, change);
  if (!isContainer(value)) return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, changeAt(inner, cursor, change)] as const)
    .filter(([, inner]) => inner !== REMOVED);
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : toObject(kept);
}

function changeHere(value: unknown, { kind, misfit, key }: Change): unknown {
  if (kind === 'remove') return REMOVED;
  if (kind === 'replace' || !isContainer(value)) return misfit;
  if (Array.isArray(value)) return [...(value as unknown[]), ...Array<unknown>(600).fill(misfit)];
  return toObject([...Object.entries(value), [key, misfit]]);
}

/** Creates an object that may have `__proto__` as an own property. */
function toObject(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof SeenValue);
}

function countPlaces(value: unknown): number {
  if (!isContainer(value)) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countPlaces(inner), 1);
}
