import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { createQuerySerializer, defaultPathSerializer } from 'openapi-fetch';
import {
  readCookieParameters,
  readHeaderParameters,
  readPathParameters,
  readQueryParameters,
} from '../../src/rest/input.js';
import type { OperationSpec, ParameterSpec } from '../../src/rest/operation.js';

/** An operation with one parameter, `color`. */
const withColor = (spec: Partial<ParameterSpec> & Pick<ParameterSpec, 'in'>): OperationSpec => ({
  id: 'getItems',
  method: 'get',
  path: '/items',
  security: [],
  parameters: [{ name: 'color', required: false, type: 'string', list: false, rest: false, ...spec }],
  responses: {},
  validate: {},
});

const INTEGERS = { type: 'integer', list: false } as const;
const COLOR = { type: [], properties: { R: INTEGERS, G: INTEGERS, B: INTEGERS } } as const;

/** Text without a delimiter of its own, which the styles spaceDelimited and pipeDelimited can't write. */
const plain = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !/[\0 |]|\p{Surrogate}/u.test(text));
const lists = fc.array(plain, { minLength: 1, maxLength: 5 });
const colors = fc.record({ R: fc.integer(), G: fc.integer(), B: fc.integer() });

describe('query parameters that openapi-fetch has written', () => {
  test.each([
    ['form', true, {}],
    ['form', false, { explode: false }],
    ['spaceDelimited', false, { style: 'spaceDelimited' }],
    ['pipeDelimited', false, { style: 'pipeDelimited' }],
  ] as const)('are read in the style %s, explode %s', (style, explode, spec) => {
    const operation = withColor({ in: 'query', list: true, ...spec });
    const serialize = createQuerySerializer<object>({ array: { style, explode } });
    fc.assert(
      fc.property(lists, (color) => {
        expect(readQueryParameters(operation, serialize({ color }))).toEqual({ color });
      }),
    );
  });

  test.each([
    ['deepObject', true, { style: 'deepObject' }],
    ['form', true, {}],
    ['form', false, { explode: false }],
  ] as const)('are read as objects in the style %s, explode %s', (style, explode, spec) => {
    const operation = withColor({ in: 'query', ...COLOR, list: false, ...spec });
    const serialize = createQuerySerializer<object>({ object: { style, explode } });
    fc.assert(
      fc.property(colors, (color) => {
        expect(readQueryParameters(operation, serialize({ color }))).toEqual({ color });
      }),
    );
  });
});

test.each([
  ['pipeDelimited', 'color=a%7Cb|c', ['a|b', 'c'], 'pipes that are not encoded'],
  ['pipeDelimited', 'color=a%7Cb%7Cc', ['a', 'b', 'c'], 'encoded pipes'],
  ['spaceDelimited', 'color=a+b%20c', ['a', 'b', 'c'], 'spaces, which have two codes'],
] as const)('reads the style %s from %s as %j, separated by %s', (style, query, color, _separator) => {
  expect(readQueryParameters(withColor({ in: 'query', list: true, style }), query)).toEqual({ color });
});

describe('path parameters that openapi-fetch has written', () => {
  test.each([
    ['{color}', {}],
    ['{color*}', { explode: true }],
  ] as const)('are read from %s as lists and objects', (template, spec) => {
    fc.assert(
      fc.property(lists, colors, (list, color) => {
        const path = (value: unknown): string => defaultPathSerializer(template, { color: value });
        const asList = withColor({ in: 'path', list: true, ...spec });
        const asObject = withColor({ in: 'path', ...COLOR, list: false, ...spec });
        expect(readPathParameters(asList, { color: path(list) })).toEqual({ color: list });
        expect(readPathParameters(asObject, { color: path(color) })).toEqual({ color });
      }),
    );
  });
});

const request = (headers: Readonly<Record<string, string>>): IncomingMessage =>
  ({
    headers,
    headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, [text]])),
  }) as unknown as IncomingMessage;

test.each([
  ['a cookie in quotes', { in: 'cookie' }, 'blue'],
  ['a list in a cookie', { in: 'cookie', list: true, explode: false }, ['blue']],
] as const)('reads %s', (_reason, spec, color) => {
  expect(readCookieParameters(withColor(spec), request({ cookie: 'a=b; color="blue"; c' }))).toEqual({ color });
});

test('rejects a cookie that is repeated hundreds of thousands of times before the test times out', () => {
  const sent = request({ cookie: 'color=a;'.repeat(250_000) });
  expect(() => readCookieParameters(withColor({ in: 'cookie' }), sent)).toThrow('received it 250000 times');
});

test('reads the id of the last event in UTF-8, in which browsers send it', () => {
  const operation = withColor({ in: 'header', name: 'Last-Event-ID' });
  const sent = Buffer.from('é€0').toString('latin1');
  expect(readHeaderParameters(operation, request({ 'last-event-id': sent }))).toEqual({ 'Last-Event-ID': 'é€0' });
});

test('keeps a percent sign in a header', () => {
  expect(readHeaderParameters(withColor({ in: 'header' }), request({ color: '100%20' }))).toEqual({ color: '100%20' });
});

test.each([
  [
    'an odd number of names and values',
    'color=R,100,G',
    { explode: false },
    'must be a list of names and values in turn',
  ],
  ['a repeated property', 'R=1&R=2', {}, 'must not be repeated; received it 2 times'],
  ['text for a number', 'R=x', {}, 'must be an integer; received "x"'],
  ['__proto__', 'color[__proto__]=1', { style: 'deepObject' }, 'must not have a property "__proto__"'],
] as const)('rejects %s in an object', (_reason, query, spec, message) => {
  const operation = withColor({ in: 'query', ...COLOR, list: false, ...spec });
  expect(() => readQueryParameters(operation, query)).toThrow(`The query parameter "color" ${message}.`);
});
