/** A small contract with one example of each feature. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OperationSpec, ParameterSpec, Validator } from '../../src/rest/operation.js';

const ajv = new Ajv2020({ strictRequired: false });

function validator(schema: object): Validator {
  return ajv.compile(schema) as Validator;
}

function parameter(spec: Partial<ParameterSpec> & Pick<ParameterSpec, 'in' | 'name'>): ParameterSpec {
  return { required: spec.in === 'path', type: 'string', list: false, rest: false, ...spec };
}

const json = (schema: object) => ({ contentTypes: ['application/json'], validate: validator(schema) });
const refusal = json({ type: 'object', required: ['error', 'code', 'requestId'] });
const empty = { contentTypes: [] };
const anything = json({});

const defaults = { security: [], parameters: [], validate: {} } as const;

export const sampleOperations: readonly OperationSpec[] = [
  {
    ...defaults,
    id: 'listNotes',
    method: 'get',
    path: '/notes',
    parameters: [
      parameter({ in: 'query', name: 'limit', type: 'integer' }),
      parameter({ in: 'query', name: 'ratio', type: 'number' }),
      parameter({ in: 'query', name: 'drafts', type: 'boolean' }),
      parameter({ in: 'query', name: 'tag', list: true }),
      parameter({ in: 'query', name: 'q' }),
      parameter({ in: 'header', name: 'X-Note' }),
    ],
    responses: { 200: anything, 400: refusal, 422: refusal },
    validate: {
      query: validator({
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, maximum: 500 }, q: { type: 'string', maxLength: 8 } },
      }),
      headers: validator({ type: 'object', properties: { 'X-Note': { type: 'string', pattern: '^[a-z]+$' } } }),
    },
  },
  {
    ...defaults,
    id: 'createNote',
    method: 'post',
    path: '/notes',
    security: [{ scheme: 'session', roles: [] }],
    body: { required: true, contentTypes: ['application/json'], maxBytes: 1_000 },
    responses: { 201: anything, 400: refusal },
    validate: {
      body: validator({
        type: 'object',
        required: ['title'],
        additionalProperties: false,
        dependentRequired: { street: ['town'] },
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 20 },
          kind: { enum: ['a', 'b'] },
          old: false,
          price: { type: 'number', multipleOf: 0.5 },
          street: { type: 'string' },
          town: { type: 'string' },
          lines: { type: 'array', items: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
        },
      }),
    },
  },
  {
    ...defaults,
    id: 'readNote',
    method: 'get',
    path: '/notes/{id}',
    parameters: [parameter({ in: 'path', name: 'id' })],
    responses: { 200: anything, 404: refusal },
  },
  {
    ...defaults,
    id: 'deleteNote',
    method: 'delete',
    path: '/notes/{id}',
    security: [
      { scheme: 'session', roles: ['admin'] },
      { scheme: 'token', roles: ['write'] },
    ],
    parameters: [parameter({ in: 'path', name: 'id' })],
    responses: { 204: empty },
  },
  {
    ...defaults,
    id: 'countNotes',
    method: 'get',
    path: '/notes/count',
    responses: { 200: json({ type: 'integer' }), 304: empty },
  },
  {
    ...defaults,
    id: 'renameFolder',
    method: 'put',
    path: '/folders/{name}',
    parameters: [parameter({ in: 'path', name: 'name', rest: true })],
    body: { required: false, contentTypes: ['application/json'], maxBytes: 100 },
    responses: { 200: anything, 422: refusal },
    validate: {
      params: validator({ type: 'object', properties: { name: { type: 'string', maxLength: 12 } } }),
    },
  },
  {
    ...defaults,
    id: 'readValue',
    method: 'get',
    path: '/notes/{id}/value',
    parameters: [parameter({ in: 'path', name: 'id' })],
    security: [
      { scheme: 'session', roles: [] },
      { scheme: 'consumerToken', roles: [] },
    ],
    responses: { 200: { contentTypes: ['application/octet-stream'] } },
  },
];
