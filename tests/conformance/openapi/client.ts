import type { Row } from '../row.js';

const section = 'The generated client';

const ECHO = "'200': { $ref: 'common.yaml#/components/responses/Echo' }";

/** Rows whose programs use the generated client and the functions of operations. */
export const rows: readonly Row[] = [
  {
    section,
    feature: 'files in a multipart form',
    note: 'A file is a `Blob` or a `File`, in an object or in a `FormData`.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: createItem
      tags: [Items]
      summary: Create an item
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema:
              type: object
              required: [title, cover]
              properties:
                title: { type: string }
                cover: { type: string, format: binary }
                photos: { type: array, items: { type: string, contentMediaType: image/png } }
      responses:
        ${ECHO}
`,
    handlers: `  async createItem({ body }) {
    const files: unknown[] = [];
    for await (const { name, filename, contentType, content } of body.files) {
      let size = 0;
      for await (const chunk of content) size += (chunk as Buffer).length;
      files.push([name, filename, contentType, size]);
    }
    return { status: 200, body: { fields: body.fields, files } };
  },`,
    program: `const { createItem } = await import('./calls.js');
const cover = new File(['12345678'], 'b.png', { type: 'image/png' });
const photos = [new File(['xyz'], 'c.png', { type: 'image/png' })];
const expected = { fields: { title: 'Boats' }, files: [['cover', 'b.png', 'image/png', 8], ['photos', 'c.png', 'image/png', 3]] };
const body = { title: 'Boats', cover, photos };
assert.deepEqual((await client.POST('/items', { body })).data, expected);
assert.deepEqual(await createItem(client, { body }), expected);
const form = new FormData();
form.append('title', 'Boats');
form.append('cover', cover);
form.append('photos', photos[0] ?? cover);
assert.deepEqual(await createItem(client, { body: form }), expected);
// @ts-expect-error the file is missing
createItem(client, { body: { title: 'Boats' } }).catch(() => undefined);`,
    exchanges: [{ request: 'POST /items', headers: { 'content-type': 'application/json' }, body: '{}', status: 415 }],
  },
  {
    section,
    feature: 'bytes, streams and text',
    outcome: 'supported',
    contract: `paths:
  /bytes:
    put:
      operationId: putBytes
      tags: [Items]
      summary: Store bytes
      requestBody: { required: true, content: { application/octet-stream: {} } }
      responses:
        '200': { description: The bytes., content: { application/octet-stream: {} } }
  /text:
    put:
      operationId: putText
      tags: [Items]
      summary: Store text
      requestBody: { required: true, content: { text/plain: { schema: { type: string } } } }
      responses:
        '200': { description: The text., content: { text/plain: { schema: { type: string } } } }
`,
    handlers: `  async putBytes({ body }) {
    return { status: 200, body };
  },
  async putText({ body }) {
    return { status: 200, body: body.toUpperCase() };
  },`,
    program: `const { putBytes, putText } = await import('./calls.js');
const bytes = new Uint8Array([0, 255, 128]);
for (const body of [bytes, new Blob([bytes]), new Blob([bytes]).stream()]) {
  assert.deepEqual(new Uint8Array(await (await putBytes(client, { body })).arrayBuffer()), bytes);
}
assert.equal(await putText(client, { body: 'äb' }), 'ÄB');`,
    exchanges: [
      { request: 'PUT /text', headers: { 'content-type': 'text/plain' }, body: 'a', status: 200, response: 'A' },
    ],
  },
  {
    section,
    feature: 'tuples, and bodies by status',
    outcome: 'supported',
    contract: `paths:
  /pairs/{id}:
    get:
      operationId: getPair
      tags: [Items]
      summary: Get a pair
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        '200': { description: A pair., content: { application/json: { schema: { $ref: '#/components/schemas/Pair' } } } }
        '410': { description: Gone., content: { application/json: { schema: { type: object, required: [since], properties: { since: { type: integer } } } } } }
components:
  schemas:
    Pair: { type: array, minItems: 2, maxItems: 2, prefixItems: [{ type: string }, { type: number }] }
`,
    handlers: `  async getPair({ params }) {
    return params.id === 1 ? { status: 200, body: ['a', 1] } : { status: 410, body: { since: 2020 } };
  },`,
    program: `const { getPair } = await import('./calls.js');
const pair: [string, number] = await getPair(client, { id: 1 });
assert.deepEqual(pair, ['a', 1]);
const { status, error } = await getPair.result(client, { id: 2 });
if (status !== 410) throw new Error('Expected status 410.');
assert.equal(error.since satisfies number, 2020);`,
    exchanges: [
      { request: 'GET /pairs/1', status: 200, response: ['a', 1] },
      { request: 'GET /pairs/2', status: 410, response: { since: 2020 } },
    ],
  },
  {
    section,
    feature: 'parameters with the same name',
    note: 'The names of such arguments start with the place: `pathId`, `queryId`.',
    outcome: 'supported',
    contract: `paths:
  /items/{id}:
    get:
      operationId: getItem
      tags: [Items]
      summary: Get an item
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer } }
        - { name: id, in: query, schema: { type: integer } }
        - { name: X-Trace, in: header, schema: { type: string } }
      responses:
        ${ECHO}
`,
    program: `const { getItem } = await import('./calls.js');
const echo = await getItem(client, { pathId: 1, queryId: 2, 'X-Trace': 'a' });
assert.deepEqual(echo, { params: { id: 1 }, query: { id: 2 }, headers: { 'x-trace': 'a' } });`,
    exchanges: [{ request: 'GET /items/1?id=2', status: 200, response: { params: { id: 1 }, query: { id: 2 } } }],
  },
  {
    section,
    feature: 'pages of a list',
    note: 'A list that takes `limit`, and `offset` or `after`, has `all`.',
    outcome: 'supported',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: List items
      parameters:
        - { name: offset, in: query, schema: { type: integer, default: 0 } }
        - { name: limit, in: query, schema: { type: integer, default: 1, maximum: 2 } }
      responses:
        '200': { description: Items., content: { application/json: { schema: { type: array, items: { type: integer } } } } }
`,
    handlers: `  async listItems({ query: { offset, limit } }) {
    return { status: 200, body: [1, 2, 3, 4, 5].slice(offset, offset + limit) };
  },`,
    program: `const { listItems } = await import('./calls.js');
const { readAll } = await import('./client.js');
const found: number[] = [];
for await (const item of listItems.all(client, { offset: 1 })) found.push(item);
assert.deepEqual(found, [2, 3, 4, 5]);
for await (const item of readAll(client, '/items', { params: { query: { offset: 3, limit: 2 } } })) found.push(item);
assert.deepEqual(found, [2, 3, 4, 5, 4, 5]);`,
    exchanges: [{ request: 'GET /items?offset=1&limit=2', status: 200, response: [2, 3] }],
  },
];
