import type { Contract } from '../../src/openapi/contract.js';
import { generateService } from '../../src/openapi/preset.js';
import { writeValidators } from '../../src/openapi/validators.js';
import {
  COMMON,
  COMMON_FILE,
  CONFIG,
  findDiagnostics,
  NOTES,
  NOTES_FILE,
  errorResponses,
  toDocuments,
} from './example.js';

const SECURITY = 'security: [{ session: [] }]\n';
const PICTURE = '/notes/{id}/picture:\n';

/** Returns the position in `text` that the `|` in `marker` points at. The `|` is not part of the text. */
function placeOf(text: string, marker: string): string {
  const offset = text.indexOf(marker.replace('|', '')) + marker.indexOf('|');
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1}`;
}

test('a valid OpenAPI contract has no errors', async () => {
  expect(await findDiagnostics(toDocuments())).toEqual([]);
});

test.each([
  ['broken YAML', 'tags: [Notes]\n      summary: List', 'tags: [Notes\n      summary: List', '|summary: List', /flow/i],
  ['a duplicate key', 'summary: List notes', 'summary: List\n      summary: notes', '|summary: notes', /unique/],
  [
    'an unknown field',
    'summary: List',
    'sumary: List',
    '|sumary',
    /Unknown field "sumary" in this operation\. Did you mean "summary"\?/,
  ],
  ['a missing name', '      operationId: listNotes\n', '', '|get:', /no operationId; its handler is getNotes\./],
  ['a field of the wrong type', 'tags: [Notes]', 'tags: Notes', 'tags: |Notes', /to be a list; received "Notes"/],
  [
    'an unsupported version of OpenAPI',
    'openapi: 3.1.0',
    'openapi: 4.0.0',
    'openapi: |4.0.0',
    /3\.1\.0.*received "4\.0\.0"/,
  ],
  [
    'an unsupported feature',
    SECURITY,
    `servers: []\n      ${SECURITY}`,
    '|servers: []',
    /"servers" has no effect: the operations of a contract have one base path/,
  ],
  [
    'an unknown rate limit',
    'x-rate-limit: create',
    'x-rate-limit: signin',
    'x-rate-limit: |signin',
    /one of create, default, none, sign-in; received "signin"\. Did you mean "sign-in"\?/,
  ],
  [
    'an unknown body mode',
    'x-body: deferred',
    'x-body: defered',
    'x-body: |defered',
    /x-body to be one of deferred; received "defered"\. Did you mean "deferred"\?/,
  ],
  [
    'an optional deferred body',
    'required: true\n        x-max-bytes: 5000',
    'x-max-bytes: 5000',
    '|requestBody:\n        x-max-bytes',
    /x-body needs required: true/,
  ],
  [
    'a deferred body with an idempotency key',
    'security: []\n      parameters:\n        - name: X-Signature',
    'security: [{ session: [] }]\n      parameters:\n        - name: Idempotency-Key',
    '|name: Idempotency-Key',
    /Idempotency-Key cannot be combined with x-body/,
  ],
  [
    'a boolean extension with a text value',
    'x-reaches-out: true',
    'x-reaches-out: perhaps',
    'x-reaches-out: |perhaps',
    /to be true or false; received "perhaps"/,
  ],
  [
    'an event stream without a schema of its events',
    "              x-event: { $ref: '#/components/schemas/Note' }\n",
    '',
    '|text/event-stream',
    /The stream has no x-event, the schema of the event data/,
  ],
  [
    'an alternative with an unknown security scheme',
    '{ session: [] }, {}',
    '{ session: [], tokens: [] }',
    '{ session: [], |tokens',
    /Expected one of the contract's security schemes; received "tokens"\. Did you mean "token"\?/,
  ],
  [
    'an unsupported method',
    '    get:\n      operationId: getP',
    '    trace:\n      operationId: getP',
    '|trace:',
    /"trace" is not supported here/,
  ],
  ['an unknown type', 'text: { type: string }', 'text: { type: strng }', 'type: |strng', /Did you mean "string"\?/],
  ['an unknown schema keyword', 'maxLength: 100', 'maxLenght: 100', '|maxLenght', /Did you mean "maxLength"\?/],
  ['an invalid pattern', 'maxLength: 100', "pattern: '[a-'", "|'[a-'", /is not a regular expression of JavaScript/],
  ['an enum that is no list', 'maxLength: 100', 'enum: a', 'enum: |a', /to be a list/],
  ['an unknown format', 'text: { type: string }', 'text: { type: string, format: uid }', 'format: |uid', /"uuid"/],
  [
    'a reference to a missing schema',
    'schemas/NewNote',
    'schemas/NewNode',
    "|'#/components/schemas/NewNode'",
    /Did you mean "NewNote"\?/,
  ],
  [
    'a reference to a missing file',
    'common.yaml#/components/resp',
    'comon.yaml#/components/resp',
    "|'comon.yaml",
    /"openapi\/common.yaml"/,
  ],
  [
    'a reference to the wrong section',
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
    /is circular/,
  ],
  [
    'a duplicate operationId',
    'operationId: createNote',
    'operationId: listNotes',
    'operationId: |listNotes\n      tags: [Notes]\n      summary: Create',
    /"listNotes" of post \/notes is already in use/,
  ],
  ['an operationId that is not a valid name', 'createNote', 'create-note', '|create-note', /such as listTokens/],
  [
    'an undeclared path parameter',
    PICTURE,
    '/notes/{noteId}/picture:\n',
    '|get:\n      operationId: getP',
    /get \/notes\/\{noteId\}\/picture does not declare the path parameter "noteId"/,
  ],
  ['a path parameter that is not in the path', PICTURE, '/notes/picture:\n', '|name: id', /has no segment "\{id\}"/],
  [
    'an optional path parameter',
    'required: true\n          schema: { type: integer, min',
    'schema: { type: integer, min',
    '|name: id',
    /path parameter "id" is required/,
  ],
  [
    'path parameters without text between them',
    PICTURE,
    '/notes/{id}{format}/picture:\n',
    '|/notes/{id}',
    /with text between two of them; received "\{id\}\{format\}"/,
  ],
  [
    'ambiguous paths',
    'components:\n  sec',
    '  /notes/{key}/picture: {}\ncomponents:\n  sec',
    '|/notes/{key}',
    /are ambiguous: only their parameter names differ/,
  ],
  ['an unknown security scheme', '{ token: [read] }', '{ tokn: [read] }', '{ |tokn', /Did you mean "token"\?/],
  ['an operation without security', `      ${SECURITY}`, '', '|post:', /Use \[\] for a public operation/],
  [
    'an unknown tag',
    'tags: [Notes]\n      summary: Get',
    'tags: [Nots]\n      summary: Get',
    '[|Nots',
    /Did you mean "Notes"\?/,
  ],
  ['a default of the wrong type', 'default: 10', 'default: ten', 'default: |ten', /default to be integer/],
  ['a default above the maximum', 'default: 10', 'default: 500', 'default: |500', /default to be <= 50/],
  [
    'a default that differs from the constant',
    'default: 10',
    'const: 5, default: 10',
    'default: |10',
    /default to be 5, according to its schema/,
  ],
  [
    'an example without a required property',
    ', text: Buy milk }]',
    ' }]',
    '[|{ id: 1 }]',
    /\/0 of the example to have "text"/,
  ],
  ['an example of the wrong type', 'text: Buy milk', 'text: 7', 'text: |7', /\/0\/text of the example to be string/],
  [
    'a response without a description',
    '          description: The note.\n',
    '',
    "|'201'",
    /response has no description/,
  ],
  [
    'an operation without responses',
    `responses:
        '201':
          description: The note.
          content:
            application/json: { schema: { $ref: '#/components/schemas/Note' } }
