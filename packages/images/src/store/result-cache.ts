import { LRUCache } from 'lru-cache';
import type { FieldArguments, FieldName, FieldResult } from '../plan/field-results.js';
import type { ImageSource } from '../source.js';

/** Caches the results of image fields, so that a repeated query computes nothing. */
export interface ResultCache {
  find<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): FieldResult<Field> | undefined;
  keep<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
    result: FieldResult<Field>,
  ): void;
}

/** A few kilobytes each: enough for the fluid images of several large pages. */
const MAX_RESULTS = 5_000;

export function createResultCache(): ResultCache {
  const results = new LRUCache<string, object>({ max: MAX_RESULTS });
  /** The recently used results by source, which spares building a key: that takes longer than the lookup. */
  let bySource = new WeakMap<ImageSource, Map<string, object>>();
  let bySourceCount = 0;
  const texts = new WeakMap<object, string>();

  /** Serialises arguments. All images of a list share one arguments object, which is serialised once. */
  function textOf(field: FieldName, args: object): string {
    const known = texts.get(args);
    if (known?.startsWith(field)) return known;
    const text = `${field} ${JSON.stringify(args)}`;
    texts.set(args, text);
    return text;
  }

  function addBySource(source: ImageSource, text: string, result: object): void {
    // Cleared when it reaches the size of the other cache.
    if (bySourceCount === MAX_RESULTS) [bySource, bySourceCount] = [new WeakMap(), 0];
    bySource.set(source, (bySource.get(source) ?? new Map<string, object>()).set(text, result));
    bySourceCount += 1;
  }

  return {
    find<Field extends FieldName>(field: Field, source: ImageSource, args: FieldArguments[Field]) {
      const text = textOf(field, args);
      const near = bySource.get(source)?.get(text);
      if (near) return near as FieldResult<Field>;
      // `peek` does not update the order of use, which would take as long as the rest of this function.
      const result = results.peek(keyOf(source, text));
      if (result) addBySource(source, text, result);
      return result as FieldResult<Field> | undefined;
    },
    keep(field, source, args, result) {
      const text = textOf(field, args);
      results.set(keyOf(source, text), result);
      addBySource(source, text, result);
    },
  };
}

/** Returns a key of everything that a result depends on, including the file that its inline images read. */
const keyOf = ({ contentDigest, mtimeMs, absolutePath }: ImageSource, text: string): string =>
  `${contentDigest} ${mtimeMs} ${absolutePath} ${text}`;
