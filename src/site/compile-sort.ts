import { AppError } from '../core/errors.js';
import type { PathValue } from './compile-path.js';
import { compilePath } from './compile-path.js';
import type { CompileContext, FieldScope } from './scope.js';
import { sqlTemplate, sql } from './sql.js';
import type { Sql } from './sql.js';

/** A coerced sort input: dotted paths, and the order of each at the same index. */
export interface RecordSort {
  readonly fields?: readonly (string | null)[] | null;
  readonly order?: readonly ('ASC' | 'DESC' | null)[] | null;
}

export interface SortKey {
  readonly value: PathValue;
  readonly descending: boolean;
}

/** Each key costs work in every comparison, and more keys than this have no practical use. */
const MAX_KEYS = 20;

/** Compiles the sort keys. A key without an order is ascending; an order without a key is ignored. */
export function compileSort(
  sort: RecordSort | null | undefined,
  scope: FieldScope,
  context: CompileContext,
): SortKey[] {
  const fields = sort?.fields ?? [];
  if (fields.length > MAX_KEYS) {
    throw new AppError('invalid_input', `Expected at most ${MAX_KEYS} fields to sort by; received ${fields.length}.`, {
      field: 'sort',
    });
  }
  return fields.flatMap((path, index) =>
    path === null ? [] : [{ value: compilePath(path, scope, context), descending: sort?.order?.[index] === 'DESC' }],
  );
}

/**
 * Returns the `ORDER BY` clause. Missing values come last when ascending and first when descending; ties stay in
 * creation order either way. Missing values have a term of their own, which an index can cover as an expression: with
 * `NULLS LAST`, an index that covers only some of the keys gives a wrong order.
 */
export function orderBy(keys: readonly SortKey[], alias: string): Sql {
  const terms = keys.flatMap((key) => {
    const expression = sortExpression(key.value);
    const direction = key.descending ? ' DESC' : '';
    const value = sqlTemplate(`%${direction}`, expression);
    return key.value.nullable ? [sqlTemplate(`% IS NULL${direction}`, expression), value] : [value];
  });
  return sqlTemplate(`ORDER BY ${terms.map(() => '%, ').join('')}%`, ...terms, sql(`${alias}.position`));
}

function sortExpression({ expression, list, text, astral }: PathValue): Sql {
  const plain = list ? sqlTemplate('joined(%)', expression) : expression;
  return text && astral ? sqlTemplate('code_units(%)', plain) : plain;
}

/** Whether an index can store the key in the form in which it is compared. */
export const isIndexable = ({ value }: SortKey): boolean => value.column !== undefined && !(value.text && value.astral);
