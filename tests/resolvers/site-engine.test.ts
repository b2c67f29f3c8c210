import { getIntrospectionQuery, parse } from 'graphql';
import type { ExecutionResult, IntrospectionQuery } from 'graphql';
import { createSiteEngine } from '../../src/resolvers/site-engine.js';

const { schema, execute } = createSiteEngine();

/** The arguments that a field of images is asked with. */
async function argumentsOf(query: string, variableValues = {}): Promise<unknown> {
  let seen: unknown;
  const images = { answer: (_field: string, _source: object, args: object) => ((seen = args), { src: '' }) };
  const context = {
    records: { whenKnown: (read: () => unknown) => read(), find: () => ({ parent: 'a' }) },
    pictures: { known: () => ({}) },
    budget: { workInTurn: (read: () => unknown) => read() },
    images,
  };
  const result: ExecutionResult = await execute({
    schema,
    document: parse(query),
    variableValues,
    contextValue: context,
  });
  expect(result.errors).toBeUndefined();
  return seen;
}

test.each([
  ['nothing', '{ imageProc { fluid { src } } }', {}],
  ['what is written', '{ imageProc { fluid(maxWidth: 9, fit: FILL) { src } } }', { maxWidth: 9, fit: 'FILL' }],
  ['null', '{ imageProc { fixed(width: null) { src } } }', { width: null }],
  ['a variable that is set', 'query ($w: Int) { imageProc { fixed(width: $w) { src } } }', { width: 7 }],
  ['no variable that is not', 'query ($h: Int) { imageProc { fixed(height: $h) { src } } }', {}],
])('gives image fields %s, and no defaults', async (_what, query, args) => {
  await expect(argumentsOf(query, { w: 7 })).resolves.toEqual(args);
});

test('tells the defaults of image arguments to who asks about the schema', async () => {
  const { data } = await execute({ schema, document: parse(getIntrospectionQuery()) });
  const { types } = (data as unknown as IntrospectionQuery).__schema;
  const image = types.find(({ name }) => name === 'ImageProc');
  const fluid = image?.kind === 'OBJECT' ? image.fields.find(({ name }) => name === 'fluid') : undefined;
  expect(fluid?.args.find(({ name }) => name === 'background')?.defaultValue).toBe('"rgba(0,0,0,1)"');
  expect(fluid?.args.filter(({ defaultValue }) => defaultValue !== null)).toHaveLength(12);
});
