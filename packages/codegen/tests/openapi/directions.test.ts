import type { ContractDocument } from '../../src/openapi/contract.js';
import { splitDirections, toDirection, withoutAbsent } from '../../src/openapi/directions.js';

const ID = { type: 'integer', readOnly: true };
const KEY = { type: 'string', writeOnly: true };

test.each([
  [
    'a read-only property is removed from requests and not required',
    'request',
    { required: ['id', 'name'], properties: { id: ID, name: {} } },
    { required: ['name'], properties: { id: { absent: true }, name: {} } },
  ],
  [
    'a write-only property is refused in responses and not required',
    'response',
    { required: ['key'], properties: { key: KEY } },
    { required: [], properties: { key: { absent: true, not: {} } } },
  ],
  [
    'both are optional in examples of a schema',
    'any',
    { required: ['id', 'key', 'name'], properties: { id: ID, key: KEY } },
    { required: ['name'], properties: { id: ID, key: KEY } },
  ],
  [
    'a property is read-only by the schema that it refers to',
    'request',
    { properties: { id: { $ref: '#/components/schemas/Id' } } },
    { properties: { id: { absent: true } } },
  ],
  [
    'a composition does not require what one of its parts hides',
    'request',
    { allOf: [{ properties: { id: ID } }, { required: ['id', 'name'] }] },
    { allOf: [{ properties: { id: { absent: true } } }, { required: ['name'] }] },
  ],
  [
    'a nested object requires a property of the same name',
    'request',
    { properties: { id: ID, home: { required: ['id'], properties: { id: {} } } } },
    { properties: { id: { absent: true }, home: { required: ['id'], properties: { id: {} } } } },
  ],
  [
    'properties named like keywords are properties',
    'request',
    { properties: { required: { type: 'array' }, default: { properties: { id: ID } } } },
    { properties: { required: { type: 'array' }, default: { properties: { id: { absent: true } } } } },
  ],
] as const)('toDirection: %s', (_reason, direction, given, want) => {
  expect(toDirection(given, direction, { Id: ID })).toEqual(want);
});

const toDocument = (schemas: object, schema: object): ContractDocument =>
  ({
    paths: {
      '/notes': {
        post: {
          requestBody: { content: { 'application/json': { schema } } },
          responses: { 200: { content: { 'application/json': { schema } } } },
        },
      },
    },
    components: { schemas },
  }) as unknown as ContractDocument;

describe('splitDirections', () => {
  test('returns a document without such properties as it is', () => {
    const document = toDocument({ Note: { type: 'object' } }, { $ref: '#/components/schemas/Note' });
    expect(splitDirections(document)).toBe(document);
  });

  test('refers requests to forms of their own, also of the schemas around them', () => {
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const schemas = { Note: { properties: { id: ID } }, Notes: { items: ref('Note') }, Tag: {} };
    const split = splitDirections(toDocument(schemas, ref('Notes')));
    expect(split.paths['/notes']).toEqual({
      post: {
        requestBody: { content: { 'application/json': { schema: ref('Notes.request') } } },
        responses: { 200: { content: { 'application/json': { schema: ref('Notes') } } } },
      },
    });
    expect(withoutAbsent(split.components?.schemas)).toEqual({
      Note: { properties: { id: ID } },
      'Note.request': { properties: {} },
      Notes: { items: ref('Note') },
      'Notes.request': { items: ref('Note.request') },
      Tag: {},
    });
  });

  test('chooses a name that is free', () => {
    const schemas = { Note: { properties: { id: ID } }, 'Note.request': {} };
    const split = splitDirections(toDocument(schemas, {}));
    expect(Object.keys(split.components?.schemas ?? {})).toEqual(['Note', 'Note.request_', 'Note.request']);
  });
});
