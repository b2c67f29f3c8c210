import { TRANSFORM_FIELDS } from './transform.js';
import type { TransformField, ArgumentTexts } from './transform.js';

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
export function parseTransformUrl(query: URLSearchParams): TransformForm | undefined {
  const shape = TRANSFORM_FIELDS.find(({ name }) => name === query.get('make')) ?? TRANSFORM_FIELDS[0];
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
