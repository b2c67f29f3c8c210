import type { RecordField } from '@trellis/core/record-types';
import { GROUP_SORT, GROUP_SORT_KEY, OPERATOR_INPUTS, operatorInputName, SORT_ORDER } from './sdl.js';

/** A field whose values are those of an enum, or of a scalar of the application. */
export type DeclaredField = Extract<RecordField, { readonly declared?: string }> & { readonly declared: string };

const EQUALITY = ['eq', 'ne', 'in', 'nin'];
const ORDER = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'];
const TEXT = [...EQUALITY, 'regex', 'glob'];

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  eq: 'Equal to this value; `null` matches a missing value.',
  ne: 'Not equal to this value; a missing value differs from every value.',
  gt: 'Greater than this value.',
  gte: 'Greater than or equal to this value.',
  lt: 'Less than this value.',
  lte: 'Less than or equal to this value.',
  in: 'Equal to one of these values.',
  nin: 'Not equal to any of these values.',
  regex: 'Matches this regular expression, written as `/source/flags`.',
  glob: 'Matches this glob pattern as a whole, such as `docs/**/*.md`.',
};

/** Derives the filter inputs of all scalar types, and the types for sorting records and groups. */
export const deriveOperators = (): string =>
  [
    operatorInput('String', TEXT),
    ...['Int', 'Float', 'Date'].map((type) => operatorInput(type as 'Int', ORDER)),
    operatorInput('Boolean', EQUALITY),
    `
"The direction of a sort."
enum ${SORT_ORDER} {
  "Smallest values first, records without a value last."
  ASC
  "Records without a value first, then the largest values."
  DESC
}`,
    `
"The order of groups. Groups with equal sort keys are sorted by value, ascending."
input ${GROUP_SORT} {
  "The sort key."
  by: ${GROUP_SORT_KEY}! = VALUE
  "The direction."
  order: ${SORT_ORDER}! = ASC
}`,
    `
"The sort keys of groups."
enum ${GROUP_SORT_KEY} {
  "The number of records in the group."
  COUNT
  "The value that the records share, as text."
  VALUE
}`,
  ].join('\n');

const operatorInput = (
  type: string,
  operators: readonly string[],
  name: string = OPERATOR_INPUTS[type as keyof typeof OPERATOR_INPUTS],
): string => `
"Conditions on a ${type}, all of which must match. A list matches if one of its elements does."
input ${name} {
${operators.map((name) => `  "${DESCRIPTIONS[name] ?? ''}"\n  ${name}: ${name.endsWith('in') ? `[${type}]` : type}`).join('\n')}
}`;

/** Derives the filter input of an enum, or of a scalar of the application, whose stored numbers have an order. */
export function deriveDeclaredOperators({ declared, type, values }: DeclaredField): string {
  const isNumber = values === undefined && ['Int', 'Float'].includes(type);
  return operatorInput(declared, isNumber ? ORDER : EQUALITY, operatorInputName(declared));
}
