import { AppError } from '../errors.js';
import type { PathValue } from './compile-path.js';
import { compilePath } from './compile-path.js';
import type { CompileContext, Scope } from './scope.js';
import { frame, sql } from './sql.js';
import type { Sql } from './sql.js';

/** A sort input after coercion: dotted paths, and an order for each by its place. */
export interface Sort {
  readonly fields?: readonly (string | null)[] | null;
  readonly order?: readonly ('ASC' | 'DESC' | null)[] | null;
}

export interface SortKey {
  readonly value: PathValue;
  readonly descending: boolean;
}

/** More keys decide nothing; each one is work for every comparison. */
const MAX_KEYS = 20;

/** A key without an order ascends; an order without a key says nothing. */
export function compileSort(sort: Sort | null | undefined, scope: Scope, context: CompileContext): SortKey[] {
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
 * Missing values come last when ascending and first when descending; ties stay in creation order either way.
 * Said by a term of its own, for which an index can hold an expression: with `NULLS LAST` a
 * partly sorting index gives a wrong order.
 */
export function orderBy(keys: readonly SortKey[], alias: string): Sql {
  const terms = keys.flatMap((key) => {
    const expression = sortExpression(key.value);
    const direction = key.descending ? ' DESC' : '';
    const value = frame(`%${direction}`, expression);
    return key.value.nullable ? [frame(`% IS NULL${direction}`, expression), value] : [value];
  });
  return frame(`ORDER BY ${terms.map(() => '%, ').join('')}%`, ...terms, sql(`${alias}.position`));
}

function sortExpression({ expression, list, text, astral }: PathValue): Sql {
  const plain = list ? frame('joined(%)', expression) : expression;
  return text && astral ? frame('code_units(%)', plain) : plain;
}

/** Whether an index could hold the key as it is compared. */
export const isIndexable = ({ value }: SortKey): boolean => value.column !== undefined && !(value.text && value.astral);
