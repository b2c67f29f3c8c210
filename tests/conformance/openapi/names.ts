import type { Row } from '../row.js';

const section = 'Names and numbers in JavaScript';

const JSON_BODY = { 'content-type': 'application/json' };

/** A contract with one operation that echoes its input. */
const echo = (lines: string, path = '/items'): string => `paths:
  ${path}:
    post:
      operationId: sendItem
      tags: [Items]
${lines}
      responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } }
`;

/** The schema of a JSON body, in one line. */
const body = (schema: string): string =>
  `      requestBody: { required: true, content: { application/json: { schema: ${schema} } } }`;

const nest = (depth: number, text: string): string => '{"next":'.repeat(depth) + text + '}'.repeat(depth);

export const rows: readonly Row[] = [
  {
    section,
    feature: 'properties such as constructor, toString and class',
    note: 'Every object inherits some of these. Only an own property counts.',
    outcome: 'supported',
    contract: echo(
      body(
        '{ type: object, required: [toString], properties: { toString: {}, constructor: { type: integer }, class: { type: string }, größe: { type: string } } }',
      ),
    ),
    exchanges: [
      { request: 'POST /items', headers: JSON_BODY, body: '{}', status: 400, response: { field: 'toString' } },
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: '{"toString":1,"größe":"m"}',
        status: 200,
        response: { body: { toString: 1, größe: 'm' } },
      },
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: '{"toString":1,"constructor":"a"}',
        status: 400,
        response: { field: 'constructor' },
      },
    ],
  },
  {
    section,
    feature: 'operations such as delete, eval, operations and createCall',
    note: 'Their functions end in an underscore: `delete_`.',
    outcome: 'supported',
    contract: `paths:
${['delete', 'eval', 'operations', 'createCall', 'undefined', 'then', 'hasOwnProperty']
  .map(
    (id) =>
      `  /${id}: { get: { operationId: ${id}, tags: [Items], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }`,
  )
  .join('\n')}
`,
    exchanges: [
      { request: 'GET /delete', status: 200 },
      { request: 'GET /createCall', status: 200 },
      { request: 'GET /hasOwnProperty', status: 200 },
    ],
  },
  {
    section,
    feature: 'schemas whose names differ in case or punctuation only',
    outcome: 'supported',
    contract: `paths:
  /a: { get: { operationId: getA, tags: [Items], responses: { '200': { description: A., content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } } } } }
  /b: { get: { operationId: getB, tags: [Items], responses: { '200': { description: B., content: { application/json: { schema: { $ref: '#/components/schemas/item' } } } } } } }
components:
  schemas:
    Item: { type: object, required: [x], properties: { x: { type: string } } }
    item: { type: object, required: [y], properties: { y: { type: string } } }
`,
    handlers: `async getA() { return { status: 200, body: { x: 'a' } }; },
async getB() { return { status: 200, body: { y: 'b' } }; },`,
    exchanges: [
      { request: 'GET /a', status: 200, response: { x: 'a' } },
      { request: 'GET /b', status: 200, response: { y: 'b' } },
    ],
  },
  {
    section,
    feature: 'schemas and tags whose names start with a digit',
    note: 'Generated names start with an underscore.',
    outcome: 'supported',
    contract: `tags: [{ name: 2FA, description: Codes. }]
paths:
  /a: { post: { operationId: sendA, tags: [2FA], requestBody: { $ref: '#/components/requestBodies/3d' }, responses: { '200': { description: A., content: { application/json: { schema: { $ref: '#/components/schemas/3DModel' } } } } } } }
components:
  requestBodies:
    3d: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/3DModel' } } } }
  schemas:
    3DModel: { type: array, items: { anyOf: [{ type: string }, { $ref: '#/components/schemas/3DModel' }] } }
`,
    handlers: `async sendA({ body }) { return { status: 200, body }; },`,
    exchanges: [
      {
        request: 'POST /a',
        headers: { 'content-type': 'application/json' },
        body: '["a", ["b"]]',
        status: 200,
        response: ['a', ['b']],
      },
      { request: 'POST /a', headers: { 'content-type': 'application/json' }, body: '[1]', status: 400 },
    ],
    program: `const { data } = await client.POST('/a', { body: ['a', ['b']] });
assert.deepEqual(data, ['a', ['b']]);`,
  },
  {
    section,
    feature: 'tags in any script',
    outcome: 'supported',
    contract: `tags: [{ name: 用户 API, description: Users. }, { name: 订单 API, description: Orders. }]
paths:
  /a: { get: { operationId: getA, tags: [用户 API], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
  /b: { get: { operationId: getB, tags: [订单 API], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
`,
    exchanges: [
      { request: 'GET /a', status: 200 },
      { request: 'GET /b', status: 200 },
    ],
  },
  {
    section,
    feature: 'a tag with the name of the service, beside others',
    note: 'Its handlers are those of the group `<name> tag`.',
    outcome: 'supported',
    contract: `tags: [{ name: Example, description: Examples. }, { name: Others, description: Others. }]
paths:
  /a: { get: { operationId: getA, tags: [Example], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
  /b: { get: { operationId: getB, tags: [Others], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
`,
    exchanges: [
      { request: 'GET /a', status: 200 },
      { request: 'GET /b', status: 200 },
    ],
  },
  {
    section,
    feature: 'a tag without letters and digits',
    outcome: 'refused',
    contract: `tags: [{ name: '-', description: Others. }]
paths:
  /a: { get: { operationId: getA, tags: ['-'], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
`,
    errors: ['1:16 Expected the tag to have a letter or a digit, as types are named after it; received "-".'],
  },
  {
    section,
    feature: 'operationIds that differ in case or punctuation only',
    note: 'The name that is not in camelCase gets a number, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /a: { get: { operationId: get-item, tags: [Items], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
  /b: { get: { operationId: getItem, tags: [Items], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
`,
    warnings: [
      '2:9 The operation has no summary.',
      '2:29 The operationId "get-item" is not a camelCase name such as listTokens; its handler is getItem2.',
      '2:54 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '3:9 The operation has no summary.',
      '3:53 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [
      { request: 'GET /a', status: 200 },
      { request: 'GET /b', status: 200 },
    ],
  },
  {
    section,
    feature: 'paths without operationId whose names are equal',
    note: 'The second handler is `getBA2`, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /b-a: { get: { responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
  /b_a: { get: { responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
`,
    warnings: [
      '2:11 The operation has no operationId; its handler is getBA.',
      '2:11 The operation has no summary.',
      '2:11 The operation has no tag; its handler is in the group "default".',
      '2:18 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '3:11 The operation has no operationId; its handler is getBA2.',
      '3:11 The operation has no summary.',
      '3:11 The operation has no tag; its handler is in the group "b_a".',
      '3:18 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '7:7 The tag "b_a" has no description.',
      '7:7 The tag "default" has no description.',
    ],
    exchanges: [
      { request: 'GET /b-a', status: 200 },
      { request: 'GET /b_a', status: 200 },
    ],
  },
  {
    section,
    feature: 'paths with percent-encoding or letters beyond ASCII',
    note: 'Paths are compared after decoding.',
    outcome: 'supported',
    contract: `paths:
  /odd%20path/ü/a~1b: { get: { operationId: getOdd, tags: [Items], responses: { '200': { $ref: 'common.yaml#/components/responses/Echo' } } } }
`,
    exchanges: [
      { request: 'GET /odd%20path/%C3%BC/a~1b', status: 200 },
      { request: 'GET /odd%2520path/%C3%BC/a~1b', status: 404 },
    ],
  },
  {
    section,
    feature: 'an integer that JavaScript rounds',
    note: 'Integers in requests are at most 2^53 - 1, whatever their format.',
    outcome: 'supported',
    contract: echo(body('{ type: object, properties: { n: { type: integer, format: int64 } } }')),
    exchanges: [
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: '{"n":9007199254740991}',
        status: 200,
        response: { body: { n: Number.MAX_SAFE_INTEGER } },
      },
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: '{"n":9007199254740993}',
        status: 400,
        response: { field: 'n' },
      },
    ],
  },
  {
    section,
    feature: 'a number that JavaScript reads as infinite',
    note: 'The body is malformed, as JSON could not send the number back.',
    outcome: 'supported',
    contract: echo(body('{ type: object, properties: { n: { type: number } } }')),
    exchanges: [
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: '{"n":1e308}',
        status: 200,
        response: { body: { n: 1e308 } },
      },
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: '{"n":1e309}',
        status: 400,
        response: { code: 'malformed_body' },
      },
    ],
  },
  {
    section,
    feature: 'a property named __proto__',
    outcome: 'refused',
    contract: echo(body('{ type: object, properties: { __proto__: { type: string } } }')),
    errors: ['6:107 The name "__proto__" is reserved by JavaScript.'],
  },
  {
    section,
    feature: 'a parameter named __proto__',
    outcome: 'refused',
    contract: echo('      parameters: [{ name: __proto__, in: query, schema: { type: string } }]'),
    errors: ['6:28 The name "__proto__" is reserved by JavaScript.'],
  },
  {
    section,
    feature: 'a default of a property that every object inherits',
    outcome: 'refused',
    contract: echo(body('{ type: object, properties: { valueOf: { type: integer, default: 3 } } }')),
    errors: ['6:133 "valueOf" cannot have a default, as every object inherits a value of that name.'],
  },
  {
    section,
    feature: 'a default of a parameter that every object inherits',
    outcome: 'refused',
    contract: echo('      parameters: [{ name: toString, in: query, schema: { type: string, default: a } }]'),
    errors: ['6:73 "toString" cannot have a default, as every object inherits a value of that name.'],
  },
  {
    section,
    feature: 'headers whose names differ in case only',
    outcome: 'refused',
    contract: echo(
      '      parameters: [{ name: X-A, in: header, schema: { type: string } }, { name: x-a, in: header, schema: { type: string } }]',
    ),
    errors: ['6:73 post /items declares the header parameter "x-a" twice.'],
  },
  {
    section,
    feature: 'a path with . or .. as a segment',
    outcome: 'refused',
    contract: echo('', '/a/../b'),
    errors: ['2:3 Expected segments with complete percent-encoding, other than "." and ".."; received "..".'],
  },
  {
    section,
    feature: 'incomplete percent-encoding in a path',
    outcome: 'refused',
    contract: echo('', '/a/100%'),
    errors: ['2:3 Expected segments with complete percent-encoding, other than "." and ".."; received "100%".'],
  },
  {
    section,
    feature: 'a YAML alias inside its own anchor',
    outcome: 'refused',
    contract: echo(body('&s { type: object, properties: { self: *s } }')),
    errors: ['6:116 The alias "*s" is circular. Use $ref.'],
  },
  {
    section,
    feature: 'hundreds of schemas that lead to each other',
    outcome: 'supported',
    contract: `${echo(body("{ $ref: '#/components/schemas/S1' }"))}components:
  schemas:
${Array.from({ length: 200 }, (_, at) => `    S${at + 1}: { type: object, properties: { id: { type: integer }, next: { $ref: '#/components/schemas/S${((at + 1) % 200) + 1}' }, first: { $ref: '#/components/schemas/S1' } } }\n`).join('')}`,
    exchanges: [
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: nest(60, '{"id":1,"first":{"id":2}}'),
        status: 200,
      },
      {
        request: 'POST /items',
        headers: JSON_BODY,
        body: nest(3, '{"first":{"next":{"id":"a"}}}'),
        status: 400,
        response: { code: 'invalid_input', field: 'next.next.next.first.next.id' },
      },
    ],
  },
  {
    section,
    feature: 'more than 1,000 schemas that only refer to the next',
    outcome: 'refused',
    contract: `${echo(body("{ $ref: '#/components/schemas/S1' }"))}components:
  schemas:
${Array.from({ length: 1000 }, (_, at) => `    S${at + 1}: { $ref: '#/components/schemas/S${at + 2}' }\n`).join('')}    S1001: { type: string }
`,
    errors: ['10:5 Expected at most 1000 schemas that only refer to the next; received 1001.'],
  },
  {
    section,
    feature: 'YAML merge keys',
    note: 'A mapping with `<<` has the members of another one, unless it has its own.',
    outcome: 'supported',
    contract: `x-base: &base { type: object, required: [id], properties: { id: { type: string } } }
${echo(body('{ <<: *base, required: [] }'))}`,
    exchanges: [
      { request: 'POST /items', headers: JSON_BODY, body: '{}', status: 200, response: { body: {} } },
      { request: 'POST /items', headers: JSON_BODY, body: '{"id":1}', status: 400, response: { field: 'id' } },
    ],
  },
  {
    section,
    feature: 'a mistake behind a YAML merge key',
    outcome: 'refused',
    contract: `x-base: &base { type: txt }
${echo(body('{ <<: *base }'))}`,
    errors: ['1:23 Expected type to be one of array, boolean, integer, null, number, object, string; received "txt".'],
  },
  {
    section,
    feature: 'a YAML merge key without a mapping',
    outcome: 'refused',
    contract: echo(body('{ <<: text }')),
    errors: ['6:79 Expected "<<" to have a mapping, or a list of mappings.'],
  },
  {
    section,
    feature: 'a YAML alias without an anchor',
    outcome: 'refused',
    contract: echo(body('*item')),
    errors: ['6:77 No anchor "&item" before this alias.'],
  },
  {
    section,
    feature: 'a YAML tag that JSON has no values for',
    outcome: 'refused',
    contract: echo(body('{ default: !!binary aGk= }')),
    errors: ['6:88 Unresolved tag: tag:yaml.org,2002:binary.'],
  },
  {
    section,
    feature: 'YAML aliases of aliases of aliases',
    outcome: 'refused',
    contract: `x-a: &a [1,1,1,1,1,1,1,1,1,1]
x-b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
x-c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
x-d: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
paths: {}
`,
    errors: ['1:1 The aliases of the document repeat too many values.'],
  },
];
