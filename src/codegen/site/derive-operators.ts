import { GROUP_SORT, GROUP_SORT_KEY, OPERATOR_INPUTS, SORT_ORDER } from './names.js';

const EQUALITY = ['eq', 'ne', 'in', 'nin'];
const ORDER = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'];
const TEXT = [...EQUALITY, 'regex', 'glob'];

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  eq: 'Is equal; `null` asks for no value.',
  ne: 'Is not equal; no value is not equal to any.',
  gt: 'Is greater.',
  gte: 'Is greater or equal.',
  lt: 'Is less.',
  lte: 'Is less or equal.',
  in: 'Is equal to one of these.',
  nin: 'Is equal to none of these.',
  regex: 'Matches an expression written as `/source/flags`.',
  glob: 'Matches a pattern as a whole, such as `docs/**/*.md`.',
};

/** The conditions on one scalar, for each type of scalar, and how to sort records and groups. */
export const deriveOperators = (): string =>
  [
    operatorInput('String', TEXT),
    ...['Int', 'Float', 'Date'].map((type) => operatorInput(type as 'Int', ORDER)),
    operatorInput('Boolean', EQUALITY),
    `
"The direction of a sort."
enum ${SORT_ORDER} {
  "Small values first; records without a value last."
  ASC
  "Large values first, after the records without a value."
  DESC
}`,
    `
"How to order groups; groups that are equal in it follow each other by value, ascending."
input ${GROUP_SORT} {
  "What to order by."
  by: ${GROUP_SORT_KEY}! = VALUE
  "The direction."
  order: ${SORT_ORDER}! = ASC
}`,
    `
"What groups are ordered by."
enum ${GROUP_SORT_KEY} {
  "The number of records in the group."
  COUNT
  "The value that the records have in common, as text."
  VALUE
}`,
  ].join('\n');

const operatorInput = (type: keyof typeof OPERATOR_INPUTS, operators: readonly string[]): string => `
"Conditions on a ${type}, all of which must hold; on a list, one of its elements is enough."
input ${OPERATOR_INPUTS[type]} {
${operators.map((name) => `  "${DESCRIPTIONS[name] ?? ''}"\n  ${name}: ${name.endsWith('in') ? `[${type}]` : type}`).join('\n')}
}`;
