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
 * Finds the records in a file: its entries, or the values in them to which the keys of `at` (`@source`) lead. Keys apply to
 * each item of a list, and a list at their end has a record for each item. A value to which `*` leads is one record, and its key
 * is the `id` from which its slug comes. A value that is not an object is the `value` of its record.
 *
 * @throws ContentError when there are too many.
 */
export function* findRecords(entries: readonly ParsedEntry[], at: string | undefined): Generator<LocatedEntry> {
  let count = 0;
  for (const [index, entry] of entries.entries()) {
    if (at === undefined) {
      yield { entry, place: { entry: index, path: [] } };
      continue;
    }
    const texts = groupByParent(entry.written ?? {});
    for (const { value, key, path } of findValues(entry.values, at.split('.'))) {
      assertRecordLimit((count += 1));
      const isWhole = isObject(value);
      const inside = (texts.get(pathKey(path)) ?? []).map(
        ([rest, text]) => [pathKey(isWhole ? rest : ['value', ...rest]), text] as const,
      );
      yield {
        entry: {
          values: { ...(isWhole ? value : { value }), ...(key === undefined ? {} : { id: key }) },
          body: undefined,
          textOnly: entry.textOnly,
          written: { ...Object.fromEntries(inside), ...(key === undefined ? {} : { [pathKey(['id'])]: key }) },
        },
        place: { entry: index, path },
      };
    }
  }
}

function* findValues(
  value: unknown,
  steps: readonly string[],
  path: Path = [],
  key?: string,
): Generator<LocatedValue, void> {
  const [step, ...rest] = steps;
  if (Array.isArray(value) && (step !== undefined || key === undefined)) {
    for (const [index, item] of value.entries()) {
      if (step === undefined) yield { value: item as unknown, key, path: [...path, index] };
      else yield* findValues(item, steps, [...path, index]);
    }
  } else if (step === undefined) {
    if (value !== undefined) yield { value: value ?? {}, key, path };
  } else if (isObject(value)) {
    if (step === EACH)
      for (const name of Object.keys(value)) yield* findValues(value[name], rest, [...path, name], name);
    else if (Object.hasOwn(value, step)) yield* findValues(value[step], rest, [...path, step]);
  }
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
