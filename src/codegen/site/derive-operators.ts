import { OPERATOR_INPUTS, SORT_ORDER } from './names.js';

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

/** The conditions on one scalar, for each type of scalar, and the directions of sorting. */
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
  ].join('\n');

const operatorInput = (type: keyof typeof OPERATOR_INPUTS, operators: readonly string[]): string => `
"Conditions on a ${type}, all of which must hold; on a list, one of its elements is enough."
input ${OPERATOR_INPUTS[type]} {
${operators.map((name) => `  "${DESCRIPTIONS[name] ?? ''}"\n  ${name}: ${name.endsWith('in') ? `[${type}]` : type}`).join('\n')}
}`;
