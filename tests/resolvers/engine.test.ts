import { createSchemaEngine } from '@trellis/site/graphql/site-schema';
import {
  execute as executePlainly,
  type ExecutionResult,
  getIntrospectionQuery,
  type IntrospectionQuery,
  parse,
} from 'graphql';
import { ALLOW_ALL } from '../../src/resolvers/stored-arguments.js';
import { siteSchema } from './site-schema.js';

const { schema, execute } = createSchemaEngine(siteSchema);

/** Creates a context that reports the arguments that the resolvers of images receive. */
const contextOf = (onArguments: (args: object) => void) => ({
  records: { withComputedValues: (read: () => unknown) => read(), find: () => ({ parent: 'a' }) },
  pictures: { known: () => ({}) },
  imagePolicy: ALLOW_ALL,
  budget: { workInTurn: (read: () => unknown) => read() },
  images: { answer: (_field: string, _source: object, args: object) => (onArguments(args), { src: '' }) },
});

async function argumentsOf(query: string, variableValues = {}): Promise<unknown> {
  let seen: unknown;
  const contextValue = contextOf((args) => (seen = args));
  const result: ExecutionResult = await execute({ schema, document: parse(query), variableValues, contextValue });
  expect(result.errors).toBeUndefined();
  return seen;
}

const DEFAULTS = { fit: 'COVER', cropFocus: 'ATTENTION', rotate: 0, background: 'rgba(0,0,0,1)' };

test.each([
  ['no arguments', '{ imageProc { fluid { src } } }', { ...DEFAULTS, srcSetBreakpoints: [] }],
  ['literals', '{ imageProc { fluid(maxWidth: 9, fit: FILL) { src } } }', { ...DEFAULTS, maxWidth: 9, fit: 'FILL' }],
  ['null', '{ imageProc { fixed(width: null) { src } } }', { ...DEFAULTS, width: null }],
  ['a variable', 'query ($w: Int) { imageProc { fixed(width: $w) { src } } }', { ...DEFAULTS, width: 7 }],
  ['an object', '{ imageProc { resize(traceSVG: { threshold: 9 }) { src } } }', { traceSVG: { threshold: 9 } }],
])('the site engine coerces the arguments of image fields like graphql-js: %s', async (_what, query, args) => {
  const seen = await argumentsOf(query, { w: 7 });
  expect(seen).toMatchObject(args);
  // Compares with plain execution on the schema that has all arguments.
  const document = parse(query);
  let plain: unknown;
  const context = contextOf((given) => (plain = given));
  await executePlainly({ schema, document, variableValues: { w: 7 }, contextValue: context });
  expect(seen).toEqual(plain);
});

test('the site engine omits arguments whose variable is not set', async () => {
  const seen = await argumentsOf('query ($h: Int) { imageProc { fixed(height: $h) { src } } }');
  expect(seen).not.toHaveProperty('height');
});

test('the site engine does not mix the arguments of different requests or fields', async () => {
  const query = 'query ($w: Int) { imageProc { fixed(width: $w) { src } } }';
  const document = parse(query);
  const seen: unknown[] = [];
  const context = contextOf((args) => seen.push((args as { width: number }).width));
  for (const w of [1, 2]) await execute({ schema, document, variableValues: { w }, contextValue: context });
  const two = parse('{ imageProc { a: fixed(width: 3) { src } b: fixed(width: 4) { src } } }');
  await execute({ schema, document: two, contextValue: context });
  expect(seen).toEqual([1, 2, 3, 4]);
});

test('the site engine includes the defaults of image arguments in introspection', async () => {
  const { data } = await execute({ schema, document: parse(getIntrospectionQuery()) });
  const { types } = (data as unknown as IntrospectionQuery).__schema;
  const image = types.find(({ name }) => name === 'ImageProc');
  const fluid = image?.kind === 'OBJECT' ? image.fields.find(({ name }) => name === 'fluid') : undefined;
  expect(fluid?.args.find(({ name }) => name === 'background')?.defaultValue).toBe('"rgba(0,0,0,1)"');
  expect(fluid?.args.filter(({ defaultValue }) => defaultValue !== null)).toHaveLength(12);
});
