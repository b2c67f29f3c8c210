import type { Row } from '../row.js';

const section = 'Responses';

export const rows: readonly Row[] = [
  {
    section,
    feature: 'a status',
    note: 'The handler returns one of the declared statuses with the body of that status. Another status or body is a mistake of the server: 500, and the reason in its log.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters:
        - { name: id, in: query, schema: { type: integer } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      { request: 'GET /items?id=7', status: 200, response: { query: { id: 7 } } },
      { request: 'GET /items?id=x', status: 400, response: { code: 'invalid_input', field: 'id' } },
    ],
  },
  {
    section,
    feature: 'a body that the contract does not allow',
    note: 'Responses are validated if the server is configured to do so.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: JSON.parse('{}') as never }),`,
    exchanges: [{ request: 'GET /items', status: 500, response: { code: 'internal' } }],
  },
  {
    section,
    feature: 'several statuses',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
        '404':
          description: None.
          content: { application/json: { schema: { type: object, properties: { reason: { type: string } } } } }
      # The id of the item.
      parameters:
        - { name: id, in: query, required: true, schema: { type: integer } }
`,
    handlers: `listItems: async ({ query }) =>
  query.id === 1 ? { status: 200, body: { id: 1 } } : { status: 404, body: { reason: 'None.' } },`,
    exchanges: [
      { request: 'GET /items?id=1', status: 200, response: { id: 1 } },
      { request: 'GET /items?id=2', status: 404, response: { reason: 'None.' } },
    ],
  },
  {
    section,
    feature: 'a range of statuses: 2XX, 4XX, 5XX',
    note: 'The status of the handler is typed as any of the range without those that are declared themselves.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        2XX:
          description: Found.
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
        4XX:
          description: Refused.
          content: { application/json: { schema: { type: object, properties: { reason: { type: string } } } } }
        '404': { description: None. }
      parameters:
        - { name: id, in: query, required: true, schema: { type: integer } }
`,
    handlers: `listItems: async ({ query }) => {
  if (query.id === 1) return { status: 201, body: { id: 1 } };
  return query.id === 2 ? { status: 404 } : { status: 409, body: { reason: 'Taken.' } };
},`,
    exchanges: [
      { request: 'GET /items?id=1', status: 201, response: { id: 1 } },
      { request: 'GET /items?id=2', status: 404 },
      { request: 'GET /items?id=3', status: 409, response: { reason: 'Taken.' } },
    ],
  },
  {
    section,
    feature: 'default',
    note: 'All statuses that have no response of their own.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
        default:
          description: Refused.
          content: { application/json: { schema: { type: object, required: [reason], properties: { reason: { type: string } } } } }
      parameters:
        - { name: id, in: query, required: true, schema: { type: integer } }
`,
    handlers: `listItems: async ({ query }) =>
  query.id === 1 ? { status: 200, body: { id: 1 } } : { status: 418, body: { reason: 'Tea.' } },`,
    program: `const { error } = await client.GET('/items', { params: { query: { id: 2 } } });
assert.equal(error?.reason, 'Tea.');`,
    exchanges: [
      { request: 'GET /items?id=1', status: 200, response: { id: 1 } },
      { request: 'GET /items?id=2', status: 418, response: { reason: 'Tea.' } },
    ],
  },
  {
    section,
    feature: 'default only',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        default:
          description: Any.
          content: { application/json: { schema: { type: object } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: {} }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: {} }],
  },
  {
    section,
    feature: 'errors of the schema Error',
    note: 'Handlers throw them, so they are not in the type of what a handler returns.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
        '404': { $ref: 'common.yaml#/components/responses/Refused' }
`,
    handlers: `listItems: async () => {
  throw Object.assign(new Error('No.'), { status: 404, expose: true });
},`,
    exchanges: [{ request: 'GET /items', status: 404, response: { code: 'not_found' } }],
  },
  {
    section,
    feature: 'errors with numbers as codes',
    note: 'The `ErrorCode` of the client is any text.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { description: Found., content: { application/json: { schema: { type: object } } } }
        '404': { description: Missing., content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
components:
  schemas:
    Error: { type: object, required: [code], properties: { code: { type: integer, enum: [-1, -2] } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: {} }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: {} }],
  },
  {
    section,
    feature: 'a list of error codes without one that the router sends',
    note: 'An operation that declares 422 sends `unprocessable`. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters: [{ name: limit, in: query, schema: { type: integer, minimum: 1 } }]
      responses:
        '200': { description: Found., content: { application/json: { schema: { type: object } } } }
        '422': { $ref: '#/components/responses/Wrong' }
        default: { $ref: '#/components/responses/Wrong' }
components:
  responses:
    Wrong: { description: Wrong., content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
  schemas:
    Error:
      type: object
      properties:
        code: { enum: [invalid_input, not_acceptable, rate_limited, internal] }
`,
    warnings: ['19:17 The list lacks these codes, which the router can send: unavailable, unprocessable.'],
    handlers: `listItems: async () => ({ status: 200, body: {} }),`,
    exchanges: [{ request: 'GET /items?limit=0', status: 422, response: { code: 'unprocessable' } }],
  },
  {
    section,
    feature: 'no content',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '204': { description: Done. }
`,
    handlers: `listItems: async () => ({ status: 204 }),`,
    exchanges: [{ request: 'GET /items', status: 204 }],
  },
  {
    section,
    feature: 'a redirection only',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '302':
          description: Elsewhere.
          headers: { Location: { required: true, schema: { type: string } } }
`,
    handlers: `listItems: async () => ({ status: 302, headers: { Location: '/api/other' } }),`,
    exchanges: [{ request: 'GET /items', status: 302, responseHeaders: { location: '/api/other' } }],
  },
  {
    section,
    feature: 'headers',
    note: 'Handlers return headers as text, whatever their schema is. Required headers are required in the type.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          headers:
            X-Count: { required: true, schema: { type: integer } }
            X-Tags: { schema: { type: array, items: { type: string } } }
            X-Page: { content: { application/json: { schema: { type: object } } } }
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: { id: 1 }, headers: { 'X-Count': '1', 'X-Tags': 'a,b' } }),`,
    exchanges: [
      { request: 'GET /items', status: 200, response: { id: 1 }, responseHeaders: { 'x-count': '1', 'x-tags': 'a,b' } },
    ],
  },
  {
    section,
    feature: '$ref to a response',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: '#/components/responses/Item' }
components:
  responses:
    Item:
      description: Found.
      content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: { id: 1 } }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: { id: 1 } }],
  },
  {
    section,
    feature: 'several media types',
    note: 'Objects are sent as JSON, all else in the first one, unless the handler sets `Content-Type`.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content:
            application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } }
            text/csv: { schema: { type: string } }
