import type { Row } from '../row.js';

const section = 'Documents';

export const rows: readonly Row[] = [
  {
    section,
    feature: 'OpenAPI 3.1.0 to 3.1.2',
    note: 'All revisions of 3.1, which differ in their text only.',
    outcome: 'supported',
    contract: `openapi: 3.1.2
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'OpenAPI 3.2',
    note: 'Read as 3.1, which is a warning. Fields that are new in 3.2 are refused.',
    outcome: 'supported',
    contract: `openapi: 3.2.0
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:10 OpenAPI 3.2.0 is read as 3.1.0.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'OpenAPI 3.0',
    note: 'Upgraded when it is read. Each kind of change is a warning with the number of its places.',
    outcome: 'supported',
    contract: `openapi: 3.0.3
paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                name: { type: string, nullable: true }
                size: { type: integer, minimum: 1, exclusiveMinimum: true }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:10 OpenAPI 3.0.3 is read as 3.1.0.',
      "15:39 OpenAPI 3.0: nullable: true became the type 'null' (1 place).",
      '16:52 OpenAPI 3.0: exclusiveMinimum: true became the bound itself (1 place).',
      '17:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": null, "size": 2}',
        status: 200,
        response: { body: { name: null, size: 2 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'a file with components and without a version',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: 'shared/models.yaml#/components/schemas/Item' } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
        '404': { $ref: 'shared/models.yaml#/components/responses/NoItem' }
`,
    documents: {
      'openapi/shared/models.yaml': `components:
  responses:
    NoItem: { description: No item., content: { application/json: { schema: { $ref: '../common.yaml#/components/schemas/Error' } } } }
  schemas:
    Item: { type: object, required: [size], properties: { size: { $ref: '#/components/schemas/Size' }, parent: { $ref: '#/components/schemas/Item' } } }
    Size: { type: integer, minimum: 1 }
`,
    },
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size": 1, "parent": {"size": 2}}',
        status: 200,
        response: { body: { size: 1, parent: { size: 2 } } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size": 1, "parent": {"size": 0}}',
        status: 400,
        response: { code: 'invalid_input', field: 'parent.size' },
      },
    ],
  },
  {
    section,
    feature: 'OpenAPI 3.0 in several files',
    note: 'A file without a version has the version of the contract.',
    outcome: 'supported',
    contract: `openapi: 3.0.3
paths:
  /items: { $ref: paths/items.yaml }
`,
    documents: {
      'openapi/paths/items.yaml': `post:
  operationId: sendItem
  tags: [Items]
  summary: Send an item
  parameters:
    - { name: size, in: query, schema: { type: integer, minimum: 1, exclusiveMinimum: true } }
  requestBody: { required: true, content: { application/json: { schema: { $ref: ../schemas/item.yaml } } } }
  responses:
    '200': { $ref: '../common.yaml#/components/responses/Echo' }
`,
      'openapi/schemas/item.yaml': `type: object
properties:
  name: { type: string, nullable: true }
  parent: { $ref: item.yaml, nullable: true }
`,
    },
    warnings: [
      '1:10 OpenAPI 3.0.3 is read as 3.1.0.',
      'openapi/paths/items.yaml:6:69 OpenAPI 3.0: exclusiveMinimum: true became the bound itself (1 place).',
      'openapi/paths/items.yaml:8:3 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
      "openapi/schemas/item.yaml:3:25 OpenAPI 3.0: nullable: true became the type 'null' (1 place).",
      'openapi/schemas/item.yaml:4:13 OpenAPI 3.0: fields beside $ref were dropped, as OpenAPI 3.0 ignores them (1 place).',
    ],
    exchanges: [
      {
        request: 'POST /items?size=2',
        headers: { 'content-type': 'application/json' },
        body: '{"name": null}',
        status: 200,
        response: { query: { size: 2 }, body: { name: null } },
      },
      {
        request: 'POST /items?size=1',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 400,
        response: { code: 'invalid_input', field: 'size' },
      },
    ],
  },
  {
    section,
    feature: 'info, contact, license, externalDocs, termsOfService',
    note: 'Documentation.',
    outcome: 'supported',
    contract: `info: { title: Items, version: 1.0.0, summary: Items., description: Items., termsOfService: "https://example.com", contact: { name: A, url: "https://example.com", email: a@example.com }, license: { name: MIT, url: "https://example.com" } }
externalDocs: { url: "https://example.com" }
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'titles and descriptions with the signs of comments and code',
    outcome: 'supported',
    contract: `info: { title: "Items */ of '\${process.exit(1)}'\\nand more", version: "*/", description: "*/ '\${x}' \\u2028 \\\\", license: { name: MIT, identifier: MIT } }
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: List */ items
      description: "*/ } '\${x}'"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'jsonSchemaDialect',
    note: 'JSON Schema 2020-12 only.',
    outcome: 'supported',
    contract: `jsonSchemaDialect: https://spec.openapis.org/oas/3.1/dialect/base
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'servers',
    note: 'The path of the first server is the base path of the service. All else is documentation.',
    outcome: 'supported',
    contract: `servers:
  - { url: "https://{region}.example.com/api", variables: { region: { default: eu, enum: [eu, us] } } }
  - { url: "https://example.com", description: Others. }
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'no servers',
    note: 'The base path is `/`, which is a warning.',
    outcome: 'supported',
    contract: `servers: []
paths:
  /api/items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:1 The contract has no servers; its base path is /.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} }, isRepeated: false }],
  },
  {
    section,
    feature: 'servers of a path or an operation',
    note: 'They have no effect, which is a warning: a service has one base path.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      servers: [{ url: /other }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '7:7 "servers" has no effect: the operations of a contract have one base path, that of its first server.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'tags',
    note: 'The first tag of an operation is the group of its handler.',
    outcome: 'supported',
    contract: `tags: [{ name: Items, description: Examples., externalDocs: { url: "https://example.com" } }, { name: Other, description: More. }]
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items, Other]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'an operation without operationId, tags and summary',
    note: 'They are derived from the method and the path, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '3:5 The operation has no operationId; its handler is getItemsById.',
      '3:5 The operation has no summary.',
      '3:5 The operation has no tag; its handler is in the group "Items".',
      '5:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items/1', status: 200, response: { params: { id: 1 } } }],
  },
  {
    section,
    feature: 'an operationId that is not a name of JavaScript',
    note: 'The handler is `itemsListAll`, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: items/list-all
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '4:20 The operationId "items/list-all" is not a camelCase name such as listTokens; its handler is itemsListAll.',
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'a tag that is not declared',
    note: 'A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Item]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      `5:14 Expected one of the contract's tags; received "Item". Did you mean "Items"?`,
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '12:7 The tag "Item" has no description.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'an operation without responses',
    note: 'Its handler can send any status, without a body. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
`,
    handlers: `listItems: async () => ({ status: 202 }),`,
    warnings: ['3:5 The operation has no responses, so its handler can send any status, without a body.'],
    exchanges: [{ request: 'GET /items', status: 202 }],
  },
  {
    section,
    feature: 'summary, description, deprecated, externalDocs of an operation',
    note: 'Documentation. A deprecated operation has a deprecated handler.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      description: Lists items.
      deprecated: true
      externalDocs: { url: "https://example.com" }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'summary, description and parameters of a path',
    outcome: 'supported',
    contract: `paths:
  /items/{id}:
    summary: An item
    description: An item.
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get:
      operationId: getItem
      tags: [Items]
      summary: Get an item
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items/1', status: 200, response: { params: { id: 1 } } }],
  },
  {
    section,
    feature: 'get, put, post, delete, options, patch',
    note: '`get` serves HEAD too.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: getItem
      tags: [Items]
      summary: Call get
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
    put:
      operationId: putItem
      tags: [Items]
      summary: Call put
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
    post:
      operationId: postItem
      tags: [Items]
      summary: Call post
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
    patch:
      operationId: patchItem
      tags: [Items]
      summary: Call patch
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
    delete:
      operationId: deleteItem
      tags: [Items]
      summary: Call delete
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
    options:
      operationId: optionsItem
      tags: [Items]
      summary: Call options
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      { request: 'GET /items', status: 200, response: { params: {} } },
      { request: 'PUT /items', status: 200, response: { params: {} } },
      { request: 'POST /items', status: 200, response: { params: {} } },
      { request: 'PATCH /items', status: 200, response: { params: {} } },
      { request: 'DELETE /items', status: 200, response: { params: {} } },
      { request: 'OPTIONS /items', status: 200, response: { params: {} } },
    ],
  },
  {
    section,
    feature: 'head',
    outcome: 'supported',
    contract: `paths:
  /items:
    head:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { description: Known. }
`,
    handlers: `listItems: async () => ({ status: 200 }),`,
    exchanges: [{ request: 'HEAD /items', status: 200, response: '' }],
  },
  {
    section,
    feature: 'parameters in a part of a segment',
    note: 'Each parameter is as short as the text after it allows.',
    outcome: 'supported',
    contract: `paths:
  /files/{name}.{format}:
    get:
      operationId: getFile
      tags: [Items]
      summary: Get a file
      parameters:
        - { name: name, in: path, required: true, schema: { type: string } }
        - { name: format, in: path, required: true, schema: { type: string, enum: [csv, json] } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      { request: 'GET /files/a.csv', status: 200, response: { params: { name: 'a', format: 'csv' } } },
      { request: 'GET /files/a', status: 404, response: { code: 'not_found' } },
    ],
  },
  {
    section,
    feature: 'a list in a part of a segment',
    note: 'An encoded delimiter belongs to a value, also one that separates the parameter from other text.',
    outcome: 'supported',
    contract: `paths:
  /parts/{a}B{b}:
    get:
      operationId: splitItem
      tags: [Items]
      summary: Split an item
      parameters:
        - { name: a, in: path, required: true, schema: { type: string } }
        - { name: b, in: path, required: true, schema: { type: string } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /items/{ids}:copy:
    get:
      operationId: copyItems
      tags: [Items]
      summary: Copy items
      parameters:
        - { name: ids, in: path, required: true, schema: { type: array, items: { type: string } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      { request: 'GET /items/a,b%2Cc%25:copy', status: 200, response: { params: { ids: ['a', 'b,c%'] } } },
      { request: 'GET /items/a%3Acopy', status: 404, response: { code: 'not_found' } },
      { request: 'GET /parts/x%2ByBz', status: 200, response: { params: { a: 'x+y', b: 'z' } } },
    ],
  },
  {
    section,
    feature: '$ref of a path',
    outcome: 'supported',
    contract: `paths:
  /items: { $ref: '#/components/pathItems/Items' }
components:
  pathItems:
    Items:
      get:
        operationId: listItems
        tags: [Items]
        summary: Items
        responses:
          '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: '$ref of a path to a file in another folder',
    note: 'References in a document are relative to its own folder. A file is one component, however many refer to it.',
    outcome: 'supported',
    contract: `paths:
  /items: { $ref: paths/items.yaml }
  /items/{id}: { $ref: 'paths/items@%7Bid%7D.yaml' }
`,
    documents: {
      'openapi/paths/items.yaml': `post:
  operationId: sendItem
  tags: [Items]
  summary: Send an item
  parameters:
    - { $ref: ../parameters/size.yaml }
  requestBody:
    required: true
    content:
      application/json:
        schema:
          oneOf:
            - { $ref: ../schemas/cat.yaml }
            - { $ref: ../schemas/dog.yaml }
          discriminator: { propertyName: kind, mapping: { c: ../schemas/cat.yaml, d: ../schemas/dog.yaml } }
  responses:
    '200': { $ref: '../common.yaml#/components/responses/Echo' }
`,
      'openapi/paths/items@{id}.yaml': `put:
  operationId: replaceItem
  tags: [Items]
  summary: Replace an item
  parameters:
    - { name: id, in: path, required: true, schema: { $ref: '../schemas/dog.yaml#/properties/name' } }
    - { $ref: ../parameters/size.yaml }
  requestBody: { required: true, content: { application/json: { schema: { $ref: ../schemas/cat.yaml } } } }
  responses:
    '200': { $ref: '../common.yaml#/components/responses/Echo' }
`,
      'openapi/parameters/size.yaml': 'name: size\nin: query\nschema: { $ref: sizes/cat.yaml }\n',
      'openapi/parameters/sizes/cat.yaml': 'type: integer\nmaximum: 9\n',
      'openapi/schemas/cat.yaml': `type: object
required: [kind]
properties: { kind: { type: string }, lives: { type: integer }, mother: { $ref: cat.yaml } }
`,
      'openapi/schemas/dog.yaml': `type: object
required: [kind]
properties: { kind: { type: string }, name: { type: string, maxLength: 5 } }
`,
    },
    program: `const mother: import('./types.js').components['schemas']['Cat'] = { kind: 'c', lives: 9 };
const dog: import('./types.js').components['schemas']['Dog'] = { kind: 'd', name: 'Rex' };
await client.POST('/items', { body: { kind: 'c', mother } });
await client.POST('/items', { body: dog });`,
    exchanges: [
      {
        request: 'POST /items?size=1',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "c", "mother": {"kind": "c", "lives": 9}}',
        status: 200,
        response: { query: { size: 1 }, body: { kind: 'c', mother: { kind: 'c', lives: 9 } } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "d", "name": "Hector"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'PUT /items/Rex',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "c", "mother": {"kind": "c", "lives": "many"}}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'PUT /items/Hector',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "c"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'an error in a file of a path',
    outcome: 'refused',
    contract: `paths:
  /items: { $ref: paths/items.yaml }
`,
    documents: {
      'openapi/paths/items.yaml': `get:
  operationId: listItems
  sumary: Items
  responses:
    '200': { $ref: '../comon.yaml#/components/responses/Echo' }
`,
    },
    errors: [
      'openapi/paths/items.yaml:3:3 Unknown field "sumary" in this operation. Did you mean "summary"?',
      'openapi/paths/items.yaml:5:20 Expected $ref to refer to a document of this contract; received "comon.yaml#/components/responses/Echo". Did you mean "openapi/common.yaml"?',
    ],
  },
  {
    section,
    feature: 'webhooks only',
    note: 'The types and the bundled document have them. There is no operation to implement.',
    outcome: 'supported',
    contract: `webhooks:
  itemAdded:
    post:
      operationId: itemAdded
      tags: [Items]
      summary: An item was added
      requestBody: { required: true, content: { application/json: { schema: { type: object } } } }
      responses:
        '204': { description: Received. }
`,
    handlers: '',
    exchanges: [{ request: 'GET /items', status: 404, response: { code: 'not_found' } }],
  },
  {
    section,
    feature: 'webhooks',
    note: '`webhooks` in the generated types has what the server sends. Sending it is up to the application.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
webhooks:
  itemAdded:
    post:
      operationId: itemAdded
      tags: [Items]
      summary: An item was added
      requestBody:
        required: true
        content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
      responses:
        '204': { description: Received. }
`,
    program: `const event: import('./types.js').webhooks['itemAdded']['post']['requestBody']['content']['application/json'] = { id: 1 };
void event;`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'callbacks',
    note: '`webhooks` in the generated types has what the server sends, by the operation and the name of the callback.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      callbacks:
        added:
          '{$request.query.url}':
            post:
              operationId: itemAdded
              tags: [Items]
              summary: An item was added
              requestBody:
                required: true
                content: { application/json: { schema: { type: object, required: [id], properties: { id: { type: integer } } } } }
              responses:
                '204': { description: Received. }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    program: `const event: import('./types.js').webhooks['listItems added']['post']['requestBody']['content']['application/json'] = { id: 1 };
void event;`,
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'extensions: x-',
    note: 'Ignored, unless they look like a typo of one that Trellis knows. One of Trellis in another place is a warning.',
    outcome: 'supported',
    contract: `x-team: a
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      x-owner: b
      x-body: deferred
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '9:7 "x-body" has no effect in this operation; it is for: request body.',
      '10:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'a trailing slash in a path',
    note: 'A warning.',
    outcome: 'supported',
    contract: `paths:
  /items/:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '2:3 Expected the path not to end with "/"; received "/items/".',
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [
      { request: 'GET /items/', status: 200, response: { params: {} } },
      { request: 'GET /items', status: 404 },
    ],
  },
  {
    section,
    feature: 'paths that a request may both match',
    note: 'The path with text in the first segment that differs is used. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items/{id}:
    get:
      operationId: getItem
      tags: [Items]
      summary: Get
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /{id}/last:
    get:
      operationId: getLast
      tags: [Items]
      summary: Get
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '10:3 A request may match both "/items/{id}" and "/{id}/last". The path with text in the first segment that differs is used.',
      '16:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items/last', status: 200, response: { params: { id: 'last' } } }],
  },
  {
    section,
    feature: 'a component that is not used',
    note: 'A warning. Components of shared documents need not be used.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Item: { type: object }
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '11:5 The component "schemas/Item" is not used.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'components',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters: [{ $ref: '#/components/parameters/Size' }]
      responses:
        '200': { $ref: '#/components/responses/Items' }
components:
  parameters: { Size: { name: size, in: query, schema: { $ref: '#/components/schemas/Size' } } }
  schemas: { Size: { type: integer } }
  examples: { Small: { summary: Small., value: { a: 1 } } }
  headers: { Count: { schema: { type: integer } } }
  responses:
    Items:
      description: Items.
      headers: { X-Count: { $ref: '#/components/headers/Count' } }
      content: { application/json: { schema: { type: object }, examples: { small: { $ref: '#/components/examples/Small' } } } }
`,
    exchanges: [{ request: 'GET /items?size=1', status: 200, response: { query: { size: 1 } } }],
  },
  {
    section,
    feature: 'components that refer to components',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      parameters: [{ $ref: '#/components/parameters/Limit' }]
      requestBody: { $ref: '#/components/requestBodies/NewItem' }
      responses:
        '200': { $ref: '#/components/responses/Sent' }
components:
  parameters:
    Limit: { $ref: '#/components/parameters/Count' }
    Count: { name: limit, in: query, required: true, schema: { type: integer } }
  requestBodies:
    NewItem: { $ref: '#/components/requestBodies/Item' }
    Item: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } }
  headers:
    Total: { $ref: '#/components/headers/Size' }
    Size: { required: true, schema: { type: integer } }
  responses:
    Sent: { $ref: '#/components/responses/Found', description: It was sent. }
    Found:
      description: Found.
      headers: { X-Total: { $ref: '#/components/headers/Total' } }
      content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } }
  schemas:
    Item: { type: object, required: [text], properties: { text: { type: string } } }