${errorResponses(400, 401, 403, 406, 413, 415, 429, 500, 503)}`,
    'deprecated: true\n',
    '|post:',
    /no responses, so its handler can send any status/,
  ],
  ['a response for unknown statuses', "'304'", '4xx', '|4xx', /a range such as 4XX, or default; received "4xx"/],
  [
    'a missing response to malformed requests',
    errorResponses(400, 401, 403, 406, 413),
    errorResponses(401, 403, 406, 413),
    "|responses:\n        '201'",
    /statuses, which the router can send: 400\./,
  ],
  [
    'missing responses to unaccepted bodies',
    errorResponses(400, 413, 415),
    errorResponses(400),
    "|responses:\n        '204'",
    /the router can send: 413, 415\./,
  ],
  [
    'missing responses to invalid credentials',
    'security: []\n      parameters:\n        - name: id',
    'security: [{ token: [] }]\n      x-rate-limit: none\n      parameters:\n        - name: id',
    "|responses:\n        '200':\n          description: The picture",
    /the router can send: 401, 403\./,
  ],
  ['an operation with only error responses', "'201'", "'409'", "|responses:\n        '409'", /no response below 400/],
  [
    'content of a response without body',
    "'304':",
    "'204':\n          content: { image/png: {} }",
    '|content: { image/png: {} }',
    /the status 204 has no body/,
  ],
  [
    'a parameter without a schema',
    '          schema: { type: integer, minimum: 1 }\n',
    '',
    '|name: id',
    /field schema is missing in this parameter/,
  ],
  [
    'a parameter that is a list of objects',
    'schema: { type: integer, minimum: 1 }',
    'schema: { type: array, items: { type: object } }',
    '|schema: { type: array, items: { type: object',
    /parameter "id", such as objects in lists, so it is JSON/,
  ],
  [
    'a duplicate parameter',
    'name: tag',
    'name: limit',
    '|name: limit\n          in: query\n          schema: { type: array',
    /twice/,
  ],
  [
    'a request body of a get operation',
    '      security: []\n',
    '      requestBody: { content: { image/png: {} } }\n      security: []\n',
    '|requestBody: { c',
    /The body of a get operation is ignored/,
  ],
  ['a contract without a server', 'servers: [{ url: /notes }]\n', '', '|info', /no servers; its base path is \//],
  [
    'a tag whose interface name is not unique',
    '  - name: Notes\n',
    '  - name: dashboard tag\n  - name: dashboard\n  - name: Notes\n',
    'name: |dashboard\n',
    /The generated name DashboardTagHandlers is not unique/,
  ],
  [
    'a component that two documents declare',
    '    Note:\n',
    '    Error: { type: string }\n    Note:\n',
    '|Error: { type',
    /The component "schemas\/Error" is declared in both/,
  ],
])('%s in an OpenAPI contract is reported at its position', async (_reason, from, to, marker, message) => {
  expect(NOTES).toContain(from);
  const text = NOTES.replace(from, to);
  const diagnostics = await findDiagnostics(toDocuments(text));
  expect(diagnostics).toContainEqual(expect.objectContaining({ message: expect.stringMatching(message) as string }));
  const found = diagnostics.find((diagnostic) => message.test(diagnostic.message))!;
  expect(`${found.file}:${found.line}:${found.column}`).toBe(`${NOTES_FILE}:${placeOf(text, marker)}`);
});

test('a wrong default is an error if a request contains it, and a warning otherwise', async () => {
  const inResponse = NOTES.replace('id: { type: integer }', 'id: { type: integer, default: none }');
  const { warnings } = await generateService({ ...CONFIG, strict: false }, toDocuments(inResponse));
  expect(warnings).toMatchObject([
    { message: expect.stringContaining('Expected the default to be integer') as string },
  ]);
  const inRequest = NOTES.replace('type: boolean, default: false', 'type: boolean, default: none');
  expect(await findDiagnostics(toDocuments(inRequest))).toMatchObject([
    { message: expect.stringContaining('Expected the default to be boolean') as string },
  ]);
});

test('the errors of all OpenAPI documents are reported together, in order', async () => {
  const notes = NOTES.replace('default: 10', 'default: ten').replace('createNote', 'listNotes');
  const common = COMMON.replace('description: Refused.', 'descripton: Refused.');
  const diagnostics = await findDiagnostics(toDocuments(notes, common));
  expect(diagnostics.map(({ file, line }) => `${file}:${line}`)).toEqual([
    `${COMMON_FILE}:7`,
    `${COMMON_FILE}:8`,
    `${NOTES_FILE}:17`,
    `${NOTES_FILE}:38`,
  ]);
});

/** Returns a contract of schemas that each refer to the next one. */
const chainOf = (length: number, toSchema: (ref: string) => string): string => `openapi: 3.1.0
info: { title: Chain, version: '1' }
paths:
  /a:
    post:
      operationId: sendFirst
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/S1' } } } }
      responses: { '204': { description: Done. } }
