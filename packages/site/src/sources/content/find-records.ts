import { assertRecordLimit, pathKey } from './content-entry.js';
import type { ParsedEntry, ValueLocation } from './content-parser.js';

/** A record of a file, and the place of its values. */
export interface LocatedEntry {
  readonly entry: ParsedEntry;
  readonly place: ValueLocation;
}

type Path = ValueLocation['path'];

interface LocatedValue {
  readonly value: unknown;
  /** The key to which `*` has led. */
  readonly key: string | undefined;
  readonly path: Path;
}

/** The step of `at` that leads to each value of an object. */
const EACH = '*';

/**
 * Returns the records in a file: its entries, or the values in them to which the keys of `at` (`@source`) lead. Keys apply to
 * each item of a list, and a list at their end has a record for each item. A value to which `*` leads is one record, and its key
 * is the `id` from which its slug comes. A value that is not an object is the `value` of its record.
 *
 * @throws ContentError when there are too many.
 */
export function findRecords(entries: readonly ParsedEntry[], at: string | undefined): readonly LocatedEntry[] {
  if (at === undefined) return entries.map((entry, index) => ({ entry, place: { entry: index, path: [] } }));
  const found = entries.flatMap(({ values, textOnly, written }, index) => {
    const texts = groupByParent(written ?? {});
    return findValues(values, at.split('.')).map(({ value, key, path }) => {
      const isWhole = isObject(value);
      const id = key === undefined ? {} : { id: key };
      const inside = (texts.get(pathKey(path)) ?? []).map(
        ([rest, text]) => [pathKey(isWhole ? rest : ['value', ...rest]), text] as const,
      );
      return {
        entry: {
          values: { ...(isWhole ? value : { value }), ...id },
          body: undefined,
          textOnly,
          written: { ...Object.fromEntries(inside), ...(key === undefined ? {} : { [pathKey(['id'])]: key }) },
        },
        place: { entry: index, path },
      };
    });
  });
  assertRecordLimit(found);
  return found;
}

function findValues(value: unknown, steps: readonly string[], path: Path = [], key?: string): LocatedValue[] {
  const [step, ...rest] = steps;
  if (Array.isArray(value) && (step !== undefined || key === undefined)) {
    return value.flatMap((item: unknown, index) =>
      step === undefined ? [{ value: item, key, path: [...path, index] }] : findValues(item, steps, [...path, index]),
    );
  }
  if (step === undefined) return value === undefined ? [] : [{ value: value ?? {}, key, path }];
  if (!isObject(value)) return [];
  if (step === EACH)
    return Object.entries(value).flatMap(([name, inner]) => findValues(inner, rest, [...path, name], name));
  return Object.hasOwn(value, step) ? findValues(value[step], rest, [...path, step]) : [];
}

/** Returns the texts by the key of each path above them, with the rest of their path. */
function groupByParent(written: Readonly<Record<string, string>>): ReadonlyMap<string, readonly [Path, string][]> {
  const groups = new Map<string, [Path, string][]>();
  for (const [key, text] of Object.entries(written)) {
    const path = JSON.parse(key) as Path;
    for (let length = 0; length <= path.length; length += 1) {
      const parent = pathKey(path.slice(0, length));
      const group = groups.get(parent) ?? [];
      group.push([path.slice(length), text]);
      groups.set(parent, group);
    }
  }
  return groups;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
