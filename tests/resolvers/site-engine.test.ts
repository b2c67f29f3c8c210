import { execute as executePlainly, getIntrospectionQuery, parse } from 'graphql';
import type { ExecutionResult, IntrospectionQuery } from 'graphql';
import { ALLOW_ALL } from '../../src/resolvers/stored-arguments.js';
import { createSiteEngine } from '../../src/resolvers/site-engine.js';

const { schema, execute } = createSiteEngine();

/** What resolvers of images are given, with the arguments that they ask for images with. */
const contextOf = (onArguments: (args: object) => void) => ({
  records: { whenKnown: (read: () => unknown) => read(), find: () => ({ parent: 'a' }) },
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
  ['nothing', '{ imageProc { fluid { src } } }', { ...DEFAULTS, srcSetBreakpoints: [] }],
  [
    'what is written',
    '{ imageProc { fluid(maxWidth: 9, fit: FILL) { src } } }',
    { ...DEFAULTS, maxWidth: 9, fit: 'FILL' },
  ],
  ['null', '{ imageProc { fixed(width: null) { src } } }', { ...DEFAULTS, width: null }],
  ['a variable', 'query ($w: Int) { imageProc { fixed(width: $w) { src } } }', { ...DEFAULTS, width: 7 }],
  ['an object', '{ imageProc { resize(traceSVG: { threshold: 9 }) { src } } }', { traceSVG: { threshold: 9 } }],
])('gives image fields %s', async (_what, query, args) => {
  const seen = await argumentsOf(query, { w: 7 });
  expect(seen).toMatchObject(args);
  // As the whole schema would, by the engine's own way.
  const document = parse(query);
  let plain: unknown;
  const context = contextOf((given) => (plain = given));
  await executePlainly({ schema, document, variableValues: { w: 7 }, contextValue: context });
  expect(seen).toEqual(plain);
});

test('gives a variable that is not set no place', async () => {
  const seen = await argumentsOf('query ($h: Int) { imageProc { fixed(height: $h) { src } } }');
  expect(seen).not.toHaveProperty('height');
});

test('keeps the arguments of two requests and of two fields apart', async () => {
  const query = 'query ($w: Int) { imageProc { fixed(width: $w) { src } } }';
  const document = parse(query);
  const seen: unknown[] = [];
  const context = contextOf((args) => seen.push((args as { width: number }).width));
  for (const w of [1, 2]) await execute({ schema, document, variableValues: { w }, contextValue: context });
  const two = parse('{ imageProc { a: fixed(width: 3) { src } b: fixed(width: 4) { src } } }');
  await execute({ schema, document: two, contextValue: context });
  expect(seen).toEqual([1, 2, 3, 4]);
});

test('tells the defaults of image arguments to who asks about the schema', async () => {
  const { data } = await execute({ schema, document: parse(getIntrospectionQuery()) });
  const { types } = (data as unknown as IntrospectionQuery).__schema;
  const image = types.find(({ name }) => name === 'ImageProc');
  const fluid = image?.kind === 'OBJECT' ? image.fields.find(({ name }) => name === 'fluid') : undefined;
  expect(fluid?.args.find(({ name }) => name === 'background')?.defaultValue).toBe('"rgba(0,0,0,1)"');
  expect(fluid?.args.filter(({ defaultValue }) => defaultValue !== null)).toHaveLength(12);
});