`,
    handlers: `listItems: async () => ({ status: 200, body: 'id\\n1\\n', headers: { 'Content-Type': 'text/csv' } }),`,
    exchanges: [
      {
        request: 'GET /items',
        status: 200,
        response: 'id\n1\n',
        responseHeaders: { 'content-type': 'text/csv; charset=utf-8' },
      },
      { request: 'GET /items', status: 406, response: { code: 'not_acceptable' }, headers: { accept: 'image/png' } },
    ],
  },
  {
    section,
    feature: 'a media range',
    note: 'The handler sets `Content-Type`.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: A picture.
          content: { image/*: {} }
`,
    handlers: `listItems: async () => ({ status: 200, body: new Uint8Array([65]), headers: { 'Content-Type': 'image/gif' } }),`,
    exchanges: [
      { request: 'GET /items', status: 200, response: 'A', responseHeaders: { 'content-type': 'image/gif' } },
      { request: 'GET /items', headers: { accept: 'image/gif' }, status: 200 },
      { request: 'GET /items', headers: { accept: 'text/plain' }, status: 406 },
    ],
  },
  {
    section,
    feature: 'a body of bytes',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: A picture.
          content: { image/png: {} }
`,
    handlers: `listItems: async () => ({ status: 200, body: new Uint8Array([65]) }),`,
    exchanges: [
      { request: 'GET /items', status: 200, response: 'A', responseHeaders: { 'content-type': 'image/png' } },
    ],
  },
  {
    section,
    feature: 'a body of text',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Text.
          content: { text/plain: { schema: { type: string } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: 'Hello' }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: 'Hello' }],
  },
  {
    section,
    feature: 'a media type without a schema',
    note: 'Any value is accepted, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Anything.
          content: { application/json: {} }
`,
    handlers: `listItems: async () => ({ status: 200, body: [1] }),`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '10:22 The media type has no schema, so any value is accepted.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: [1] }],
  },
  {
    section,
    feature: 'text/plain and text/json beside JSON',
    note: 'Contracts that ASP.NET writes have them.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content:
            text/plain: { schema: { $ref: '#/components/schemas/Item' } }
            application/json: { schema: { $ref: '#/components/schemas/Item' } }
            text/json: { schema: { $ref: '#/components/schemas/Item' } }
components:
  schemas:
    Item: { type: object, required: [id], properties: { id: { type: integer } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: { id: 1 } }),`,
    exchanges: [
      {
        request: 'GET /items',
        status: 200,
        response: { id: 1 },
        responseHeaders: { 'content-type': 'application/json; charset=utf-8' },
      },
    ],
  },
  {
    section,
    feature: 'text/event-stream beside JSON',
    note: 'The type of the body decides.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters: [{ name: stream, in: query, schema: { type: boolean } }]
      responses:
        '200':
          description: Items at once, or as they come.
          content:
            application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Item' } } }
            text/event-stream: { schema: { type: string }, x-event: { $ref: '#/components/schemas/Item' } }
components:
  schemas:
    Item: { type: object, required: [id], properties: { id: { type: integer } } }
`,
    handlers: `listItems: async ({ query }) => ({
      status: 200,
      body: query.stream ? (async function* () { yield { id: '1', data: { id: 1 } }; })() : [{ id: 1 }],
    }),`,
    exchanges: [
      { request: 'GET /items', status: 200, response: [{ id: 1 }] },
      {
        request: 'GET /items?stream=true',
        status: 200,
        response: 'id: 1\ndata: {"id":1}\n\n',
        responseHeaders: { 'content-type': 'text/event-stream; charset=utf-8' },
        isRepeated: false,
      },
    ],
  },
  {
    section,
    feature: 'text/event-stream without x-event',
    note: 'The data of its events is any JSON value, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Items as they come.
          content: { text/event-stream: { schema: { type: string } } }
`,
    handlers: `listItems: async () => ({
      status: 200,
      body: (async function* () { yield { id: '1', data: { name: 'First' } }; })(),
    }),`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '10:22 The stream has no x-event, the schema of the event data, so events carry any JSON value.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: 'id: 1\ndata: {"name":"First"}\n\n' }],
  },
  {
    section,
    feature: 'links',
    note: 'Documentation. The operation that a link names must exist.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          links:
            self: { operationId: listItems, description: The same again. }
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
`,
    handlers: `listItems: async () => ({ status: 200, body: { id: 1 } }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: { id: 1 } }],
  },
  {
    section,
    feature: 'a link to an operation whose id is not a name of JavaScript',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: list-items
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          links: { self: { operationId: list-items } }
`,
    warnings: [
      '4:20 The operationId "list-items" is not a camelCase name such as listTokens; its handler is listItems.',
      '7:7 The operation does not declare these statuses, which the router can send: 400, 429, 500, 503.',
    ],
    handlers: `  listItems: async () => ({ status: 200 }),`,
    exchanges: [{ request: 'GET /items', status: 200 }],
  },
  {
    section,
    feature: '304',
    note: 'An operation that declares it answers conditional requests by `ETag`: that of the handler, or a digest of the body.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
        '304': { description: The same as before. }
`,
    handlers: `listItems: async () => ({ status: 200, body: { id: 1 } }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: { id: 1 } }],
  },
  {
    section,
    feature: 'no response',
    note: 'As without `responses`. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses: {}
`,
    warnings: ['3:5 The operation has no responses, so its handler can send any status, without a body.'],
    handlers: `  listItems: async () => ({ status: 200 }),`,
    exchanges: [{ request: 'GET /items', status: 200 }],
  },
  {
    section,
    feature: 'an unknown range',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        2xx: { description: Found. }
`,
    errors: ['8:9 Expected a status such as 200, a range such as 4XX, or default; received "2xx".'],
  },
  {
    section,
    feature: 'content without a body',
    note: 'The content is ignored. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '204':
          description: None.
          content: { application/json: { schema: {} } }
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 429, 500, 503.',
      '10:11 A response with the status 204 has no body, so its content is ignored.',
    ],
    handlers: `  listItems: async () => ({ status: 204 }),`,
    exchanges: [{ request: 'GET /items', status: 204 }],
  },
  {
    section,
    feature: 'a name of a header with a space',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          headers: { X Colour: { schema: { type: string } } }
`,
    errors: ['10:22 "X Colour" cannot be the name of a header.'],
  },
  {
    section,
    feature: 'a link to an operation that does not exist',
    note: 'A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          links: { self: { operationId: listItem } }
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 429, 500, 503.',
      '10:41 No operation "listItem". Did you mean "listItems"?',
    ],
    handlers: `  listItems: async () => ({ status: 200 }),`,
    exchanges: [{ request: 'GET /items', status: 200 }],
  },
  {
    section,
    feature: 'a header without a schema',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          headers: { X-Colour: { description: A colour. } }
`,
    errors: ['10:22 Expected the header "X-Colour" to have either a schema or content.'],
  },
  {
    section,
    feature: 'an invalid media type',
    note: 'It is ignored if it has no slash. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Found.
          content: { json: {} }
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 429, 500, 503.',
      '10:22 Expected a media type such as application/json; received "json". It is ignored.',
    ],
    handlers: `  listItems: async () => ({ status: 200 }),`,
    exchanges: [{ request: 'GET /items', status: 200 }],
  },
];
