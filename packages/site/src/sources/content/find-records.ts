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
  /** The key that `*` stands for, unless there is a list below it. */
  readonly key: string | undefined;
  readonly path: Path;
}

/** The step of `at` that leads to each value of an object. */
const EACH = '*';

/**
 * Finds the records in a file: its entries, or the values in them to which the keys of `at` (`@source`) lead. Keys apply to
 * each item of a list, and a list at their end has a record for each item, except that a value to which `*` leads is one record.
 * The key that `*` stands for is the `id` from which the slug comes. A value that is not an object is the `value` of its record.
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
    for (const { value, key, path } of findValues({ value: entry.values, key: undefined, path: [] }, at.split('.'))) {
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

/** @param from The value and where it is; `isOne` if a list is one value, as `*` has led to it. */
function* findValues(
  { value, key, path, isOne = false }: LocatedValue & { readonly isOne?: boolean },
  steps: readonly string[],
): Generator<LocatedValue, void> {
  const [step, ...rest] = steps;
  if (Array.isArray(value) && !isOne) {
    for (const [index, item] of value.entries()) {
      const found = { value: item as unknown, key: undefined, path: [...path, index] };
      if (step === undefined) yield found;
      else yield* findValues(found, steps);
    }
  } else if (step === undefined) {
    if (value !== undefined) yield { value: value ?? {}, key, path };
  } else if (isObject(value)) {
    const isEach = step === EACH;
    const names = isEach ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
    for (const name of names) {
      const found = { value: value[name], key: isEach ? name : key, path: [...path, name] };
      yield* findValues({ ...found, isOne: isEach && rest.length === 0 }, rest);
    }
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
