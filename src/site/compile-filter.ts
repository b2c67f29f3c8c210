import { AppError } from '../errors.js';
import { findField } from './columns.js';
import type { Field, RelationField } from './fields.js';
import { compileOperators, missingMatches } from './operators.js';
import type { IndexHints } from './index-hints.js';
import { isMissingList, targetOf } from './relations.js';
import type { CompileContext, Scope } from './scope.js';
import { fieldsBelow, jsonScope } from './scope.js';
import { ALWAYS, and, exists, frame, NEVER, not, or, sql } from './sql.js';
import type { Sql } from './sql.js';

/** The coerced input of a filter, or the coerced arguments of a single-record query. */
export type Filter = Readonly<Record<string, unknown>>;

/** Returns the SQL condition of a filter on the rows of a scope. Null and `{}` add no condition at any level. */
export function compileFilter(
  filter: Filter | null | undefined,
  scope: Scope,
  context: CompileContext,
  hints?: IndexHints,
): Sql {
  const conditions = entriesOf(filter).map(([name, input]): readonly [number, Sql] => {
    if (isCombiner(name)) return [COSTS.combined, compileCombined(name, input, { scope, context, hints })];
    const field = getField(scope.fields, name);
    return [COSTS[field.kind], compileField(field, input, { scope, context, hints })];
  });
  return and(conditions.sort(([one], [other]) => one - other).map(([, condition]) => condition));
}

/** SQLite evaluates conditions in the order of the text, so expensive ones come last and see fewer rows. */
const COSTS = { scalar: 0, object: 0, relation: 1, combined: 1, computed: 2 } as const;

const isCombiner = (name: string): name is 'or' | 'not' => name === 'or' || name === 'not';

/** An empty `or` matches no record; a `not` without conditions has no effect. */
function compileCombined(name: 'or' | 'not', input: Filter, { scope, context, hints }: Compiling): Sql {
  if (hints) hints.looksFurther = true;
  if (name === 'or') return or(branchesOf(input).map((branch) => compileFilter(branch, scope, context)));
  return isEmpty(input, scope.fields, context) ? ALWAYS : not(compileFilter(input, scope, context));
}

const branchesOf = (input: Filter): readonly Filter[] => input as unknown as readonly Filter[];

interface Compiling {
  readonly scope: Scope;
  readonly context: CompileContext;
  readonly hints: IndexHints | undefined;
}

function compileField(field: Field, input: Filter, compiling: Compiling): Sql {
  if (compiling.hints && field.kind !== 'scalar' && (field.kind !== 'object' || field.list))
    compiling.hints.looksFurther = true;
  switch (field.kind) {
    case 'scalar':
      compiling.hints?.noteFilter(field, input);
      return compileOperand(field, input, compiling);
    case 'object':
      return field.list ? compileElements(field, input, compiling) : compileObject(field, input, compiling);
    case 'computed':
      return field.fields.length === 0
        ? compileOperand(field, input, compiling)
        : compileComputed(field, input, compiling);
    case 'relation':
      return compileRelation(field, input, compiling);
  }
}

function compileOperand(field: Field, input: Filter, { scope, context }: Compiling): Sql {
  context.noteConditions(Object.keys(input).length);
  const operand = { expression: scope.value(field), list: field.list, astral: scope.isAstral(field) };
  return compileOperators(operand, input, context.patterns);
}

type Parent = Extract<Field, { fields: readonly Field[] }>;

/** The fields of an object have columns of their own in the table of the record. */
function compileObject({ fields }: Parent, input: Filter, { scope, context, hints }: Compiling): Sql {
  return compileFilter(input, { ...scope, fields }, context, hints);
}

function compileComputed(field: Parent, input: Filter, compiling: Compiling): Sql {
  if (field.list) return compileElements(field, input, compiling);
  return compileFilter(input, jsonScope(field.fields, compiling.scope.value(field), field.path), compiling.context);
}

/** All conditions of `elemMatch` apply to the same element. A missing list counts as one missing element. */
function compileElements(field: Parent, input: Filter, { scope, context }: Compiling): Sql {
  const inner = elemMatchOf(input);
  if (isEmpty(inner, field.fields, context)) return ALWAYS;
  const alias = context.nextAlias();
  const element = jsonScope(field.fields, sql(`${alias}.value`), field.path);
  const from = `SELECT 1 FROM json_each(coalesce(%, '[null]')) AS ${alias} WHERE %`;
  return exists(frame(from, scope.value(field), compileFilter(inner, element, context)));
}

function compileRelation(field: RelationField, input: Filter, { scope, context }: Compiling): Sql {
  const inner = field.list ? elemMatchOf(input) : input;
  const fields = fieldsBelow(field, context);
  if (isEmpty(inner, fields, context)) return ALWAYS;
  const missing = matchesMissing(inner, fields, context);
  const target = targetOf(field, scope, context);
  if (!target) return missing && !field.list ? ALWAYS : NEVER;
  const condition = compileFilter(inner, target.scope, context);
  // A relation without a record matches like a record without values; an empty list has no record at all.
  if (!field.list && missing) return not(exists(frame('SELECT 1 % AND %', target.from, not(condition))));
  const found = condition === NEVER ? NEVER : exists(frame('SELECT 1 % AND %', target.from, condition));
  const absent = isMissingList(field, scope);
  return absent && missing ? or([absent, found]) : found;
}

/** Whether a filter matches a missing record. */
function matchesMissing(filter: Filter, fields: readonly Field[], context: CompileContext): boolean {
  return entriesOf(filter).every(([name, input]) => {
    if (name === 'or') return branchesOf(input).some((branch) => matchesMissing(branch, fields, context));
    if (name === 'not') return isEmpty(input, fields, context) || !matchesMissing(input, fields, context);
    const field = getField(fields, name);
    if (isLeaf(field)) return missingMatches(input);
    return matchesMissing(field.list ? elemMatchOf(input) : input, fieldsBelow(field, context), context);
  });
}

/** Whether a filter has no condition at any depth, so that no relation has to be joined. */
function isEmpty(filter: Filter, fields: readonly Field[], context: CompileContext): boolean {
  return entriesOf(filter).every(([name, input]) => {
    if (name === 'or') return false;
    if (name === 'not') return isEmpty(input, fields, context);
    const field = getField(fields, name);
    if (isLeaf(field)) return Object.values(input).every((value) => value === undefined);
    return isEmpty(field.list ? elemMatchOf(input) : input, fieldsBelow(field, context), context);
  });
}

const isLeaf = (field: Field): boolean =>
  field.kind === 'scalar' || (field.kind === 'computed' && field.fields.length === 0);

function getField(fields: readonly Field[], name: string): Field {
  const field = findField(fields, name);
  if (!field) throw new AppError('invalid_input', `Expected a field in a filter; received "${name}".`);
  return field;
}

function entriesOf(filter: Filter | null | undefined): [string, Filter][] {
  return Object.entries(filter ?? {}).filter(
    (entry): entry is [string, Filter] => entry[1] !== null && entry[1] !== undefined,
  );
}

const elemMatchOf = (input: Filter): Filter => (input.elemMatch ?? {}) as Filter;
