import { generate } from './example.js';

let operations: string;

/** The lines of the error responses in an operation's table entry. */
const refusals = (...statuses: readonly number[]): string =>
  statuses
    .map((status) => `      ${status}: { contentTypes: ['application/json'], validate: validators.errorSchema },\n`)
    .join('');

beforeAll(async () => {
  operations = await generate('operations.ts');
});

test.each([
  [
    'a query parameter with a default is there, a list is an array',
    `export interface ListNotesInput extends Facts {
  readonly query: {
    readonly limit: number;
    readonly tag?: readonly (string)[];
  };
  readonly caller: SessionCaller | TokenCaller;
}`,
  ],
  [
    'a body has the properties that defaults fill in',
    `  readonly body: components['schemas']['NewNote'] & Required<Pick<components['schemas']['NewNote'], 'pinned'>>;
  readonly caller: SessionCaller;`,
  ],
  [
    'an operation that anyone may call has perhaps a caller',
    `  readonly params: {
    readonly id: number;
  };
  readonly caller: Caller | undefined;`,
  ],
  [
    'an answer has the headers that the contract requires, and refusals are left out',
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
    'bytes are bytes, and a status without content has no body',
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
    'a stream is of events that hold what the contract says',
    `  | {
      readonly status: 200;
      readonly body: AsyncIterable<ServerSentEvent<components['schemas']['Note']>>;
    };`,
  ],
  [
    'an operation whose credential is optional has perhaps a caller',
    `export interface FollowNotesInput extends Facts {
  readonly caller: SessionCaller | undefined;
}`,
  ],
  [
    'handlers carry their summaries',
    `/** Short texts. */
export interface NotesHandlers {
  /** List notes */
  readonly listNotes: (input: ListNotesInput) => Promise<ListNotesOutput>;`,
  ],
  [
    'the table says how a request is matched, who may send it, and what holds it to the contract',
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
${refusals(400, 401, 403, 406, 413, 415, 429, 500, 503)}    },
    validate: { body: validators.createNoteBody },
  },`,
  ],
  [
    'a deferred body is a function that reads the bytes',
    `export interface ImportNotesInput extends Facts {
  readonly headers: {
    readonly 'x-signature'?: string;
  };
  readonly body: () => Promise<Buffer>;
  readonly caller: Caller | undefined;
}`,
  ],
  [
    'a deferred body is held to its bound and to no schema',
    `    body: { required: true, contentTypes: ['application/json'], maxBytes: 5000, isDeferred: true },
    responses: {
      204: { contentTypes: [] },
${refusals(400, 413, 415, 429, 500, 503)}    },
    validate: { headers: validators.importNotesHeaders },`,
  ],
])('%s', (_reason, text) => {
  expect(operations).toContain(text);
});
