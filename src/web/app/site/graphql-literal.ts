import type { ArgumentDescription } from '../../../core/record-types.js';

interface Literal {
  /** The GraphQL literal. */
  readonly literal?: string;
  /** Why the text is not a valid value. */
  readonly problem?: string;
}

const WHOLE = /^-?\d{1,15}$/;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** Converts the text of a field to a GraphQL literal. Only the server checks the range of numbers. */
export function toGraphqlLiteral(
  { type, values }: Pick<ArgumentDescription, 'type' | 'values'>,
  text: string,
): Literal {
  if (values || type === 'Boolean') return { literal: text };
  if (type === 'Int') return expect(text, WHOLE, 'a whole number');
  if (type === 'Float') return expect(text, NUMBER, 'a number');
  if (type === '[Int]') return readList(text);
  return { literal: JSON.stringify(text) };
}

function readList(text: string): Literal {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  const wrong = items.find((item) => !WHOLE.test(item));
  return wrong === undefined
    ? { literal: `[${items.join(', ')}]` }
    : expect(wrong, WHOLE, 'whole numbers separated by commas');
}

const expect = (text: string, pattern: RegExp, expected: string): Literal =>
  pattern.test(text) ? { literal: text } : { problem: `Expected ${expected}; received “${text.slice(0, 40)}”.` };