components:
  schemas:
${Array.from({ length: length - 1 }, (_, at) => `    S${at + 1}: ${toSchema(`{ $ref: '#/components/schemas/S${at + 2}' }`)}\n`).join('')}    S${length}: { type: string }
`;

describe('a chain of schemas', () => {
  const generate = (length: number, toSchema: (ref: string) => string) =>
    generateService({ ...CONFIG, strict: false }, new Map([[NOTES_FILE, chainOf(length, toSchema)]]));

  test.each<[string, number, (ref: string) => string]>([
    ['references', 1000, (ref) => ref],
    ['properties', 3000, (ref) => `{ type: object, properties: { next: ${ref} } }`],
    // Each schema leads back to the first one.
    ['circles', 1000, (ref) => `{ properties: { next: ${ref}, first: { $ref: '#/components/schemas/S1' } } }`],
  ])('may consist of %s, %i of them', async (_kind, length, toSchema) => {
    const { files } = await generate(length, toSchema);
    expect(files.get('validators.js')).toContain('export const sendFirstBody');
  });

  test('is reported at its start if it is a chain of more references', async () => {
    const message = 'Expected at most 1000 schemas that only refer to the next; received 9000.';
    await expect(generate(9000, (ref) => ref)).rejects.toMatchObject({
      diagnostics: [{ file: NOTES_FILE, line: 11, column: 5, message }],
    });
  });
});

test('writes more validators than a call has arguments', () => {
  const schemas = Array.from({ length: 20_000 }, (_, at) => ({
    ...{ name: `validate${at}`, direction: 'response' as const, schema: { type: 'string' as const } },
  }));
  const names = { requests: new Map<string, string>(), responses: new Map<string, string>(), schemas };
  const text = writeValidators({ schemas: {} } as Contract, names, '@trellis/server/rest/operation');
  expect(text.match(/^export const /gm)).toHaveLength(schemas.length);
});
