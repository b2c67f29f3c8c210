import { COMMON, COMMON_FILE, findMistakes, NOTES, NOTES_FILE, refused, toDocuments } from './example.js';

const SECURITY = 'security: [{ session: [] }]\n';
const PICTURE = '/notes/{id}/picture:\n';

/** The place in `text` where the part begins that `marker` points at: its `|` is no part of the text. */
function placeOf(text: string, marker: string): string {
  const offset = text.indexOf(marker.replace('|', '')) + marker.indexOf('|');
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1}`;
}

test('a sound contract has no mistakes', async () => {
  expect(await findMistakes(toDocuments())).toEqual([]);
});

test.each([
  ['broken YAML', 'tags: [Notes]\n      summary: List', 'tags: [Notes\n      summary: List', '|summary: List', /flow/i],
  ['a key twice', 'summary: List notes', 'summary: List\n      summary: notes', '|summary: notes', /unique/],
  [
    'a field that is not known',
    'summary: List',
    'sumary: List',
    '|sumary',
    /received "sumary". Did you mean "summary"\?/,
  ],
  ['a field that is missing', '      operationId: listNotes\n', '', '|get:', /Expected operationId in this operation/],
  ['a field of another sort', 'tags: [Notes]', 'tags: Notes', 'tags: |Notes', /to be a list; received "Notes"/],
  ['another version of OpenAPI', 'openapi: 3.1.0', 'openapi: 3.0.3', 'openapi: |3.0.3', /3\.1\.0.*received "3\.0\.3"/],
  [
    'a feature that we leave out',
    SECURITY,
    `callbacks: {}\n      ${SECURITY}`,
    '|callbacks',
    /"callbacks" is not supported here/,
  ],
  [
    'a budget that is not known',
    'x-rate-limit: create',
    'x-rate-limit: signin',
    'x-rate-limit: |signin',
    /one of create, default, none, sign-in; received "signin"\. Did you mean "sign-in"\?/,
  ],
  [
    'a way to give a body that is not known',
    'x-body: deferred',
    'x-body: defered',
    'x-body: |defered',
    /x-body to be one of deferred; received "defered"\. Did you mean "deferred"\?/,
  ],
  [
    'a deferred body that may be missing',
    'required: true\n        x-max-bytes: 5000',
    'x-max-bytes: 5000',
    '|requestBody:\n        x-max-bytes',
    /Expected required: true beside x-body/,
  ],
  [
    'a deferred body of which repeats are to be known',
    'security: []\n      parameters:\n        - name: X-Signature',
    'security: [{ session: [] }]\n      parameters:\n        - name: Idempotency-Key',
    '|name: Idempotency-Key',
    /Expected no Idempotency-Key beside x-body/,
  ],
  [
    'an operation that perhaps reaches out',
    'x-reaches-out: true',
    'x-reaches-out: perhaps',
    'x-reaches-out: |perhaps',
    /to be true or false; received "perhaps"/,
  ],
  [
    'an event stream that does not say what an event holds',
    "              x-event: { $ref: '#/components/schemas/Note' }\n",
    '',
    '|text/event-stream',
    /Expected x-event, the schema of an event's data/,
  ],
  [
    'two schemes that must both hold',
    '{ session: [] }, {}',
    '{ session: [], token: [] }',
    '|{ session: [], token',
    /Expected one scheme in each alternative, or \{\} for none; received 2/,
  ],
  [
    'a method that we leave out',
    '    get:\n      operationId: getP',
    '    head:\n      operationId: getP',
    '|head:',
    /use delete, get/,
  ],
  [
    'a type that is not known',
    'text: { type: string }',
    'text: { type: strng }',
    'type: |strng',
    /Did you mean "string"\?/,
  ],
  [
    'a schema keyword that is not known',
    'maxLength: 100',
    'maxLenght: 100',
    '|maxLenght',
    /Did you mean "maxLength"\?/,
  ],
  ["a pattern that can't be read", 'maxLength: 100', "pattern: '[a-'", "|'[a-'", /to be a regular expression/],
  ['an enum without values', 'maxLength: 100', 'enum: []', 'enum: |[]', /at least one value/],
  [
    'a format that is not known',
    'text: { type: string }',
    'text: { type: string, format: uid }',
    'format: |uid',
    /"uuid"/,
  ],
  [
    'a schema that leads nowhere',
    'schemas/NewNote',
    'schemas/NewNode',
    "|'#/components/schemas/NewNode'",
    /Did you mean "NewNote"\?/,
  ],
  [
    'a file that is not there',
    'common.yaml#/components/resp',
    'comon.yaml#/components/resp',
    "|'comon.yaml",
    /"openapi\/common.yaml"/,
  ],
  [
    'a reference of another sort',
    'responses/Refused',
    'schemas/Error',
    "|'common.yaml#/components/schemas/Error",
    /components\/responses/,
  ],
  [
    'a reference to itself',
    'NewNote:\n',
    "Loop: { $ref: '#/components/schemas/Loop' }\n    NewNote:\n",
    "|'#/components/schemas/Loop'",
    /leads back/,
  ],
  [
    'an operationId twice',
    'operationId: createNote',
    'operationId: listNotes',
    'operationId: |listNotes\n      tags: [Notes]\n      summary: Create',
    /"listNotes" is taken/,
  ],
  ['an operationId that is no name', 'createNote', 'create-note', '|create-note', /such as listTokens/],
  [
    'a path parameter that is not described',
    PICTURE,
    '/notes/{noteId}/picture:\n',
    '|get:\n      operationId: getP',
    /path parameter "noteId" for get/,
  ],
  ['a path parameter that is not in the path', PICTURE, '/notes/picture:\n', '|name: id', /has no such segment/],
  [
    'a path parameter that may be missing',
    'required: true\n          schema: { type: integer, min',
    'schema: { type: integer, min',
    '|name: id',
    /required: true/,
  ],
  [
    'a path parameter in a part of a segment',
    PICTURE,
    '/notes/a{id}/picture:\n',
    '|/notes/a{id}',
    /take a whole segment/,
  ],
  [
    'paths that differ in names alone',
    'components:\n  sec',
    '  /notes/{key}/picture: {}\ncomponents:\n  sec',
    '|/notes/{key}',
    /differ only in names/,
  ],
  ['a security scheme that is not known', '{ token: [read] }', '{ tokn: [read] }', '{ |tokn', /Did you mean "token"\?/],
  ['an operation that does not say who may call', `      ${SECURITY}`, '', '|post:', /or \[\] to let anyone call/],
  [
    'a tag that is not known',
    'tags: [Notes]\n      summary: Get',
    'tags: [Nots]\n      summary: Get',
    '[|Nots',
    /Did you mean "Notes"\?/,
  ],
  ['a default that does not fit', 'default: 10', 'default: ten', 'default: |ten', /default to be integer/],
  ['a default beyond a bound', 'default: 10', 'default: 500', 'default: |500', /default to be <= 50/],
  ['a default that is not the constant', 'default: 10', 'const: 5, default: 10', 'default: |10', /default to be 5, as/],
  [
    'an example that lacks a property',
    ', text: Buy milk }]',
    ' }]',
    '[|{ id: 1 }]',
    /\/0 of the example to have "text"/,
  ],
  ['an example that does not fit', 'text: Buy milk', 'text: 7', 'text: |7', /\/0\/text of the example to be string/],
  [
    'a response without a description',
    '          description: The note.\n',
    '',
    "|'201'",
    /Expected description in this response/,
  ],
  [
    'an operation without responses',
    `responses:
        '201':
          description: The note.
          content:
            application/json: { schema: { $ref: '#/components/schemas/Note' } }
