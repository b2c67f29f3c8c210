import type { ArgumentDescription, DerivedFieldDescription, KindDescription } from '@trellis/core/record-types';
import { findRecordType } from '../record.js';

/** An image transform: a field of the schema such as `fluid`, or `traced`, which selects only the outlines of one. */
export interface TransformField {
  readonly name: string;
  readonly description: string;
  readonly field: DerivedFieldDescription;
  /** The fields that the query selects by default. */
  readonly results: readonly string[];
}

const DEFAULT_RESULTS = ['width', 'height', 'aspectRatio', 'sizes', 'src', 'srcSet'];

/** Lists all image transforms, those of the schema first. */
export function listTransformFields(types: readonly KindDescription[]): readonly TransformField[] {
  const made = findRecordType(types, 'ImageProc')?.made ?? [];
  const images = made.filter(({ results }) => results.some(({ name }) => name === 'src'));
  const shapes = images.map((field) => ({
    name: field.name,
    description: field.description,
    field,
    results: field.results.map(({ name }) => name).filter((name) => DEFAULT_RESULTS.includes(name)),
  }));
  const traced = images.slice(0, 1).map((field) => ({
    name: 'traced',
    description: 'Only the traced outlines: an SVG placeholder to show until the image has loaded.',
    field,
    results: ['aspectRatio', 'tracedSVG'],
  }));
  return [...shapes, ...traced];
}

/** The texts of the form by argument path, such as `traceSVG.color`. Empty texts use the default of the schema. */
export type ArgumentTexts = Readonly<Record<string, string>>;

/** Error messages by argument path. */
export type ArgumentErrors = Readonly<Record<string, string>>;

interface FormattedArguments {
  /** The arguments in parentheses; empty without arguments. */
  readonly text: string;
  readonly problems: ArgumentErrors;
}

/** Formats the arguments for a query, and reports invalid values. */
export function formatArguments(args: readonly ArgumentDescription[], values: ArgumentTexts): FormattedArguments {
  const problems: Record<string, string> = {};
  const written = args.flatMap((argument) => writeArgument(argument, argument.name, values, problems));
  return { text: written.length === 0 ? '' : `(${written.join(', ')})`, problems };
}

function writeArgument(
  argument: ArgumentDescription,
  path: string,
  values: ArgumentTexts,
  problems: Record<string, string>,
): string[] {
  if (argument.arguments) return writeInput(argument.name, argument.arguments, path, values, problems);
  const text = (values[path] ?? '').trim();
  if (text === '') return [];
  const { literal, problem } = toGraphqlLiteral(argument, text);
  if (problem !== undefined) problems[path] = problem;
  return literal === undefined ? [] : [`${argument.name}: ${literal}`];
}

function writeInput(
  name: string,
  args: readonly ArgumentDescription[],
  path: string,
  values: ArgumentTexts,
  problems: Record<string, string>,
): string[] {
  const written = args.flatMap((inner) => writeArgument(inner, `${path}.${inner.name}`, values, problems));
  if (written.length === 0) return [];
  for (const inner of args) {
    const at = `${path}.${inner.name}`;
    if (inner.required && (values[at] ?? '').trim() === '') problems[at] = `Required by ${name}.`;
  }
  return [`${name}: {${written.join(', ')}}`];
}

/** Returns a complete query for one file. */
export const formatQuery = (path: string, field: string, args: string, results: readonly string[]): string => `{
  file(relativePath: {eq: ${JSON.stringify(path)}}) {
    childImageProc {
      ${field}${args} {
${results.map((name) => `        ${name}`).join('\n')}
      }
    }
  }
}`;

/** The content of the form: an image transform and the fields to query. */
export interface TransformForm {
  readonly shape: TransformField;
  readonly values: ArgumentTexts;
  readonly results: readonly string[];
}

/** Parameters of the address that are not arguments of the transform. */
const RESERVED = ['file', 'make', 'results'];

/** Longer values are cut; no argument needs more. */
const MAX_LENGTH = 500;

/**
 * Parses the query of an address. Unknown result fields are dropped.
 *
 * @returns `undefined` when the schema has no image transforms.
 */
export function parseTransformUrl(
  query: URLSearchParams,
  fields: readonly TransformField[],
): TransformForm | undefined {
  const shape = fields.find(({ name }) => name === query.get('make')) ?? fields[0];
  if (shape === undefined) return undefined;
  const values = [...query].filter(([name]) => !RESERVED.includes(name));
  const results = query.get('results')?.split(' ') ?? shape.results;
  return {
    shape,
    values: Object.fromEntries(values.map(([name, value]) => [name, value.slice(0, MAX_LENGTH)])),
    results: shape.field.results.map(({ name }) => name).filter((name) => results.includes(name)),
  };
}

/**
 * Returns the address of the form, the inverse of {@link parseTransformUrl}. Result fields that equal the default are omitted.
 */
export function toTransformUrl(file: string, { shape, values, results }: TransformForm): string {
  const isDefault = results.join() === shape.results.join();
  return `/site/transform?${new URLSearchParams([
    ['file', file],
    ['make', shape.name],
    ...(isDefault ? [] : [['results', results.join(' ')]]),
    ...Object.entries(values).filter(([, value]) => value !== ''),
  ]).toString()}`;
}

interface Literal {
  /** The GraphQL literal. */
  readonly literal?: string;
  /** Why the text is not a valid value. */
  readonly problem?: string;
}

const WHOLE = /^-?\d{1,15}$/;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** Converts the text of a field to a GraphQL literal. Only the server checks the range of numbers. */
function toGraphqlLiteral({ type, values }: Pick<ArgumentDescription, 'type' | 'values'>, text: string): Literal {
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
