import type { ArgumentDescription, DerivedFieldDescription } from '../../../core/record-types.js';
import { toGraphqlLiteral } from './graphql-literal.js';
import { findRecordType } from './record.js';

/** An image transform: a field of the schema such as `fluid`, or `traced`, which selects only the outlines of one. */
export interface TransformField {
  readonly name: string;
  readonly description: string;
  readonly field: DerivedFieldDescription;
  /** The fields that the query selects by default. */
  readonly results: readonly string[];
}

const DEFAULT_RESULTS = ['width', 'height', 'aspectRatio', 'sizes', 'src', 'srcSet'];

const fields = findRecordType('ImageProc')?.made ?? [];

const fieldShapes: readonly TransformField[] = fields
  .filter(({ results }) => results.some(({ name }) => name === 'src'))
  .map((field) => ({
    name: field.name,
    description: field.description,
    field,
    results: field.results.map(({ name }) => name).filter((name) => DEFAULT_RESULTS.includes(name)),
  }));

/** All image transforms, those of the schema first. */
export const TRANSFORM_FIELDS: readonly TransformField[] = fieldShapes.concat(
  fieldShapes.slice(0, 1).map(({ field }) => ({
    name: 'traced',
    description: 'Only the traced outlines: an SVG placeholder to show until the image has loaded.',
    field,
    results: ['aspectRatio', 'tracedSVG'],
  })),
);

/** The texts of the form by argument path, such as `traceSVG.color`. Empty texts use the default of the schema. */
export type ArgumentTexts = Readonly<Record<string, string>>;

/** Error messages by argument path. */
export type ArgumentErrors = Readonly<Record<string, string>>;

export interface FormattedArguments {
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
