import type { Exchange, Row } from '../row.js';

const section = 'Request bodies';

/** Writes a contract with one operation that has a body with some content. */
const withBody = (content: string, more = ''): string => `paths:
  /items:
    post:
      operationId: createItem
      tags: [Items]
      summary: Create an item
      requestBody:
        required: true${more}
        content:
          ${content}
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`;

const FORM = 'application/x-www-form-urlencoded';

const post = (type: string, body: string, rest: Omit<Exchange, 'body' | 'headers' | 'request'>): Exchange => ({
  request: 'POST /items',
  headers: { 'content-type': type },
  body,
  // The client sends files of its own, and one media type for each operation.
  ...(type !== FORM && { isRepeated: false }),
  ...rest,
});

const MULTIPART = 'multipart/form-data; boundary=b';

/** A part of a form, as browsers write it (RFC 7578). */
interface Part {
  readonly name: string;
  readonly text: string;
  readonly filename?: string;
  readonly type?: string;
}

const toMultipart = (...parts: readonly Part[]): string => [...parts.map(toPart), '--b--\r\n'].join('');

const toPart = ({ name, text, filename, type }: Part): string =>
  [
    '--b',
    `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    '',
    text,
    '',
  ].join('\r\n');

/** Handlers that return the fields of a form, and the name, type and size of its files. */
const READ_FILES = `  async createItem({ body }) {
    const files: unknown[] = [];
    for await (const { name, filename, contentType, content } of body.files) {
      let size = 0;
      for await (const chunk of content) size += (chunk as Buffer).length;
      files.push({ name, filename, contentType, size });
    }
    return { status: 200, body: { fields: body.fields, files } };
  },`;

const PHOTOS = `multipart/form-data:
            schema:
              type: object
              required: [title, cover]
              additionalProperties: false
              properties:
                title: { type: string, maxLength: 10 }
                year: { type: integer }
                cover: { type: string, format: binary, maxLength: 8 }
                photos: { type: array, maxItems: 2, items: { type: string, contentMediaType: image/png } }
                scan: { type: string, contentMediaType: application/octet-stream }
            encoding:
              cover: { contentType: 'image/png, image/jpeg' }`;

const title = { name: 'title', text: 'Boats' };
const cover = { name: 'cover', text: '12345678', filename: 'a/b.png', type: 'image/png' };
const photo = { name: 'photos', text: 'xyz', filename: 'c.png', type: 'image/png' };

/** A resource with properties of one direction, also in a schema that it refers to. */
const USERS = `paths:
  /items:
    post:
      operationId: createItem
      tags: [Items]
      summary: Create an item
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/User' }
      responses:
        '200':
          description: The user.
          content:
            application/json:
              schema: { $ref: '#/components/schemas/User' }
components:
  schemas:
    User:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string }
        password: { type: string, writeOnly: true }
        home: { $ref: '#/components/schemas/Home' }
    Home:
      type: object
      required: [since, city]
      additionalProperties: false
      properties:
        since: { type: integer, readOnly: true }
        city: { type: string }
      example: { since: 1, city: b }
