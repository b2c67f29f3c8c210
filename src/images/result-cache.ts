import { LRUCache } from 'lru-cache';
import type { FieldArguments, FieldName, FieldResult } from './answers.js';
import type { ImageSource } from './source.js';

/** Answers of fields, so that a repeated query computes nothing. */
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

/** Some kilobytes each: the fluid images of a few large pages. */
const MAX_RESULTS = 5_000;

export function createResultCache(): ResultCache {
  const results = new LRUCache<string, object>({ max: MAX_RESULTS });
  /** The same by source, of those that are asked for again and again: writing a key takes longer than finding it. */
  let bySource = new WeakMap<ImageSource, Map<string, object>>();
  let noted = 0;
  const texts = new WeakMap<object, string>();

  /** Of arguments that all images of a list share, written once. */
  function textOf(field: FieldName, args: object): string {
    const known = texts.get(args);
    if (known?.startsWith(field)) return known;
    const text = `${field} ${JSON.stringify(args)}`;
    texts.set(args, text);
    return text;
  }

  function note(source: ImageSource, text: string, result: object): void {
    // No more than the others: they begin anew when there are as many.
    if (noted === MAX_RESULTS) [bySource, noted] = [new WeakMap(), 0];
    bySource.set(source, (bySource.get(source) ?? new Map<string, object>()).set(text, result));
    noted += 1;
  }

  return {
    find<Field extends FieldName>(field: Field, source: ImageSource, args: FieldArguments[Field]) {
      const text = textOf(field, args);
      const near = bySource.get(source)?.get(text);
      if (near) return near as FieldResult<Field>;
      // Noting which was asked for last would take as long as all else here; the oldest go first.
      const result = results.peek(keyOf(source, text));
      if (result) note(source, text, result);
      return result as FieldResult<Field> | undefined;
    },
    keep(field, source, args, result) {
      const text = textOf(field, args);
      results.set(keyOf(source, text), result);
      note(source, text, result);
    },
  };
}

/** Everything that a result depends on, its links and what it will read from the file among it. */
const keyOf = ({ contentDigest, mtimeMs, absolutePath }: ImageSource, text: string): string =>
  `${contentDigest} ${mtimeMs} ${absolutePath} ${text}`;
