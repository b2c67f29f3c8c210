import { generate, NOTES } from './example.js';

let operations: string;

/** Writes the lines of the error responses in the table entry of an operation. */
const errorResponses = (...statuses: readonly number[]): string =>
  statuses
    .map((status) => `      ${status}: { contentTypes: ['application/json'], validate: validators.errorSchema },\n`)
    .join('');

beforeAll(async () => {
  operations = await generate('operations.ts');
});

test.each([
  [
    'a query parameter with a default is required, and a list is an array',
    `export interface ListNotesInput extends RequestContext {
  readonly query: {
    readonly limit: number;
    readonly tag?: readonly (string)[];
  };
  readonly caller: SessionCaller | TokenCaller;
}`,
  ],
  [
    'a body requires the properties with defaults',
    `  readonly body: components['schemas']['NewNote'] & Required<Pick<components['schemas']['NewNote'], 'pinned'>>;
  readonly caller: SessionCaller;`,
  ],
  [
    'a public operation has an optional caller',
    `  readonly params: {
    readonly id: number;
  };
  readonly caller: Caller | undefined;`,
  ],
  [
    'an output has the required headers, and error responses are omitted',
    `export type ListNotesOutput =
  | {
      readonly status: 200;
      readonly body: shapes['listNotes']['responses'][200]['content']['application/json'];
      readonly headers: {
        readonly 'X-Total-Count': string;
      };
    };`,
  ],
  [
    'binary content is a Uint8Array, and a status without content has no body',
    `  | {
      readonly status: 200;
      readonly body: Uint8Array;
    }
  | {
      readonly status: 304;
      readonly body?: undefined;
    };`,
  ],
  [
    'an event stream is an iterable of typed events',
    `  | {
      readonly status: 200;
      readonly body: AsyncIterable<ServerSentEvent<components['schemas']['Note']>>;
    };`,
  ],
  [
    'an operation with an optional credential has an optional caller',
    `export interface FollowNotesInput extends RequestContext {
  readonly caller: SessionCaller | undefined;
}`,
  ],
  [
    'handlers are documented by their summaries',
    `/** Short texts. */
export interface NotesHandlers {
  /** List notes */
  readonly listNotes: (input: ListNotesInput) => Promise<ListNotesOutput>;`,
  ],
  [
    'the operation table contains the route, security, parameters, responses and validators',
    `  {
    id: 'createNote',
    method: 'post',
    path: '/notes',
    security: [{ scheme: 'session', roles: [] }],
    rateLimit: 'create',
    reachesOut: true,
    parameters: [],
    body: { required: true, contentTypes: ['application/json'], maxBytes: 1048576 },
    responses: {
      201: { contentTypes: ['application/json'], validate: validators.noteSchema },
${errorResponses(400, 401, 403, 406, 413, 415, 429, 500, 503)}    },
    validate: { body: validators.createNoteBody },
  },`,
  ],
  [
    'a deferred body is a function that reads the bytes',
    `export interface ImportNotesInput extends RequestContext {
  readonly headers: {
    readonly 'x-signature'?: string;
  };
  readonly body: () => Promise<Buffer>;
  readonly caller: Caller | undefined;
}`,
  ],
  [
    'a deferred body has a size limit and no validator',
    `    body: { required: true, contentTypes: ['application/json'], maxBytes: 5000, isDeferred: true },
    responses: {
      204: { contentTypes: [] },
${errorResponses(400, 413, 415, 429, 500, 503)}    },
    validate: { headers: validators.importNotesHeaders },`,
  ],
])('writeOperations: %s', (_reason, text) => {
  expect(operations).toContain(text);
});

test('writeOperations: a body that may be null requires the properties with defaults of an object', async () => {
  const source = NOTES.replace('NewNote:\n      type: object', 'NewNote:\n      type: [object, "null"]');
  expect(source).not.toBe(NOTES);
  const object = `NonNullable<components['schemas']['NewNote']>`;
  expect(await generate('operations.ts', source)).toContain(
    `  readonly body: ${object} & Required<Pick<${object}, 'pinned'>> | null;\n`,
  );
});

test('writeOperations: a response may set several cookies', async () => {
  const source = NOTES.replace(
    'X-Total-Count: { required: true, schema: { type: integer }',
    'Set-Cookie: { required: true, schema: { type: string }',
  );
  expect(await generate('operations.ts', source)).toContain(
    `        readonly 'Set-Cookie': string | readonly string[];\n`,
  );
});

test('schemas whose names differ in their case have validators of their own', async () => {
  const bare = NOTES.replace(
    "application/json: { schema: { $ref: '#/components/schemas/Note' } }",
    "application/json: { schema: { $ref: '#/components/schemas/note' } }",
  ).replace(
    '  schemas:\n',
    '  schemas:\n    note: { type: object, required: [id], properties: { id: { type: integer } } }\n',
  );
  const table = await generate('operations.ts', bare);
  const validators = [...table.matchAll(/validate: (validators\.note\w*)/g)].map(([, name]) => name);
  expect(new Set(validators)).toEqual(new Set(['validators.noteSchema', 'validators.noteSchema2']));
});