`;

/** A handler that uses the types of both directions. */
const WITH_ID = `  async createItem({ body }) {
    // @ts-expect-error The request has no id.
    const { id, name, home, password: _password } = body;
    if (id !== undefined || (home !== undefined && 'since' in home)) throw new Error('A read-only property arrived.');
    return { status: 200, body: { id: 7, name, ...(home && { home: { city: home.city, since: 1 } }) } };
  },`;

export const rows: readonly Row[] = [
  {
    section,
    feature: 'text/plain',
    outcome: 'supported',
    contract: withBody('text/plain: { schema: { type: string, maxLength: 5, pattern: "^[a-zé]*$" } }'),
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { text: body.toUpperCase() } }),`,
    program: `  const { data } = await client.POST('/items', {
    body: 'abé',
    bodySerializer: (body) => body,
    headers: { 'Content-Type': 'text/plain' },
  });
  assert.deepEqual(data, { text: 'ABÉ' });`,
    exchanges: [
      post('text/plain; charset=utf-8', 'abé', { status: 200, response: { text: 'ABÉ' } }),
      post('text/plain', 'abcdef', { status: 400, response: { code: 'invalid_input', field: 'body' } }),
      post('text/plain', 'A', { status: 400, response: { code: 'invalid_input', field: 'body' } }),
      post('text/plain; charset=latin1', 'a', { status: 415 }),
      post('text/html', 'a', { status: 415, response: { code: 'unsupported_media_type' } }),
      post('text/plain', '', { status: 200, response: { text: '' } }),
    ],
  },
  {
    section,
    feature: 'x-max-bytes',
    outcome: 'supported',
    contract: withBody('text/plain: { schema: { type: string } }', '\n        x-max-bytes: 10'),
    exchanges: [
      post('text/plain', '0123456789', { status: 200, response: { body: '0123456789' } }),
      post('text/plain', '0123456789x', { status: 413, response: { code: 'too_large' } }),
    ],
  },
  {
    section,
    feature: 'a charset in the media type',
    outcome: 'supported',
    contract: withBody("'text/csv; charset=utf-8': { schema: { type: string } }"),
    exchanges: [post('text/csv', 'a,b', { status: 200, response: { body: 'a,b' } })],
  },
  {
    section,
    feature: 'another charset',
    outcome: 'refused',
    contract: withBody("'text/csv; charset=latin1': { schema: { type: string } }"),
    errors: ['10:11 Expected no charset but utf-8 in the media type; received "text/csv; charset=latin1".'],
  },
  {
    section,
    feature: 'other parameters of a media type',
    note: 'They have no effect, so a media type with other parameters is ignored beside it. A warning.',
    outcome: 'supported',
    contract: withBody(`application/json;version=1: { schema: { type: string } }
          application/json;version=2: { schema: { type: number } }`),
    warnings: [
      '11:11 The media types "application/json;version=1" and "application/json;version=2" differ in their parameters only. The second one is ignored.',
      '12:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      post('application/json', '"a"', { status: 200, response: { body: 'a' } }),
      post('application/json;version=1', '"a"', { status: 200, response: { body: 'a' } }),
      post('application/json;version=1', '1', { status: 400 }),
    ],
  },
  {
    section,
    feature: 'text of another type than string',
    note: 'The schema is ignored, and the body is text. A warning.',
    outcome: 'supported',
    contract: withBody('text/plain: { schema: { type: object } }'),
    warnings: [
      '10:33 Expected the type string for the body text/plain; received object. The schema is ignored.',
      '11:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [post('text/plain', 'a', { status: 200, response: { body: 'a' } })],
  },
  {
    section,
    feature: 'a range of media types',
    note: 'The handler receives `contentType`.',
    outcome: 'supported',
    contract: withBody('text/*: { schema: { type: string } }'),
    handlers: `  createItem: async ({ contentType, body }) => ({ status: 200, body: { contentType, length: body.length } }),`,
    exchanges: [
      post('text/html', '<p>', { status: 200, response: { contentType: 'text/html', length: 3 } }),
      post('image/png', '<p>', { status: 415 }),
    ],
  },
  {
    section,
    feature: 'text/json and application/*+json',
    note: 'Contracts that ASP.NET writes have them beside `application/json`.',
    outcome: 'supported',
    contract: withBody(`application/json: { schema: { $ref: '#/components/schemas/Item' } }
          text/json: { schema: { $ref: '#/components/schemas/Item' } }
          application/*+json: { schema: { $ref: '#/components/schemas/Item' } }`).concat(`components:
  schemas:
    Item: { type: object, required: [text], properties: { text: { type: string } } }
`),
    handlers: `  createItem: async ({ contentType, body }) => ({ status: 200, body: { contentType, text: body.text } }),`,
    exchanges: [
      post('application/json', '{"text":"a"}', { status: 200, response: { text: 'a' } }),
      post('text/json', '{"text":"a"}', { status: 200, response: { contentType: 'text/json', text: 'a' } }),
      post('text/json', '{}', { status: 400, response: { field: 'text' } }),
      post('application/merge-patch+json', '{"text":"a"}', {
        status: 200,
        response: { contentType: 'application/merge-patch+json', text: 'a' },
      }),
      post('application/merge-patch+json', '{}', { status: 400, response: { field: 'text' } }),
      post('text/plain', 'a', { status: 415 }),
    ],
    program: `const { data } = await client.POST('/items', { body: { text: 'a' } });
assert.equal(data?.text, 'a');`,
  },
  {
    section,
    feature: 'several media types',
    note: 'The handler receives `contentType`, which tells the types of `body` apart.',
    outcome: 'supported',
    contract: withBody(`application/json:
            schema: { type: object, required: [text], properties: { text: { type: string } } }
          text/plain: { schema: { type: string, maxLength: 5 } }
          '*/*': {}`),
    handlers: `  async createItem(input) {
    if (input.contentType === 'application/json') {
      const { text } = input.body as { readonly text: string };
      return { status: 200, body: { text, from: 'json' } };
    }
    const text = typeof input.body === 'string' ? input.body : Buffer.from(input.body as Uint8Array).toString();
    return { status: 200, body: { text, from: input.contentType } };
  },`,
    exchanges: [
      post('application/json', '{"text":"a"}', { status: 200, response: { text: 'a', from: 'json' } }),
      post('application/json', '{}', { status: 400, response: { field: 'text' } }),
      post('text/plain', 'a', { status: 200, response: { text: 'a', from: 'text/plain' } }),
      post('text/plain', 'abcdef', { status: 400, response: { field: 'body' } }),
      post('image/png', 'a', { status: 200, response: { text: 'a', from: 'image/png' } }),
    ],
  },
  {
    section,
    feature: FORM,
    outcome: 'supported',
    contract: withBody(`${FORM}:
            schema: { $ref: '#/components/schemas/Item' }`).concat(`components:
  schemas:
    Item:
      type: object
      required: [name]
      additionalProperties: false
      properties:
        name: { type: string, maxLength: 5 }
        count: { type: integer, default: 1 }
        tags: { type: array, items: { type: string } }
        size: { type: object, properties: { width: { type: number } } }
`),
    handlers: `  async createItem({ body }) {
    const { name, count, tags = [], size } = body;
    const total: number = count + tags.length + (size?.width ?? 0);
    return { status: 200, body: { name, total } };
  },`,
    program: `  const { data } = await client.POST('/items', {
    body: { name: 'a b', count: 2 },
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  assert.deepEqual(data, { name: 'a b', total: 2 });`,
    exchanges: [
      post(FORM, 'name=a+b&count=2&tags=x&tags=y', { status: 200, response: { name: 'a b', total: 4 } }),
      post(FORM, 'name=a&size=%7B%22width%22%3A1.5%7D', { status: 200, response: { name: 'a', total: 2.5 } }),
      post(FORM, 'count=2', { status: 400, response: { code: 'invalid_input', field: 'name' } }),
      post(FORM, 'name=a&count=x', { status: 400, response: { code: 'invalid_input', field: 'count' } }),
      post(FORM, 'name=abcdef', { status: 400, response: { code: 'invalid_input', field: 'name' } }),
      post(FORM, 'name=a&more=1', { status: 400, response: { code: 'invalid_input', field: 'more' } }),
      post(FORM, 'name=a&size={', { status: 400, response: { code: 'invalid_input', field: 'size' } }),
      post(FORM, 'name=%', { status: 400 }),
    ],
  },
  {
    section,
    feature: 'encoding with style and explode',
    outcome: 'supported',
    contract: withBody(`${FORM}:
            schema:
              type: object
              properties:
                tags: { type: array, items: { type: integer } }
                size: { type: object, properties: { width: { type: integer } } }
            encoding:
              tags: { style: pipeDelimited, explode: false }
              size: { style: deepObject }`),
    exchanges: [
      post(FORM, 'tags=1|2&size[width]=3', { status: 200, response: { body: { tags: [1, 2], size: { width: 3 } } } }),
      post(FORM, 'tags=1|x', { status: 400, response: { field: 'tags' } }),
    ],
  },
  {
    section,
    feature: 'encoding of a property that is not in the schema',
    note: 'A warning.',
    outcome: 'supported',
    contract: withBody(`${FORM}:
            schema: { type: object, properties: { tags: { type: string } } }
            encoding: { tag: { style: form } }`),
    warnings: [
      '12:25 The form has no property "tag". Did you mean "tags"?',
      '13:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [post(FORM, 'tags=a', { status: 200, response: { body: { tags: 'a' } } })],
  },
  {
    section,
    feature: 'encoding of JSON',
    outcome: 'refused',
    contract: withBody(`application/json:
            schema: { type: object, properties: { tag: { type: string } } }
            encoding: { tag: { style: form } }`),
    errors: [`12:13 "encoding" describes the fields of ${FORM} and multipart/form-data, not of application/json.`],
  },
  {
    section,
    feature: 'a form that is not an object',
    note: 'Its fields are not known. A warning.',
    outcome: 'supported',
    contract: withBody(`${FORM}: { schema: { type: string } }`),
    warnings: [
      '10:56 Expected the type object for the body application/x-www-form-urlencoded; received string. The schema is ignored.',
      '11:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [post(FORM, 'a=1', { status: 200, response: { body: { a: '1' } } })],
  },
  {
    section,
    feature: 'multipart/form-data without files',
    outcome: 'supported',
    contract: withBody(`multipart/form-data:
            schema:
              type: object
              required: [name]
              properties:
                name: { type: string, maxLength: 5 }
                count: { type: integer }
                meta: { type: object, required: [a], properties: { a: { type: integer } } }`),
    exchanges: [
      post(
        MULTIPART,
        toMultipart(
          { name: 'name', text: 'a b' },
          { name: 'count', text: '3' },
          { name: 'meta', text: '{"a":1}', filename: 'blob', type: 'application/json' },
        ),
        { status: 200, response: { body: { name: 'a b', count: 3, meta: { a: 1 } } } },
      ),
      post(MULTIPART, toMultipart({ name: 'name', text: 'longer' }), { status: 400, response: { field: 'name' } }),
      post(MULTIPART, toMultipart({ name: 'count', text: '3' }), { status: 400, response: { field: 'name' } }),
      post(MULTIPART, toMultipart({ name: 'name', text: 'a' }, { name: 'count', text: 'x' }), {
        status: 400,
        response: { field: 'count' },
      }),
      post(MULTIPART, '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\na', {
        status: 400,
        response: { code: 'malformed_body' },
      }),
      post('multipart/form-data', 'a', { status: 400, response: { code: 'malformed_body' } }),
    ],
  },
  {
    section,
    feature: 'files of multipart/form-data',
    note: 'The handler reads them as streams, within the limits of the contract. Nothing is written to disk. With contentMediaType application/octet-stream, a file may have any type.',
    outcome: 'supported',
    contract: withBody(PHOTOS),
    handlers: READ_FILES,
    program: `  const form = new FormData();
  form.set('title', 'Boats');
  form.set('cover', new Blob(['1234'], { type: 'image/png' }), 'a.png');
  const { data } = await client.POST('/items', { body: form as never });
  const cover = { name: 'cover', filename: 'a.png', contentType: 'image/png', size: 4 };
  assert.deepEqual(data, { fields: { title: 'Boats' }, files: [cover] });`,
    exchanges: [
      post(MULTIPART, toMultipart(title, cover, photo, photo), {
        status: 200,
        response: {
          fields: { title: 'Boats' },
          files: [
            { name: 'cover', filename: 'b.png', contentType: 'image/png', size: 8 },
            { name: 'photos', filename: 'c.png', contentType: 'image/png', size: 3 },
            { name: 'photos', filename: 'c.png', contentType: 'image/png', size: 3 },
          ],
        },
      }),
      post(MULTIPART, toMultipart(title, cover, { ...photo, name: 'scan' }), {
        status: 200,
        response: { files: [{ name: 'cover' }, { name: 'scan', contentType: 'image/png' }] },
      }),
      post(MULTIPART, toMultipart(cover, title), { status: 200, response: { fields: { title: 'Boats' } } }),
      post(MULTIPART, toMultipart(title), { status: 400, response: { code: 'invalid_input', field: 'cover' } }),
      post(MULTIPART, toMultipart(cover), { status: 400, response: { code: 'invalid_input', field: 'title' } }),
      post(MULTIPART, toMultipart(title, cover, cover), { status: 400, response: { field: 'cover' } }),
      post(MULTIPART, toMultipart(title, cover, photo, photo, photo), { status: 400, response: { field: 'photos' } }),
      post(MULTIPART, toMultipart(title, { ...cover, text: '123456789' }), {
        status: 413,
        response: { code: 'too_large', field: 'cover' },
      }),
      post(MULTIPART, toMultipart(title, { ...cover, type: 'text/html' }), {
        status: 415,
        response: { field: 'cover' },
      }),
      post(MULTIPART, toMultipart(title, cover, { ...photo, name: 'other' }), {
        status: 400,
        response: { field: 'other' },
      }),
      post(MULTIPART, toMultipart(title, cover, { name: 'more', text: 'x' }), {
        status: 400,
        response: { field: 'more' },
      }),
    ],
  },
  {
    section,
    feature: 'files that may be null',
    note: 'As frameworks describe optional files. A file that is left out is absent, never null.',
    outcome: 'supported',
    contract: withBody(`multipart/form-data:
            schema:
              type: object
              properties:
                a: { type: [string, 'null'], format: binary }
                b: { anyOf: [{ type: string, format: binary }, { type: 'null' }] }
                c: { oneOf: [{ type: 'null' }, { type: array, maxItems: 1, items: { contentMediaType: image/png } }] }`),
    handlers: READ_FILES,
    exchanges: [
      post(MULTIPART, toMultipart({ ...photo, name: 'a' }, { ...photo, name: 'b' }, { ...photo, name: 'c' }), {
        status: 200,
        response: { fields: {}, files: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
      }),
      post(MULTIPART, toMultipart({ ...photo, name: 'c', type: 'text/html' }), { status: 415 }),
    ],
  },
  {
    section,
    feature: 'x-max-bytes of a file',
    outcome: 'supported',
    contract: withBody(`multipart/form-data:
            schema: { type: object, properties: { file: { type: string, format: binary } } }
            encoding: { file: { x-max-bytes: 3 } }`),
    handlers: READ_FILES,
    exchanges: [
      post(MULTIPART, toMultipart({ ...photo, name: 'file' }), { status: 200, response: { files: [{ size: 3 }] } }),
      post(MULTIPART, toMultipart({ ...photo, name: 'file', text: '1234' }), { status: 413 }),
    ],
  },
  {
    section,
    feature: 'x-max-bytes of a field',
    outcome: 'refused',
    contract: withBody(`multipart/form-data:
            schema: { type: object, properties: { text: { type: string, x-max-bytes: 3 } } }`),
    errors: ['11:73 x-max-bytes limits files, and "text" is a field. Use maxLength.'],
  },
  {
    section,
    feature: 'a style in multipart/form-data',
    note: 'It is ignored: a part has a content type. A warning.',
    outcome: 'supported',
    contract: withBody(`multipart/form-data:
            schema: { type: object, properties: { text: { type: string } } }
            encoding: { text: { style: form } }`),
    warnings: [
      '12:33 "style" is ignored for a part of multipart/form-data, which has a contentType.',
      '13:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [post(MULTIPART, toMultipart({ name: 'tags', text: 'a' }), { status: 200 })],
  },
  {
    section,
    feature: 'headers of a part',
    outcome: 'refused',
    contract: withBody(`multipart/form-data:
            schema: { type: object, properties: { text: { type: string } } }
            encoding: { text: { headers: {} } }`),
    errors: ['12:33 "headers" is not supported here: the headers of a part are its name, file name and media type.'],
  },
  {
    section,
    feature: 'multipart/mixed',
    note: 'Bytes, as are all multipart types but `multipart/form-data`. A warning.',
    outcome: 'supported',
    contract: withBody('multipart/mixed: { schema: { type: object } }'),
    warnings: [
      '10:11 "multipart/mixed" is sent and received as bytes, as only multipart/form-data is a form.',
      '11:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { bytes: [...body] } }),`,
    program: `const { createItem } = await import('./calls.js');
assert.deepEqual(await createItem(client, { body: new Blob(['ab']) }), { bytes: [97, 98] });`,
    exchanges: [post('multipart/mixed; boundary=b', 'ab', { status: 200, response: { bytes: [97, 98] } })],
  },
  {
    section,
    feature: 'other media types',
    note: 'The handler receives their bytes.',
    outcome: 'supported',
    contract: withBody('image/png: {}'),
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { bytes: [...body] } }),`,
    exchanges: [post('image/png', 'ab', { status: 200, response: { bytes: [97, 98] } })],
  },
  {
    section,
    feature: 'maxLength of bytes',
    note: 'It lowers the limit of the body.',
    outcome: 'supported',
    contract: withBody('image/png: { schema: { type: string, maxLength: 2 } }'),
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { bytes: [...body] } }),`,
    exchanges: [
      post('image/png', 'ab', { status: 200, response: { bytes: [97, 98] } }),
      post('image/png', 'abc', { status: 413 }),
    ],
  },
  {
    section,
    feature: 'a limit above that of the whole body',
    note: 'A body has 1 MiB unless `x-max-bytes` of the request body says otherwise. A warning.',
    outcome: 'supported',
    contract: withBody(`multipart/form-data:
            schema: { type: object, properties: { files: { type: array, items: { format: binary, maxLength: 2000000 } } } }
          image/png: { schema: { maxLength: 2000000 } }
          text/plain: { schema: { type: string, maxLength: 1000000 } }`),
    warnings: [
      '11:98 The limit of the whole body is 1048576 bytes. Set x-max-bytes of the request body.',
      '12:34 The limit of the whole body is 1048576 bytes. Set x-max-bytes of the request body.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    handlers: `  createItem: async () => ({ status: 200, body: {} }),`,
    exchanges: [post('text/plain', 'a', { status: 200 })],
  },
  {
    section,
    feature: 'lists that may be null in a form',
    outcome: 'supported',
    contract: withBody(`multipart/form-data:
            schema:
              type: object
              properties:
                tags: { anyOf: [{ type: array, items: { type: string } }, { type: 'null' }] }
                points: { anyOf: [{ type: array, items: { type: object } }, { type: 'null' }] }`),
    exchanges: [
      post(MULTIPART, toMultipart({ name: 'tags', text: 'a' }, { name: 'points', text: '{"x":1}' }), {
        status: 200,
        response: { body: { tags: ['a'], points: [{ x: 1 }] } },
      }),
    ],
  },
  {
    section,
    feature: 'a body of no bytes',
    note: 'A required one is an empty text, file or form. As JSON it is missing, and so is any without a media type.',
    outcome: 'supported',
    contract: withBody(`text/plain: { schema: { type: string } }
          image/*: {}
          ${FORM}: { schema: { type: object, properties: { a: { type: string } } } }
          application/json: { schema: { type: object } }`),
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { body } }),`,
    program: `    const { data } = await client.POST('/items', { body: '', headers: { 'Content-Type': 'text/plain' } });
    assert.deepEqual(data, { body: '' });`,
    exchanges: [
      post('text/plain', '', { status: 200, response: { body: '' } }),
      post('image/png', '', { status: 200, response: { body: { type: 'Buffer', data: [] } } }),
      post(FORM, '', { status: 200, response: { body: {} }, isRepeated: false }),
      post('application/json', '', { status: 400, response: { code: 'malformed_body' } }),
      { request: 'POST /items', status: 400, response: { code: 'malformed_body' } },
    ],
  },
  {
    section,
    feature: 'an optional body of no bytes',
    note: 'It is absent.',
    outcome: 'supported',
    contract: withBody(
      `${FORM}: { schema: { type: object, required: [a], properties: { a: { type: string } } } }`,
    ).replace('required: true', 'required: false'),
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { isAbsent: body === undefined } }),`,
    exchanges: [
      post(FORM, '', { status: 200, response: { isAbsent: true }, isRepeated: false }),
      post(FORM, 'a=b', { status: 200, response: { isAbsent: false }, isRepeated: false }),
    ],
  },
  {
    section,
    feature: 'x-body: deferred',
    note: 'The handler reads the bytes when it needs them.',
    outcome: 'supported',
    contract: withBody('text/plain: {}', '\n        x-body: deferred'),
    handlers: `  createItem: async ({ body }) => ({ status: 200, body: { text: (await body()).toString() } }),`,
    exchanges: [
      post('text/plain', 'ab', { status: 200, response: { text: 'ab' } }),
      post('text/plain', '', { status: 200, response: { text: '' } }),
    ],
  },
  {
    section,
    feature: 'readOnly',
    note: 'A read-only property is ignored in requests, and required in responses only.',
    outcome: 'supported',
    contract: USERS,
    handlers: WITH_ID,
    exchanges: [
      post('application/json', '{"name":"a","id":"x","home":{"since":9,"city":"b"}}', {
        status: 200,
        response: { id: 7, name: 'a', home: { city: 'b', since: 1 } },
      }),
      post('application/json', '{"name":"a","password":"p"}', { status: 200, response: { id: 7, name: 'a' } }),
      post('application/json', '{"id":1}', { status: 400, response: { field: 'name' } }),
      post('application/json', '{"name":"a","home":{"city":"b","more":1}}', {
        status: 400,
        response: { field: 'home.more' },
      }),
    ],
  },
  {
    section,
    feature: 'writeOnly',
    note: 'A write-only property is an error in responses, and required in requests only.',
    outcome: 'supported',
    contract: USERS,
    handlers: `  createItem: async ({ body }) => {
    const { home: _home, ...leaked } = body;
    return { status: 200, body: { id: 7, ...leaked } };
  },`,
    exchanges: [
      post('application/json', '{"name":"a"}', { status: 200, response: { id: 7, name: 'a' } }),
      post('application/json', '{"name":"a","password":"p"}', { status: 500, response: { code: 'internal' } }),
    ],
  },
  {
    section,
    feature: 'readOnly and writeOnly in examples',
    note: 'An example is checked in its direction. One that does not match is a warning.',
    outcome: 'supported',
    contract: withBody(`application/json:
            schema: { type: object, required: [id, key], properties: { id: { type: integer, readOnly: true }, key: { type: string, writeOnly: true } } }
            example: { id: 1 }`),
    exchanges: [post('application/json', '{"id":1,"key":"a"}', { status: 200, response: { body: { key: 'a' } } })],
    warnings: [
      '12:22 Expected the example to have "key", according to its schema.',
      '13:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
  },
];
