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
  const names = new WeakMap<ImageSource, string>();
  const texts = new WeakMap<object, string>();

  /** Of a source that is asked for again and again, put together once. */
  function nameOf(source: ImageSource): string {
    const known = names.get(source);
    if (known !== undefined) return known;
    const name = `${source.contentDigest} ${source.mtimeMs} ${source.absolutePath}`;
    names.set(source, name);
    return name;
  }

  /** Of arguments that all images of a list share, written once. */
  function textOf(args: object): string {
    const known = texts.get(args);
    if (known !== undefined) return known;
    const text = JSON.stringify(args);
    texts.set(args, text);
    return text;
  }

  /** Everything that a result depends on, its links and what it will read from the file among it. */
  const keyOf = (field: FieldName, source: ImageSource, args: object): string =>
    `${field} ${nameOf(source)} ${textOf(args)}`;

  return {
    find: <Field extends FieldName>(field: Field, source: ImageSource, args: FieldArguments[Field]) =>
      // Noting which was asked for last would take as long as all else here; the oldest go first.
      results.peek(keyOf(field, source, args)) as FieldResult<Field> | undefined,
    keep: (field, source, args, result) => void results.set(keyOf(field, source, args), result),
  };
}
