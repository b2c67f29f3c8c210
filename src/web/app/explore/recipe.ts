import type { ArgumentDescription, MadeDescription } from '../../../site/kind-descriptions.js';
import { readLiteral } from './literal.js';
import { findKind } from './record.js';

/** A way to make images of one: a field of the schema, or outlines alone, which are a result of one. */
export interface Shape {
  readonly name: string;
  readonly description: string;
  readonly field: MadeDescription;
  /** What a page usually asks of it. */
  readonly results: readonly string[];
}

const USUAL = ['width', 'height', 'aspectRatio', 'sizes', 'src', 'srcSet'];

const fields = findKind('ImageProc')?.made ?? [];

const fieldShapes: readonly Shape[] = fields
  .filter(({ results }) => results.some(({ name }) => name === 'src'))
  .map((field) => ({
    name: field.name,
    description: field.description,
    field,
    results: field.results.map(({ name }) => name).filter((name) => USUAL.includes(name)),
  }));

/** Every shape, those of the schema first. */
export const SHAPES: readonly Shape[] = fieldShapes.concat(
  fieldShapes.slice(0, 1).map(({ field }) => ({
    name: 'traced',
    description: 'The outlines alone, as a drawing that stands in a page until the image is there.',
    field,
    results: ['aspectRatio', 'tracedSVG'],
  })),
);

/** What the form says, as text by argument, such as `traceSVG.color`; what is empty is left to the schema. */
export type Values = Readonly<Record<string, string>>;

/** What is wrong, by argument. */
export type Problems = Readonly<Record<string, string>>;

export interface Written {
  /** The arguments in their brackets; empty without any. */
  readonly text: string;
  readonly problems: Problems;
}

/** The arguments as a query writes them, and those that can't be written. */
export function writeArguments(args: readonly ArgumentDescription[], values: Values): Written {
  const problems: Record<string, string> = {};
  const written = args.flatMap((argument) => writeArgument(argument, argument.name, values, problems));
  return { text: written.length === 0 ? '' : `(${written.join(', ')})`, problems };
}

function writeArgument(
  argument: ArgumentDescription,
  path: string,
  values: Values,
  problems: Record<string, string>,
): string[] {
  if (argument.arguments) return writeInput(argument.name, argument.arguments, path, values, problems);
  const text = (values[path] ?? '').trim();
  if (text === '') return [];
  const { literal, problem } = readLiteral(argument, text);
  if (problem !== undefined) problems[path] = problem;
  return literal === undefined ? [] : [`${argument.name}: ${literal}`];
}

function writeInput(
  name: string,
  args: readonly ArgumentDescription[],
  path: string,
  values: Values,
  problems: Record<string, string>,
): string[] {
  const written = args.flatMap((inner) => writeArgument(inner, `${path}.${inner.name}`, values, problems));
  if (written.length === 0) return [];
  for (const inner of args) {
    const at = `${path}.${inner.name}`;
    if (inner.required && (values[at] ?? '').trim() === '') problems[at] = `${name} needs this too.`;
  }
  return [`${name}: {${written.join(', ')}}`];
}

/** A whole query of one file, to be copied. */
export const formatQuery = (path: string, field: string, args: string, results: readonly string[]): string => `{
  file(relativePath: {eq: ${JSON.stringify(path)}}) {
    childImageProc {
      ${field}${args} {
${results.map((name) => `        ${name}`).join('\n')}
      }
    }
  }
}`;
