import { AppError } from '../core/errors.js';
import { findField } from './columns.js';
import type { RecordField, RelationField } from '../core/record-types.js';
import { compileOperators, matchesMissingValue } from './operators.js';
import type { IndexCandidates } from './indexes/index-candidates.js';
import { findMissingListCondition, findRelationTarget } from './relations.js';
import type { CompileContext, FieldScope } from './scope.js';
import { getChildFields, jsonScope } from './scope.js';
import { ALWAYS, and, exists, sqlTemplate, NEVER, not, or, sql } from './sql.js';
import type { Sql } from './sql.js';

/** The coerced input of a filter, or the coerced arguments of a single-record query. */
export type RecordFilter = Readonly<Record<string, unknown>>;

/** Returns the SQL condition of a filter on the rows of a scope. Null and `{}` add no condition at any level. */
export function compileFilter(
  filter: RecordFilter | null | undefined,
  scope: FieldScope,
  context: CompileContext,
  hints?: IndexCandidates,
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
function compileCombined(name: 'or' | 'not', input: RecordFilter, { scope, context, hints }: Compiling): Sql {
  if (hints) hints.hasOtherConditions = true;
  if (name === 'or') return or(branchesOf(input).map((branch) => compileFilter(branch, scope, context)));
  return isEmpty(input, scope.fields, context) ? ALWAYS : not(compileFilter(input, scope, context));
}

const branchesOf = (input: RecordFilter): readonly RecordFilter[] => input as unknown as readonly RecordFilter[];

interface Compiling {
  readonly scope: FieldScope;
  readonly context: CompileContext;
  readonly hints: IndexCandidates | undefined;
}

function compileField(field: RecordField, input: RecordFilter, compiling: Compiling): Sql {
  if (compiling.hints && field.kind !== 'scalar' && (field.kind !== 'object' || field.list))
    compiling.hints.hasOtherConditions = true;
  switch (field.kind) {
    case 'scalar':
      compiling.hints?.addFilter(field, input);
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

function compileOperand(field: RecordField, input: RecordFilter, { scope, context }: Compiling): Sql {
  context.countConditions(Object.keys(input).length);
  const operand = { expression: scope.value(field), list: field.list, astral: scope.isAstral(field) };
  return compileOperators(operand, input, context.patterns);
}

type Parent = Extract<RecordField, { fields: readonly RecordField[] }>;

/** The fields of an object have columns of their own in the table of the record. */
function compileObject({ fields }: Parent, input: RecordFilter, { scope, context, hints }: Compiling): Sql {
  return compileFilter(input, { ...scope, fields }, context, hints);
}

function compileComputed(field: Parent, input: RecordFilter, compiling: Compiling): Sql {
  if (field.list) return compileElements(field, input, compiling);
  return compileFilter(input, jsonScope(field.fields, compiling.scope.value(field), field.path), compiling.context);
}

/** All conditions of `elemMatch` apply to the same element. A missing list counts as one missing element. */
function compileElements(field: Parent, input: RecordFilter, { scope, context }: Compiling): Sql {
  const inner = elemMatchOf(input);
  if (isEmpty(inner, field.fields, context)) return ALWAYS;
  const alias = context.nextAlias();
  const element = jsonScope(field.fields, sql(`${alias}.value`), field.path);
  const from = `SELECT 1 FROM json_each(coalesce(%, '[null]')) AS ${alias} WHERE %`;
  return exists(sqlTemplate(from, scope.value(field), compileFilter(inner, element, context)));
}

function compileRelation(field: RelationField, input: RecordFilter, { scope, context }: Compiling): Sql {
  const inner = field.list ? elemMatchOf(input) : input;
  const fields = getChildFields(field, context);
  if (isEmpty(inner, fields, context)) return ALWAYS;
  const missing = matchesMissing(inner, fields, context);
  const target = findRelationTarget(field, scope, context);
  if (!target) return missing && !field.list ? ALWAYS : NEVER;
  const condition = compileFilter(inner, target.scope, context);
  // A relation without a record matches like a record without values; an empty list has no record at all.
  if (!field.list && missing) return not(exists(sqlTemplate('SELECT 1 % AND %', target.from, not(condition))));
  const found = condition === NEVER ? NEVER : exists(sqlTemplate('SELECT 1 % AND %', target.from, condition));
  const absent = findMissingListCondition(field, scope);
  return absent && missing ? or([absent, found]) : found;
}

/** Whether a filter matches a missing record. */
function matchesMissing(filter: RecordFilter, fields: readonly RecordField[], context: CompileContext): boolean {
  return entriesOf(filter).every(([name, input]) => {
    if (name === 'or') return branchesOf(input).some((branch) => matchesMissing(branch, fields, context));
    if (name === 'not') return isEmpty(input, fields, context) || !matchesMissing(input, fields, context);
    const field = getField(fields, name);
    if (isLeaf(field)) return matchesMissingValue(input);
    return matchesMissing(field.list ? elemMatchOf(input) : input, getChildFields(field, context), context);
  });
}

/** Whether a filter has no condition at any depth, so that no relation has to be joined. */
function isEmpty(filter: RecordFilter, fields: readonly RecordField[], context: CompileContext): boolean {
  return entriesOf(filter).every(([name, input]) => {
    if (name === 'or') return false;
    if (name === 'not') return isEmpty(input, fields, context);
    const field = getField(fields, name);
    if (isLeaf(field)) return Object.values(input).every((value) => value === undefined);
    return isEmpty(field.list ? elemMatchOf(input) : input, getChildFields(field, context), context);
  });
}

const isLeaf = (field: RecordField): boolean =>
  field.kind === 'scalar' || (field.kind === 'computed' && field.fields.length === 0);

function getField(fields: readonly RecordField[], name: string): RecordField {
  const field = findField(fields, name);
  if (!field) throw new AppError('invalid_input', `Expected a field in a filter; received "${name}".`);
  return field;
}

function entriesOf(filter: RecordFilter | null | undefined): [string, RecordFilter][] {
  return Object.entries(filter ?? {}).filter(
    (entry): entry is [string, RecordFilter] => entry[1] !== null && entry[1] !== undefined,
  );
}

const elemMatchOf = (input: RecordFilter): RecordFilter => (input.elemMatch ?? {}) as RecordFilter;
