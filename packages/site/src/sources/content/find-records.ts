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
  readonly texts: WrittenTexts | undefined;
}

/** The text of a number or boolean in a file, and those inside of a list or an object by their keys. */
interface WrittenTexts {
  text?: string;
  readonly inside: Map<number | string, WrittenTexts>;
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
    const whole = { value: entry.values, key: undefined, path: [], texts: toTree(entry.written ?? {}) };
    for (const { value, key, path, texts } of findValues(whole, at.split('.'))) {
      assertRecordLimit((count += 1));
      const isWhole = isObject(value);
      const written = listTexts(texts, isWhole ? [] : ['value']);
      yield {
        entry: {
          values: { ...(isWhole ? value : { value }), ...(key === undefined ? {} : { id: key }) },
          body: undefined,
          textOnly: entry.textOnly,
          written: { ...Object.fromEntries(written), ...(key === undefined ? {} : { [pathKey(['id'])]: key }) },
        },
        place: { entry: index, path },
      };
    }
  }
}

/** @param from The value and where it is; `isOne` if a list is one value, as `*` has led to it. */
function* findValues(
  { value, key, path, texts, isOne = false }: LocatedValue & { readonly isOne?: boolean },
  steps: readonly string[],
): Generator<LocatedValue, void> {
  const [step, ...rest] = steps;
  if (Array.isArray(value) && !isOne) {
    for (const [index, item] of value.entries()) {
      const found = {
        ...{ value: item as unknown, key: undefined },
        ...{ path: [...path, index], texts: texts?.inside.get(index) },
      };
      if (step === undefined) yield found;
      else yield* findValues(found, steps);
    }
  } else if (step === undefined) {
    if (value !== undefined) yield { value: value ?? {}, key, path, texts };
  } else if (isObject(value)) {
    const isEach = step === EACH;
    const names = isEach ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
    for (const name of names) {
      const found = {
        ...{ value: value[name], key: isEach ? name : key },
        ...{ path: [...path, name], texts: texts?.inside.get(name) },
      };
      yield* findValues({ ...found, isOne: isEach && rest.length === 0 }, rest);
    }
  }
}

/** @param written The texts by the keys of their paths. */
function toTree(written: Readonly<Record<string, string>>): WrittenTexts {
  const root: WrittenTexts = { inside: new Map() };
  for (const [key, text] of Object.entries(written)) {
    let part = root;
    for (const step of JSON.parse(key) as Path) {
      const next: WrittenTexts = part.inside.get(step) ?? { inside: new Map() };
      part.inside.set(step, next);
      part = next;
    }
    part.text = text;
  }
  return root;
}

/** Lists texts with the keys of their paths. */
function listTexts(texts: WrittenTexts | undefined, path: Path): readonly (readonly [key: string, text: string])[] {
  if (texts === undefined) return [];
  const { text, inside } = texts;
  const own = text === undefined ? [] : [[pathKey(path), text] as const];
  return [...own, ...[...inside].flatMap(([step, part]) => listTexts(part, [...path, step]))];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
