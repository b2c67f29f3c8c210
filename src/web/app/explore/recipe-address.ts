import { SHAPES } from './recipe.js';
import type { Shape, Values } from './recipe.js';

/** All that the form says. */
export interface Recipe {
  readonly shape: Shape;
  readonly values: Values;
  readonly results: readonly string[];
}

/** What an address says beside arguments. */
const OWN = ['file', 'make', 'results'];

/** More than any argument needs. */
const MAX_LENGTH = 500;

/** The recipe that an address holds, so that it can be linked to; what the schema does not know is left out. */
export function readRecipe(query: URLSearchParams): Recipe | undefined {
  const shape = SHAPES.find(({ name }) => name === query.get('make')) ?? SHAPES[0];
  if (shape === undefined) return undefined;
  const values = [...query].filter(([name]) => !OWN.includes(name));
  const results = query.get('results')?.split(' ') ?? shape.results;
  return {
    shape,
    values: Object.fromEntries(values.map(([name, value]) => [name, value.slice(0, MAX_LENGTH)])),
    results: shape.field.results.map(({ name }) => name).filter((name) => results.includes(name)),
  };
}

/** The inverse; what is as usual is left out. */
export function formatRecipe(file: string, { shape, values, results }: Recipe): string {
  const isUsual = results.join() === shape.results.join();
  return `/explore/recipe?${new URLSearchParams([
    ['file', file],
    ['make', shape.name],
    ...(isUsual ? [] : [['results', results.join(' ')]]),
    ...Object.entries(values).filter(([, value]) => value !== ''),
  ]).toString()}`;
}
