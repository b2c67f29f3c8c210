import type { Row, SupportedRow } from '../row.js';

const section = 'Parameters';

/** Writes a contract with one operation that has a parameter. */
const withParameter = (parameter: string, path = '/items'): string => `paths:
  ${path}:
    get:
      operationId: getItems
      tags: [Items]
      summary: Get items
      parameters:
        - ${parameter}
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`;

const TYPES = {
  string: 'type: string',
  array: 'type: array, items: { type: string }',
  object: 'type: object, properties: { R: { type: integer }, G: { type: integer }, B: { type: integer } }',
} as const;

/** The values of the table, by the type of the parameter. */
const VALUES = { string: 'blue', array: ['blue', 'black', 'brown'], object: { R: 100, G: 200, B: 150 } } as const;

type Type = keyof typeof TYPES;

/**
 * The table "Style Examples" of OpenAPI 3.1.0, 4.8.12.4: the style, whether it explodes, and the text of each type. The
 * styles matrix and label are refused.
 */
const STYLE_EXAMPLES: readonly (readonly [string, boolean, Readonly<Partial<Record<Type, string>>>])[] = [
  ['form', false, { string: 'color=blue', array: 'color=blue,black,brown', object: 'color=R,100,G,200,B,150' }],
  ['form', true, { string: 'color=blue', array: 'color=blue&color=black&color=brown', object: 'R=100&G=200&B=150' }],
  ['simple', false, { string: 'blue', array: 'blue,black,brown', object: 'R,100,G,200,B,150' }],
  ['simple', true, { string: 'blue', array: 'blue,black,brown', object: 'R=100,G=200,B=150' }],
  ['spaceDelimited', false, { array: 'color=blue%20black%20brown', object: 'color=R%20100%20G%20200%20B%20150' }],
  ['pipeDelimited', false, { array: 'color=blue|black|brown', object: 'color=R|100|G|200|B|150' }],
  ['deepObject', true, { object: 'color[R]=100&color[G]=200&color[B]=150' }],
];

/** The places of each style that the table shows. */
const PLACES = { form: ['query', 'cookie'], simple: ['path', 'header'] } as const;

const styleRows = STYLE_EXAMPLES.flatMap(([style, explode, texts]) => {
  const places = style === 'form' || style === 'simple' ? PLACES[style] : (['query'] as const);
  return places.flatMap((place) =>
    Object.entries(texts).flatMap(([type, text]) =>
      place === 'cookie' && explode && type !== 'string'
        ? []
        : [toStyleRow({ style, explode, place }, type as Type, text)],
    ),
  );
});

interface Style {
  readonly style: string;
  readonly explode: boolean;
  readonly place: 'cookie' | 'header' | 'path' | 'query';
}

function toStyleRow({ style, explode, place }: Style, type: Type, text: string): SupportedRow {
  const required = place === 'path' ? ', required: true' : '';
  const parameter = `{ name: color, in: ${place}${required}, style: ${style}, explode: ${explode}, schema: { ${TYPES[type]} } }`;
  const part = { cookie: 'cookies', header: 'headers', path: 'params', query: 'query' }[place];
  const target = { cookie: '', header: '', path: `/${text}`, query: `?${text}` }[place];
  return {
    section,
    feature: `style ${style}, explode ${explode}, ${type} in ${place}`,
    outcome: 'supported',
    contract: withParameter(parameter, place === 'path' ? '/items/{color}' : '/items'),
    exchanges: [
      {
        request: `GET /items${target}`,
        ...(place === 'cookie' ? { headers: { cookie: `other=1; ${text}` } } : {}),
        ...(place === 'header' ? { headers: { color: text } } : {}),
        status: 200,
        response: { [part]: { color: VALUES[type] } },
      },
    ],
  };
}

const refusedStyle = (style: string): Row => ({
  section,
  feature: `style ${style}`,
  outcome: 'refused',
  contract: withParameter(
    `{ name: color, in: path, required: true, style: ${style}, schema: { type: string } }`,
    '/items/{color}',
  ),
  errors: [`8:59 Expected the style of a path parameter to be simple; received "${style}".`],
});