`,
    handlers: `sendItem: async ({ query, body }) => ({
      status: 200,
      headers: { 'X-Total': String(query.limit + 1) },
      body: { text: body.text },
    }),`,
    program: `const init = { params: { query: { limit: 1 } }, body: { text: 'a' } };
const { data } = await client.POST('/items', init);
const text: string | undefined = data?.text;
assert.equal(text, 'a');`,
    exchanges: [
      {
        request: 'POST /items?limit=1',
        headers: { 'content-type': 'application/json' },
        body: '{"text": "a"}',
        status: 200,
        response: { text: 'a' },
        responseHeaders: { 'x-total': '2' },
      },
      {
        request: 'POST /items?limit=a',
        headers: { 'content-type': 'application/json' },
        body: '{"text": "a"}',
        status: 400,
        response: { field: 'limit' },
      },
    ],
  },
  {
    section,
    feature: 'example and examples',
    note: 'Documentation, validated against the schema. The example at an address is not, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200':
          description: Items.
          content:
            application/json:
              schema: { type: object }
              examples:
                small: { summary: Small., description: A small one., value: { a: 1 } }
                large: { externalValue: "https://example.com/large.json" }
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '15:41 The example at this address is not checked.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'OpenAPI 2.0',
    outcome: 'refused',
    contract: `{
  "swagger": "2.0",
  "info": { "title": "Example", "version": "1.0.0" },
  "basePath": "/api",
  "paths": {
    "/items": { "get": { "produces": ["text/plain"], "responses": { "200": { "schema": { "type": "string" } } } } }
  }
}`,
    errors: ['2:3 "swagger" is not supported here: convert the document to OpenAPI 3 first.'],
  },
  {
    section,
    feature: 'jsonSchemaDialect of another draft',
    outcome: 'refused',
    contract: `jsonSchemaDialect: http://json-schema.org/draft-07/schema#
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: [
      '1:20 Expected jsonSchemaDialect to be one of https://json-schema.org/draft/2020-12/schema, https://json-schema.org/draft/2020-12/schema#, https://spec.openapis.org/oas/3.1/dialect/base; received "http://json-schema.org/draft-07/schema#". Did you mean "https://json-schema.org/draft/2020-12/schema#"?',
    ],
  },
  {
    section,
    feature: 'an unknown field whose name is unlike all others',
    note: 'It is ignored. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    title: { en: Items }
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters: [{ name: q, in: query, summary: 404, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '3:5 Unknown field "title" in this path item. Known fields: delete, get, head, options, patch, post, put, parameters, servers, summary, description.',
      '8:42 Unknown field "summary" in this parameter. Known fields: name, in, description, required, deprecated, schema, content, style, explode, allowReserved, allowEmptyValue, example, examples, x-rest.',
      '9:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items?q=a', status: 200, response: { query: { q: 'a' } } }],
  },
  {
    section,
    feature: 'an unknown field',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      sumary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['7:7 Unknown field "sumary" in this operation. Did you mean "summary"?'],
  },
  {
    section,
    feature: '$self',
    outcome: 'refused',
    contract: `openapi: 3.2.0
$self: https://example.com/api
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['2:1 "$self" is not supported here: it is new in OpenAPI 3.2, and the contract is read as 3.1.'],
  },
  {
    section,
    feature: 'query and additionalOperations',
    outcome: 'refused',
    contract: `openapi: 3.2.0
paths:
  /items:
    query: {}
    additionalOperations: {}
`,
    errors: [
      '4:5 "query" is not supported here: it is new in OpenAPI 3.2, and the contract is read as 3.1.',
      '5:5 "additionalOperations" is not supported here: it is new in OpenAPI 3.2, and the contract is read as 3.1.',
    ],
  },
  {
    section,
    feature: 'trace',
    outcome: 'refused',
    contract: `paths:
  /items:
    trace: {}
`,
    errors: ['3:5 "trace" is not supported here: servers should not offer it, as it reflects headers.'],
  },
  {
    section,
    feature: 'values with the names of the members of every JavaScript object',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      security: [{ key: [] }]
      parameters:
        - { name: size, in: query, schema: { type: __proto__, enum: [1] } }
        - { name: tag, in: __proto__, schema: { type: string } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  securitySchemes:
    key: { type: toString }
`,
    errors: [
      '9:52 Expected type to be one of array, boolean, integer, null, number, object, string; received "__proto__".',
      '10:28 Expected in to be one of cookie, header, path, query; received "__proto__".',
      '15:18 Expected type to be one of apiKey, http, oauth2, openIdConnect, mutualTLS; received "toString".',
    ],
  },
  {
    section,
    feature: 'an error beside a header parameter without effect',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters:
        - { name: size, in: query, schema: { type: strng } }
        - { name: Authorization, in: header, schema: { type: string } }
        - { name: tag, in: query, schema: { type: strng } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: [
      '8:52 Expected type to be one of array, boolean, integer, null, number, object, string; received "strng". Did you mean "string"?',
      '10:51 Expected type to be one of array, boolean, integer, null, number, object, string; received "strng". Did you mean "string"?',
    ],
  },
  {
    section,
    feature: 'a version without quotes, and texts without a value',
    note: 'A number is read as text, and nothing is ignored. A warning.',
    outcome: 'supported',
    contract: `info: { title: Items, version: 1.5, description: , license: { name: MIT, identifier: MIT } }
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary:
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:32 Expected version to be text; received 1.5. It is read as "1.5".',
      '1:37 Expected description to be text; received nothing. It is ignored.',
      '4:5 The operation has no summary.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'a response without a description',
    note: 'A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': {}
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 429, 500, 503.',
      '8:9 The response has no description.',
    ],
    handlers: `  listItems: async () => ({ status: 200 }),`,
    exchanges: [{ request: 'GET /items', status: 200 }],
  },
  {
    section,
    feature: 'fragments in paths',
    note: 'They distinguish operations of one path, and clients do not send them. The server has the operation without a fragment, or the first one. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items/{id}#copy:
    post:
      operationId: copyItem
      tags: [Items]
      summary: Copy an item
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /items/{id}:
    post:
      operationId: changeItem
      tags: [Items]
      summary: Change an item
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /items/{id}#recent:
    get:
      operationId: getRecent
      tags: [Items]
      summary: A recent item
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: tag, in: query, schema: { type: string } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '2:3 Clients do not send the fragment of "/items/{id}#copy", which only distinguishes operations.',
      '3:5 The server cannot distinguish post /items/{id}#copy from post /items/{id}, so only clients have this operation.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '16:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '18:3 Clients do not send the fragment of "/items/{id}#recent", which only distinguishes operations.',
      '26:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    program: `const { copyItem, getRecent } = await import('./calls.js');
assert.deepEqual((await copyItem(client, { id: 'a' }) as { params: unknown }).params, { id: 'a' });
assert.deepEqual((await getRecent(client, { id: 'a', tag: 'b' }) as { query: unknown }).query, { tag: 'b' });`,
    exchanges: [
      { request: 'POST /items/a', status: 200, response: { params: { id: 'a' } } },
      { request: 'GET /items/a?tag=b', status: 200, response: { params: { id: 'a' }, query: { tag: 'b' } } },
    ],
  },
  {
    section,
    feature: 'tags that differ in case or punctuation only',
    note: 'Their operations are in the group of the first one. A warning.',
    outcome: 'supported',
    contract: `tags: [{ name: item sets, description: A. }, { name: Item Sets, description: B. }]
paths:
  /items:
    get:
      operationId: listItems
      tags: [Item Sets]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:54 The operations of the tag "Item Sets" are in the group "item sets", as their names are alike.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'a body of a get operation',
    note: 'Clients cannot send it, so it is ignored. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      requestBody: { content: { application/json: { schema: { type: string } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '7:7 The body of a get operation is ignored, as clients cannot send it. Use query parameters, or post.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'a query in a path',
    note: 'Only clients have the operation, as a router does not compare queries. They send it.',
    outcome: 'supported',
    contract: `paths:
  /items?x=1&x=2:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      parameters:
        - { name: limit, in: query, schema: { type: integer } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '2:3 The router does not compare the query of "/items?x=1&x=2", so only clients have its operations.',
      '9:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    program: `const seen: string[] = [];
const { createExampleClient } = await import('./client.js');
const { listItems } = await import('./calls.js');
const fetch = async (request: Request) => (seen.push(request.url), Response.json({}));
await listItems(createExampleClient('http://localhost/api', { fetch }), { limit: 3 });
assert.deepEqual(seen, ['http://localhost/api/items?x=1&x=2&limit=3']);`,
    exchanges: [{ request: 'GET /items?x=1&x=2', status: 404 }],
  },
  {
    section,
    feature: 'a line break in a path',
    outcome: 'refused',
    contract: `paths:
  "/items\\nmore":
    get:
      operationId: listItems
      tags: [Items]
      summary: List items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['2:3 Expected a path without control characters; received "/items\\nmore".'],
  },
  {
    section,
    feature: 'a path without a slash',
    outcome: 'refused',
    contract: `paths:
  items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['2:3 Expected a path to start with "/"; received "items".'],
  },
  {
    section,
    feature: 'two parameters side by side',
    outcome: 'refused',
    contract: `paths:
  '/{a}{b}':
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['2:3 Expected path parameters as in /{id}/, with text between two of them; received "{a}{b}".'],
  },
  {
    section,
    feature: '$ref of an operation',
    note: 'Descriptions in many files have them until they are bundled.',
    outcome: 'refused',
    contract: `paths:
  /items:
    get: { $ref: items.yaml }
    post: { $ref: items.yaml }
`,
    errors: [
      '3:18 An operation cannot be a $ref; in OpenAPI only a path can. Bundle the documents first, such as with "npx @redocly/cli bundle". 2 operations are references.',
    ],
  },
  {
    section,
    feature: '$ref of an operation of a webhook or in a file of a path',
    outcome: 'refused',
    contract: `paths:
  /items: { $ref: paths/items.yaml }
webhooks:
  added: { post: { $ref: added.yaml } }
`,
    documents: { 'openapi/paths/items.yaml': 'get: { $ref: list.yaml }\n' },
    errors: [
      'openapi/paths/items.yaml:1:14 An operation cannot be a $ref; in OpenAPI only a path can. Bundle the documents first, such as with "npx @redocly/cli bundle". 2 operations are references.',
    ],
  },
  {
    section,
    feature: 'paths that differ in the names of parameters only, with a common method',
    note: 'The server has the first operation, and clients have both. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items/{a}:
    get:
      operationId: getItem
      tags: [Items]
      summary: Items
      parameters: [{ name: a, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /items/{b}:
    get:
      operationId: findItem
      tags: [Items]
      summary: Items
      parameters: [{ name: b, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '11:5 The server cannot distinguish get /items/{b} from get /items/{a}, so only clients have this operation.',
      '16:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    program: `const { findItem } = await import('./calls.js');
assert.deepEqual((await findItem(client, { b: '2' }) as { params: unknown }).params, { a: '2' });`,
    exchanges: [{ request: 'GET /items/1', status: 200, response: { params: { a: '1' } } }],
  },
  {
    section,
    feature: 'paths that differ in the names of parameters only, without a common method',
    outcome: 'supported',
    note: 'OpenAPI forbids them, but published contracts have them. They are served as one path.',
    contract: `paths:
  /items/{a}:
    get:
      operationId: getItem
      tags: [Items]
      summary: Items
      parameters: [{ name: a, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /items/{b}:
    delete:
      operationId: deleteItem
      tags: [Items]
      summary: Items
      parameters: [{ name: b, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '10:3 The paths "/items/{a}" and "/items/{b}" are ambiguous: only their parameter names differ. They are served as one path, as they have different methods.',
      '16:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [
      { request: 'GET /items/1', status: 200, response: { params: { a: '1' } } },
      { request: 'DELETE /items/2', status: 200, response: { params: { b: '2' } } },
      { request: 'PUT /items/3', status: 405, responseHeaders: { allow: 'GET, DELETE, HEAD, OPTIONS' } },
    ],
  },
  {
    section,
    feature: 'a path parameter that is not declared',
    outcome: 'supported',
    note: 'It is text. A warning, or an error beside a parameter that the path does not have.',
    contract: `paths:
  /items/{id}:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '3:5 The operation does not declare the path parameter "id", which is text.',
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items/1', status: 200, response: { params: { id: '1' } } }],
  },
  {
    section,
    feature: 'an operationId that is used twice',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
  /other:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['11:20 The operationId "listItems" of get /other is already in use.'],
  },
  {
    section,
    feature: 'a server variable that is not declared',
    note: 'Its value is its name. A warning, or an error beside a variable that the URL does not have.',
    outcome: 'supported',
    contract: `servers: [{ url: "https://{region}.example.com/api" }]
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:18 The server variable "region" is not declared. Its value is its name.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'a default that is not a value of the server variable',
    outcome: 'refused',
    contract: `servers: [{ url: "/{a}", variables: { a: { default: c, enum: [a, b] } } }]
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['1:53 Expected the default to be one of a, b, according to its schema.'],
  },
  {
    section,
    feature: 'a tag that is declared twice',
    outcome: 'supported',
    note: 'A warning.',
    contract: `tags: [{ name: Items, description: A. }, { name: Items, description: B. }]
paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '1:50 The tag "Items" is declared twice.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
    ],
    exchanges: [{ request: 'GET /items', status: 200, response: { params: {} } }],
  },
  {
    section,
    feature: 'both value and externalValue',
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
          description: Items.
          content:
            application/json:
              schema: {}
              examples: { small: { value: 1, externalValue: "https://example.com" } }
`,
    warnings: [
      '7:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '13:46 Expected either value or externalValue; received both.',
      '13:61 The example at this address is not checked.',
    ],
    handlers: `  listItems: async () => ({ status: 200, body: 1 }),`,
    exchanges: [{ request: 'GET /items', status: 200, response: 1 }],
  },
  {
    section,
    feature: 'an invalid name of a component',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    a/b: {}
`,
    errors: ['11:5 Expected the name of a component to consist of letters, digits, ".", "_" and "-"; received "a/b".'],
  },
  {
    section,
    feature: 'a component of the wrong section',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      responses:
        '200': { $ref: 'common.yaml#/components/schemas/Error' }
`,
    errors: ['8:24 Expected $ref to refer to components/responses; received "common.yaml#/components/schemas/Error".'],
  },
  {
    section,
    feature: 'a duplicate key',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: Items
      summary: Again
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['7:7 Map keys must be unique.'],
  },
];