${refused(400, 401, 403, 406, 413, 415, 429, 500, 503)}`,
    'deprecated: true\n',
    '|post:',
    /Expected responses/,
  ],
  ['a response for several statuses', "'304'", '4XX', '|4XX', /a status such as 200/],
  [
    'no response to a malformed request',
    refused(400, 401, 403, 406, 413),
    refused(401, 403, 406, 413),
    "|responses:\n        '201'",
    /statuses that the router can send; it lacks 400\./,
  ],
  [
    'no responses to a body that is not read',
    refused(400, 413, 415),
    refused(400),
    "|responses:\n        '204'",
    /it lacks 413, 415\./,
  ],
  [
    'no response to a credential that failed too often',
    'security: []\n      parameters:\n        - name: id',
    'security: [{ token: [] }]\n      x-rate-limit: none\n      parameters:\n        - name: id',
    "|responses:\n        '200':\n          description: The picture",
    /it lacks 401, 403\./,
  ],
  ['only failures', "'201'", "'409'", "|responses:\n        '409'", /from 200 to 299/],
  [
    'a body where there is none',
    "'304':",
    "'204':\n          content: { image/png: {} }",
    "|'204':\n          content",
    /204 has no body/,
  ],
  [
    'a parameter without a schema',
    '          schema: { type: integer, minimum: 1 }\n',
    '',
    '|name: id',
    /Expected schema in this parameter/,
  ],
  [
    'a parameter that is an object',
    'schema: { type: integer, minimum: 1 }',
    'schema: { type: object }',
    '|{ type: object }',
    /type boolean, integer/,
  ],
  [
    'a parameter twice',
    'name: tag',
    'name: limit',
    '|name: limit\n          in: query\n          schema: { type: array',
    /twice/,
  ],
  [
    'a body for get',
    '      security: []\n',
    '      requestBody: { content: { image/png: {} } }\n      security: []\n',
    '|requestBody: { c',
    /no body for get/,
  ],
  ['no server', 'servers: [{ url: /notes }]\n', '', '|openapi', /one server; received 0/],
  [
    'a tag whose interface is taken',
    'name: Notes\n',
    'name: dashboard\n',
    'name: |dashboard',
    /both give DashboardHandlers/,
  ],
  [
    'a component that two documents have',
    '    Note:\n',
    '    Error: { type: string }\n    Note:\n',
    '|Error: { type',
    /one component of the name "schemas\/Error"/,
  ],
])('%s is reported where it stands', async (_reason, from, to, marker, message) => {
  expect(NOTES).toContain(from);
  const text = NOTES.replace(from, to);
  const mistakes = await findMistakes(toDocuments(text));
  expect(mistakes).toContainEqual(expect.objectContaining({ message: expect.stringMatching(message) as string }));
  const found = mistakes.find((mistake) => message.test(mistake.message))!;
  expect(`${found.file}:${found.line}:${found.column}`).toBe(`${NOTES_FILE}:${placeOf(text, marker)}`);
});

test('all mistakes of both documents are reported at once, in order', async () => {
  const notes = NOTES.replace('default: 10', 'default: ten').replace('createNote', 'listNotes');
  const common = COMMON.replace('description: Refused.', 'descripton: Refused.');
  const mistakes = await findMistakes(toDocuments(notes, common));
  expect(mistakes.map(({ file, line }) => `${file}:${line}`)).toEqual([
    `${COMMON_FILE}:7`,
    `${COMMON_FILE}:8`,
    `${NOTES_FILE}:17`,
    `${NOTES_FILE}:38`,
  ]);
});