export const rows: readonly Row[] = [
  ...styleRows,
  refusedStyle('matrix'),
  refusedStyle('label'),
  {
    section,
    feature: 'a delimiter inside a value',
    note: 'Delimiters separate values; an encoded one belongs to a value.',
    outcome: 'supported',
    contract: withParameter(
      '{ name: tag, in: query, explode: false, schema: { type: array, maxItems: 2, items: { type: string } } }',
    ),
    exchanges: [
      { request: 'GET /items?tag=a%2Cb,c+d', status: 200, response: { query: { tag: ['a,b', 'c d'] } } },
      { request: 'GET /items?tag=', status: 200, response: { query: {} } },
      { request: 'GET /items?tag=a,b,c', status: 400, response: { code: 'invalid_input', field: 'tag' } },
    ],
  },
  {
    section,
    feature: 'a space or pipe as delimiter',
    note: 'URLs have it encoded, so no value can contain it: generated clients throw a `TypeError`. Beside pipes that are not encoded, an encoded one belongs to a value.',
    outcome: 'supported',
    contract: withParameter(
      '{ name: tag, in: query, style: pipeDelimited, schema: { type: array, items: { type: string } } }',
    ),
    exchanges: [
      { request: 'GET /items?tag=a%7Cb%7Cc', status: 200, response: { query: { tag: ['a', 'b', 'c'] } } },
      {
        request: 'GET /items?tag=a%7Cb|c',
        status: 200,
        response: { query: { tag: ['a|b', 'c'] } },
        isRepeated: false,
      },
    ],
  },
  {
    section,
    feature: 'an encoded delimiter in a path',
    outcome: 'supported',
    contract: withParameter(
      '{ name: ids, in: path, required: true, schema: { type: array, items: { type: string } } }',
      '/items/{ids}',
    ),
    exchanges: [{ request: 'GET /items/a%2Cb,c%2Fd', status: 200, response: { params: { ids: ['a,b', 'c/d'] } } }],
  },
  {
    section,
    feature: 'a required object without properties',
    note: 'In the styles that write its properties as names of their own, nothing is written.',
    outcome: 'supported',
    contract: withParameter(
      '{ name: page, in: query, required: true, schema: { type: object, properties: { size: { type: integer, default: 20 } } } }',
    ),
    program: `  const { data } = await client.GET('/items', { params: { query: { page: {} } } });
  assert.deepEqual(data?.query, { page: { size: 20 } });`,
    exchanges: [
      { request: 'GET /items', status: 200, response: { query: { page: { size: 20 } } } },
      { request: 'GET /items?size=1', status: 200, response: { query: { page: { size: 1 } } } },
    ],
  },
  {
    section,
    feature: 'a required object that lacks a required property',
    outcome: 'supported',
    contract: withParameter(
      '{ name: page, in: query, required: true, style: deepObject, schema: { type: object, required: [size], properties: { size: { type: integer } } } }',
    ),
    exchanges: [
      { request: 'GET /items?page[size]=1', status: 200, response: { query: { page: { size: 1 } } } },
      { request: 'GET /items', status: 400, response: { code: 'invalid_input', field: 'page.size' } },
    ],
  },
  {
    section,
    feature: 'constants as alternatives',
    note: 'The error lists their values, as that of an enum.',
    outcome: 'supported',
    contract: withParameter('{ name: order, in: query, schema: { oneOf: [{ const: asc }, { const: desc }] } }'),
    exchanges: [
      { request: 'GET /items?order=desc', status: 200, response: { query: { order: 'desc' } } },
      {
        request: 'GET /items?order=up',
        status: 400,
        response: { error: 'Expected order to be one of asc, desc; received "up".', field: 'order' },
      },
    ],
  },
  {
    section,
    feature: 'constants beside other alternatives',
    outcome: 'supported',
    contract: withParameter(
      `{ name: size, in: query, schema: { oneOf: [{ const: auto }, { type: integer }] } }
        - { name: order, in: query, schema: { oneOf: [{ const: asc }, { enum: [desc, none] }, { type: 'null' }] } }`,
    ),
    exchanges: [
      { request: 'GET /items?size=auto&order=none', status: 200, response: { query: { size: 'auto', order: 'none' } } },
      {
        request: 'GET /items?size=up',
        status: 400,
        response: { error: 'Expected size to match exactly one of its alternatives; received "up".', field: 'size' },
      },
      {
        request: 'GET /items?order=up',
        status: 400,
        response: { error: 'Expected order to be one of asc, desc, none; received "up".', field: 'order' },
      },
    ],
  },
  {
    section,
    feature: 'a list that may be null',
    note: 'As frameworks describe an optional list. It is a list also with one item. Null cannot be written: it is absent.',
    outcome: 'supported',
    contract: withParameter(
      "{ name: id, in: query, schema: { anyOf: [{ type: array, items: { type: integer } }, { type: 'null' }] } }",
    ),
    exchanges: [
      { request: 'GET /items?id=1', status: 200, response: { query: { id: [1] } } },
      { request: 'GET /items?id=1&id=2', status: 200, response: { query: { id: [1, 2] } } },
      { request: 'GET /items', status: 200, response: { query: {} } },
    ],
  },
  {
    section,
    feature: 'the type of list items',
    outcome: 'supported',
    contract: withParameter('{ name: id, in: query, schema: { type: array, items: { type: integer } } }'),
    exchanges: [
      { request: 'GET /items?id=1&id=2', status: 200, response: { query: { id: [1, 2] } } },
      { request: 'GET /items?id=1&id=x', status: 400, response: { code: 'invalid_input', field: 'id' } },
    ],
  },
  {
    section,
    feature: 'a free-form object',
    note: 'It receives the names that no other parameter has.',
    outcome: 'supported',
    contract: withParameter(`{ name: page, in: query, schema: { type: integer } }
        - { name: freeForm, in: query, schema: { type: object, additionalProperties: { type: integer } } }`),
    exchanges: [
      {
        request: 'GET /items?page=1&a=2&b=3',
        status: 200,
        response: { query: { page: 1, freeForm: { a: 2, b: 3 } } },
      },
      { request: 'GET /items?a=x', status: 400, response: { code: 'invalid_input', field: 'freeForm' } },
    ],
  },
  {
    section,
    feature: 'lists in a deepObject',
    outcome: 'supported',
    contract: withParameter(
      '{ name: f, in: query, style: deepObject, schema: { type: object, required: [tag], additionalProperties: false, properties: { tag: { type: array, items: { type: string } } } } }',
    ),
    exchanges: [
      {
        request: 'GET /items?f[tag]=a&f%5Btag%5D=b',
        status: 200,
        response: { query: { f: { tag: ['a', 'b'] } } },
      },
      { request: 'GET /items?f[x]=a', status: 400, response: { code: 'invalid_input', field: 'f.tag' } },
      { request: 'GET /items?f[tag]=a&f[__proto__]=b', status: 400, response: { code: 'invalid_input', field: 'f' } },
    ],
  },
  {
    section,
    feature: 'content application/json',
    outcome: 'supported',
    contract: withParameter(`name: point
          in: query
          content:
            application/json:
              schema: { type: object, required: [lat], properties: { lat: { type: number }, near: { type: array } } }`),
    exchanges: [
      {
        request: `GET /items?point=${encodeURIComponent('{"lat":1.5,"near":[{}]}')}`,
        status: 200,
        response: { query: { point: { lat: 1.5, near: [{}] } } },
      },
      { request: 'GET /items?point={', status: 400, response: { code: 'invalid_input', field: 'point' } },
      { request: 'GET /items?point={}', status: 400, response: { code: 'invalid_input', field: 'point.lat' } },
    ],
  },
  {
    section,
    feature: 'content of another media type',
    outcome: 'refused',
    contract: withParameter(`name: point
          in: query
          content: { application/xml: { schema: { type: string } } }`),
    errors: ['10:11 Expected application/json as the only content of a parameter.'],
  },
  {
    section,
    feature: 'neither schema nor content',
    outcome: 'refused',
    contract: withParameter('{ name: point, in: query }'),
    errors: ['8:11 The required field schema is missing in this parameter.'],
  },
  {
    section,
    feature: 'a nullable parameter',
    note: 'An empty value is null.',
    outcome: 'supported',
    contract: withParameter("{ name: limit, in: query, schema: { type: [integer, 'null'] } }"),
    exchanges: [
      { request: 'GET /items?limit=3', status: 200, response: { query: { limit: 3 } } },
      { request: 'GET /items?limit=', status: 200, response: { query: { limit: null } }, isRepeated: false },
      { request: 'GET /items?limit=x', status: 400, response: { code: 'invalid_input', field: 'limit' } },
    ],
  },
  {
    section,
    feature: 'oneOf of scalars',
    outcome: 'supported',
    contract: withParameter(
      '{ name: since, in: query, schema: { oneOf: [{ type: integer }, { type: string, enum: [today] }] } }',
    ),
    exchanges: [
      { request: 'GET /items?since=3', status: 200, response: { query: { since: 3 } } },
      { request: 'GET /items?since=today', status: 200, response: { query: { since: 'today' } } },
      { request: 'GET /items?since=x', status: 400, response: { code: 'invalid_input', field: 'since' } },
    ],
  },
  {
    section,
    feature: 'oneOf of a scalar and a list',
    note: 'Several values are a list.',
    outcome: 'supported',
    contract: withParameter(
      '{ name: cwe, in: query, schema: { oneOf: [{ type: string }, { type: array, items: { type: string } }] } }',
    ),
    exchanges: [
      { request: 'GET /items?cwe=1', status: 200, response: { query: { cwe: '1' } } },
      { request: 'GET /items?cwe=1&cwe=2', status: 200, response: { query: { cwe: ['1', '2'] } } },
    ],
  },
  {
    section,
    feature: 'lists of objects',
    note: 'JSON, as OpenAPI has no style that can write them. A warning.',
    outcome: 'supported',
    contract: withParameter(
      '{ name: filters, in: query, schema: { type: array, items: { type: object, properties: { size: { type: integer } } } } }',
    ),
    warnings: [
      '8:39 No style can write all values of the parameter "filters", such as objects in lists, so it is JSON.',
      '9:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [
      { request: 'GET /items?filters=[{"size":1}]', status: 200, response: { query: { filters: [{ size: 1 }] } } },
      { request: 'GET /items?filters=[{"size":"a"}]', status: 400 },
    ],
  },
  {
    section,
    feature: 'a parameter in a path that is not required',
    note: 'It is required. A warning.',
    outcome: 'supported',
    contract: withParameter('{ name: id, in: path, required: false, schema: { type: string } }', '/items/{id}'),
    warnings: [
      '8:43 The path parameter "id" is required, as every parameter in a path.',
      '9:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items/a', status: 200, response: { params: { id: 'a' } } }],
  },
  {
    section,
    feature: 'fields beside a $ref',
    note: 'OpenAPI ignores them outside of schemas. A warning.',
    outcome: 'supported',
    contract: `${withParameter("{ $ref: '#/components/parameters/tag', required: true }")}components:
  parameters:
    tag: { name: tag, in: query, schema: { type: string } }
`,
    warnings: [
      '8:50 "required" has no effect beside $ref.',
      '9:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { query: {} } }],
  },
  {
    section,
    feature: 'nested objects with style: deepObject',
    outcome: 'refused',
    contract: withParameter(
      '{ name: f, in: query, style: deepObject, schema: { type: object, properties: { a: { type: object } } } }',
    ),
    errors: [
      '8:93 Expected scalars, a list of scalars, or an object of both for the parameter "f". Use content with application/json for other values.',
    ],
  },
  {
    section,
    feature: 'deepObject of a scalar',
    outcome: 'refused',
    contract: withParameter('{ name: f, in: query, style: deepObject, schema: { type: string } }'),
    errors: ['8:40 Expected an object for the style deepObject.'],
  },
  {
    section,
    feature: 'pipeDelimited of a scalar',
    outcome: 'refused',
    contract: withParameter('{ name: f, in: query, style: pipeDelimited, schema: { type: string } }'),
    errors: ['8:40 Expected a list or an object with explode: false for the style pipeDelimited.'],
  },
  {
    section,
    feature: 'an exploded list in a cookie',
    outcome: 'refused',
    contract: withParameter('{ name: f, in: cookie, schema: { type: array, items: { type: string } } }'),
    errors: ['8:11 Expected explode: false for a list or an object in a cookie, which has one value.'],
  },
  {
    section,
    feature: 'a name of a cookie with a space',
    outcome: 'refused',
    contract: withParameter('{ name: a b, in: cookie, schema: { type: string } }'),
    errors: ['8:19 "a b" cannot be the name of a cookie.'],
  },
  {
    section,
    feature: 'a cookie parameter',
    outcome: 'supported',
    contract: withParameter('{ name: theme, in: cookie, required: true, schema: { type: string, maxLength: 5 } }'),
    exchanges: [
      {
        request: 'GET /items',
        headers: { cookie: 'a=b; theme=d%20k' },
        status: 200,
        response: { cookies: { theme: 'd k' } },
      },
      { request: 'GET /items', headers: { cookie: 'theme=longer' }, status: 400, response: { field: 'theme' } },
      { request: 'GET /items', status: 400, response: { field: 'theme' } },
    ],
  },
  {
    section,
    feature: 'a list in a header',
    outcome: 'supported',
    contract: withParameter('{ name: X-Ids, in: header, schema: { type: array, items: { type: integer } } }'),
    exchanges: [
      {
        request: 'GET /items',
        headers: { 'x-ids': '1, 2,3' },
        status: 200,
        response: { headers: { 'x-ids': [1, 2, 3] } },
      },
      { request: 'GET /items', headers: { 'x-ids': '1,x' }, status: 400, response: { field: 'x-ids' } },
    ],
  },
  {
    section,
    feature: 'allowEmptyValue',
    note: 'An empty value arrives as an empty string, whatever the schema is.',
    outcome: 'supported',
    contract: withParameter('{ name: flag, in: query, allowEmptyValue: true, schema: { type: boolean } }'),
    exchanges: [
      { request: 'GET /items?flag', status: 200, response: { query: { flag: '' } }, isRepeated: false },
      { request: 'GET /items?flag=true', status: 200, response: { query: { flag: true } } },
      { request: 'GET /items?flag=x', status: 400, response: { field: 'flag' } },
    ],
  },
  {
    section,
    feature: 'allowReserved',
    note: 'The server accepts reserved characters in any value of a query.',
    outcome: 'supported',
    contract: withParameter('{ name: path, in: query, allowReserved: true, schema: { type: string } }'),
    exchanges: [
      { request: 'GET /items?path=/a/b?c:d', status: 200, response: { query: { path: '/a/b?c:d' } } },
      { request: 'GET /items?path=%2Fa', status: 200, response: { query: { path: '/a' } } },
    ],
  },
  {
    section,
    feature: 'x-rest in the last segment',
    outcome: 'supported',
    contract: withParameter(
      '{ name: path, in: path, required: true, x-rest: true, schema: { type: string } }',
      '/items/{path}',
    ),
    exchanges: [
      { request: 'GET /items/a/b%20c', status: 200, response: { params: { path: 'a/b c' } }, isRepeated: false },
    ],
  },
  {
    section,
    feature: 'x-rest before the last segment',
    outcome: 'refused',
    contract: withParameter(
      '{ name: path, in: path, required: true, x-rest: true, schema: { type: string } }',
      '/items/{path}/raw',
    ),
    errors: ['8:11 x-rest is allowed on the last segment of "/items/{path}/raw" only; "path" is not the last.'],
  },
];
