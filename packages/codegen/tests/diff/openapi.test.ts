import { readFileSync } from 'node:fs';
import { RULES, type Severity } from '../../src/diff/changes.js';
import { compareContracts, type ContractVersion } from '../../src/diff/openapi.js';
import { parseSource } from '../../src/openapi/nodes.js';

const CONTRACT = `openapi: 3.1.0
servers: [{ url: /v1 }]
security: [{ token: [read] }]
paths:
  /notes/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: integer } }
    get:
      operationId: getNote
      parameters:
        - { name: limit, in: query, schema: { type: integer, default: 10 } }
        - { name: sort, in: query, required: true, schema: { type: string } }
      responses:
        '200':
          description: A note.
          headers:
            X-Total: { required: true, schema: { type: integer } }
            X-Hint: { schema: { type: string } }
          content:
            application/json: { schema: { $ref: '#/components/schemas/Note' } }
            text/plain: {}
        '404': { description: No note. }
    put:
      operationId: putNote
      requestBody:
        required: true
        x-max-bytes: 1000
        content:
          application/json: { schema: { $ref: '#/components/schemas/Note' } }
          text/plain: {}
      responses:
        '204': { description: Done. }
  /log:
    post:
      operationId: log
      security: [{ token: [] }, { session: [] }]
      requestBody: { content: { text/plain: {} } }
      responses:
        '204': { description: Done. }
  /ping:
    get:
      operationId: ping
      callbacks:
        done: { $ref: '#/components/callbacks/done' }
      responses:
        '204': { description: Done. }
components:
  callbacks:
    done:
      '{$request.query.reply}':
        put: { requestBody: { content: { application/json: { schema: { type: object, properties: { at: {} } } } } } }
  securitySchemes:
    session: { type: apiKey, name: X-Key, in: header }
    token: { type: http, scheme: bearer }
  schemas:
    Note:
      type: object
      required: [text]
      properties:
        text: { type: string, maxLength: 100, pattern: ^a }
        size: { type: [integer, 'null'], minimum: 1 }
        kind: { enum: [a, b], default: a }
        parts: { type: array, items: { $ref: '#/components/schemas/Part' } }
        pair: { prefixItems: [{ type: string }, { type: number }] }
        extra: { type: object, additionalProperties: false, properties: { x: { type: string } } }
        open: { type: object, not: { required: [y] } }
        self: { $ref: '#/components/schemas/Note' }
    Part:
      oneOf: [{ $ref: '#/components/schemas/Text' }, { $ref: '#/components/schemas/Image' }]
    Text: { type: string }
    Image: { type: object }
    Sent: { type: object, required: [id], properties: { id: { type: string } } }
webhooks:
  noted: { post: { requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Sent' } } } } } }
`;

const toVersion = (text: string): ContractVersion => {
  const root = parseSource('openapi/notes.yaml', text, []);
  return { sources: new Map([['openapi/notes.yaml', root]]), root };
};

const compare = (before: string, after: string) => compareContracts(toVersion(before), toVersion(after), 'v1');

/** The names of the changes with a rule, when a part of the contract is replaced. */
function listRules(part: string, replacement: string): string[] {
  expect(CONTRACT.split(part)).toHaveLength(2);
  const changed = CONTRACT.replace(part, replacement);
  return compare(CONTRACT, changed).map(({ rule }) => rule);
}

/** Each edit, and the rules that it and its reverse are reported by. */
const EDITS: readonly (readonly [
  part: string,
  replacement: string,
  rules: readonly string[],
  reverse: readonly string[],
])[] = [
  ['  /ping:', '  /pong:', ['operation-removed', 'operation-added'], ['operation-removed', 'operation-added']],
  ['operationId: ping', 'operationId: pong', ['operation-renamed'], ['operation-renamed']],
  ['  noted:', '  listed:', ['webhook-removed', 'webhook-added'], ['webhook-removed', 'webhook-added']],
  ['query.reply', 'query.done', ['webhook-removed', 'webhook-added'], ['webhook-removed', 'webhook-added']],
  [
    "{ requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Sent' } } } } }",
    '{ summary: Noted }',
    ['response-type-removed'],
    ['response-type-added'],
  ],
  ['required: [id], ', '', ['response-property-became-optional'], ['response-property-became-required']],
  ['at: {}', 'at: {}, by: {}', ['response-property-added'], ['response-property-removed']],
  ['operationId: ping', 'deprecated: true\n      operationId: ping', ['operation-deprecated'], []],
  ['url: /v1', 'url: /v2', ['server-changed'], ['server-changed']],
  ['url: /v1', 'url: https://example.org/v1/', [], []],
  ['url: /v1', 'url: "/{version}", variables: { version: { default: v1 } }', [], []],
  ['url: /v1', 'url: "/{version}", variables: { version: { default: v2 } }', ['server-changed'], ['server-changed']],
  ['name: X-Key', 'name: x-key', [], []],
  ['name: X-Key', 'name: X-Token', ['security-stricter'], ['security-stricter']],
  ['name: X-Key, in: header', 'name: X-Key, in: query', ['security-stricter'], ['security-stricter']],
  ['type: apiKey, name: X-Key, in: header', 'type: http, scheme: Bearer', ['security-stricter'], ['security-stricter']],
  ['type: http, scheme: bearer', 'type: oauth2, flows: {}', [], []],
  [', { session: [] }', '', ['security-stricter'], ['security-looser']],
  ['{ token: [] }', '{ token: [write] }', ['security-stricter'], ['security-looser']],
  [
    '- { name: limit, in: query, schema: { type: integer, default: 10 } }',
    '- { name: size, in: query, schema: { type: integer } }',
    ['parameter-removed', 'parameter-added'],
    ['parameter-removed', 'parameter-added'],
  ],
  [
    '        - { name: sort, in: query, required: true, schema: { type: string } }\n',
    '',
    ['parameter-removed'],
    ['required-parameter-added'],
  ],
  ['in: query, required: true', 'in: query', ['parameter-became-optional'], ['parameter-became-required']],
  [
    '{ name: limit, in: query,',
    '{ name: limit, in: query, explode: false,',
    ['parameter-style-changed'],
    ['parameter-style-changed'],
  ],
  ['{ name: limit, in: query,', '{ name: limit, in: query, style: form, explode: true, allowReserved: false,', [], []],
  ['{ name: id, in: path,', '{ name: id, in: path, style: simple, explode: false,', [], []],
  [
    '/notes/{id}:\n    parameters:\n      - { name: id,',
    '/notes/{note}:\n    parameters:\n      - { name: note,',
    [],
    [],
  ],
  ['        required: true\n        x-max', '        x-max', ['body-became-optional'], ['body-became-required']],
  ['      requestBody: { content: { text/plain: {} } }\n', '', ['body-removed'], ['body-added']],
  [
    'requestBody: { content: { text/plain: {} } }',
    'requestBody: { required: true, content: { text/plain: {} } }',
    ['body-became-required'],
    ['body-became-optional'],
  ],
  ['x-max-bytes: 1000', 'x-max-bytes: 999', ['body-limit-lowered'], ['body-limit-raised']],
  ['          text/plain: {}\n      responses', '      responses', ['request-type-removed'], ['request-type-added']],
  ["            text/plain: {}\n        '404'", "        '404'", ['response-type-removed'], ['response-type-added']],
  ["        '404': { description: No note. }\n", '', ['error-removed'], ['error-added']],
  ["        '200':\n", "        '201':\n", ['success-removed', 'success-added'], ['success-removed', 'success-added']],
  ['            X-Hint: { schema: { type: string } }\n', '', ['header-removed'], ['header-added']],
  [
    '            X-Total: { required: true, schema: { type: integer } }\n',
    '',
    ['required-header-removed'],
    ['header-added'],
  ],
  ['X-Total: { required: true,', 'X-Total: {', ['header-became-optional'], ['header-became-required']],
  ['            application/json: {', '            Application/json; charset=utf-8: {', [], []],
  ['description: A note.', 'description: One note.', [], []],
];

test.each(EDITS)('the edit of %j to %j is reported, and so is its reverse', (part, replacement, rules, reverse) => {
  expect(listRules(part, replacement)).toEqual(rules);
  expect(compare(CONTRACT.replace(part, replacement), CONTRACT).map(({ rule }) => rule)).toEqual(reverse);
});

test.each([
  [
    "size: { type: [integer, 'null'], minimum: 1 }",
    "size: { oneOf: [{ type: integer, minimum: 1 }, { type: 'null' }] }",
  ],
  [
    "size: { type: [integer, 'null'], minimum: 1 }",
    'size: { anyOf: [{ const: null }, { type: integer, minimum: 1 }] }',
  ],
  ['maxLength: 100', 'minLength: 0, maxLength: 100'],
])('%j allows the same values as %j', (part, replacement) => {
  expect(listRules(part, replacement)).toEqual([]);
});

test.each([
  [
    "self: { $ref: '#/components/schemas/Note' }",
    "self: { anyOf: [{ $ref: '#/components/schemas/Note' }, { type: 'null' }] }",
  ],
  ['    Text: { type: string }', "    Text: { oneOf: [{ type: string }, { type: 'null' }] }"],
])('the edit of %j to %j adds null', (part, replacement) => {
  const changed = CONTRACT.replace(part, replacement);
  const line = changed.split('\n').findIndex((text) => text.includes(replacement)) + 1;
  const changes = compare(CONTRACT, changed);
  expect(changes.map(({ rule }) => rule).toSorted()).toEqual(bothDirections('type-widened'));
  expect(changes.map(({ location }) => location.line)).toEqual([line, line]);
});

test('a required body that is added breaks clients', () => {
  const without = CONTRACT.replace('      requestBody: { content: { text/plain: {} } }\n', '');
  const required = CONTRACT.replace('requestBody: { content: {', 'requestBody: { required: true, content: {');
  expect(compare(without, required).map(({ rule }) => rule)).toEqual(['required-body-added']);
});

/** Edits of the schema that is received by one operation and sent by another, with the rules of edit and reverse. */
const SCHEMA_EDITS: readonly (readonly [part: string, replacement: string, rule: string, reverse: string])[] = [
  ["type: [integer, 'null']", 'type: integer', 'type-narrowed', 'type-widened'],
  ["type: [integer, 'null'], minimum: 1", "type: [number, 'null'], minimum: 1", 'type-widened', 'type-narrowed'],
  ['text: { type: string,', 'text: { type: integer,', 'type-changed', 'type-changed'],
  ['enum: [a, b]', 'enum: [a]', 'value-removed', 'value-added'],
  ['enum: [a, b]', 'const: a', 'value-removed', 'value-added'],
  ['enum: [a, b]', 'type: string', 'value-added', 'value-removed'],
  ['maxLength: 100', 'maxLength: 99', 'bound-tightened', 'bound-loosened'],
  [', maxLength: 100', '', 'bound-loosened', 'bound-tightened'],
  [', minimum: 1', ', minimum: 0', 'bound-loosened', 'bound-tightened'],
  ['pattern: ^a', 'pattern: ^b', 'format-changed', 'format-changed'],
  [', pattern: ^a', '', 'bound-loosened', 'bound-tightened'],
  ['required: [text]', 'required: [text, size]', 'property-became-required', 'property-became-optional'],
  ['        kind: { enum: [a, b], default: a }\n', '', 'property-removed', 'property-added'],
  ['properties: { x: { type: string } }', 'properties: {}', 'property-refused', 'property-added'],
  ['additionalProperties: false, ', '', 'properties-opened', 'property-refused'],
  [", { $ref: '#/components/schemas/Image' }", '', 'variant-removed', 'variant-added'],
  ['default: a', 'default: b', 'default-changed', 'default-changed'],
  ['not: { required: [y] }', 'not: { required: [z] }', 'schema-changed', 'schema-changed'],
  ['{ type: number }]', '{ type: integer }]', 'type-narrowed', 'type-widened'],
  ['{ type: number }]', '{ type: number }], items: { type: string }', 'type-narrowed', 'type-widened'],
  ['not: {', 'additionalProperties: { type: string }, not: {', 'type-narrowed', 'type-widened'],
  [
    "self: { $ref: '#/components/schemas/Note' }",
    "self: { $ref: '#/components/schemas/Note', description: One., maxProperties: 5 }",
    'bound-tightened',
    'bound-loosened',
  ],
  ['    Text: { type: string }', '    Text: { type: string, maxLength: 5 }', 'bound-tightened', 'bound-loosened'],
  [
    'text: { type: string, maxLength',
    'text: { allOf: [{ type: string }], maxItems: 3, maxLength',
    'bound-tightened',
    'bound-loosened',
  ],
];

const bothDirections = (rule: string) => [`request-${rule}`, `response-${rule}`];

test.each(SCHEMA_EDITS)('the edit of %j to %j is reported in both directions', (part, replacement, rule, reverse) => {
  const changed = CONTRACT.replace(part, replacement);
  expect(CONTRACT.split(part)).toHaveLength(2);
  const rules = compare(CONTRACT, changed).map((change) => change.rule);
  // A response without a property is never refused.
  const expected =
    rule === 'property-refused' ? ['request-property-refused', 'response-property-removed'] : bothDirections(rule);
  expect(rules.toSorted()).toEqual(expected);
  expect(
    compare(changed, CONTRACT)
      .map((change) => change.rule)
      .toSorted(),
  ).toEqual(bothDirections(reverse));
});

test('a property is removed from a schema that is closed to properties of its parts', () => {
  const closed = CONTRACT.replace('additionalProperties: false', 'unevaluatedProperties: false');
  const open = closed.replace('unevaluatedProperties: false, ', '');
  const empty = closed.replace('properties: { x: { type: string } }', 'properties: {}');
  const listSorted = (before: string, after: string) =>
    compare(before, after)
      .map(({ rule }) => rule)
      .sort();
  expect(listSorted(closed, empty)).toEqual(['request-property-refused', 'response-property-removed']);
  expect(listSorted(open, closed)).toEqual(bothDirections('property-refused'));
  expect(listSorted(closed, open)).toEqual(bothDirections('properties-opened'));
  expect(listSorted(closed, CONTRACT)).toEqual([]);
});

test('a required property is added or removed', () => {
  const changed = CONTRACT.replace('required: [text]', 'required: [text, title]').replace(
    '        size:',
    '        title: { type: string }\n        size:',
  );
  expect(
    compare(CONTRACT, changed)
      .map(({ rule }) => rule)
      .sort(),
  ).toEqual(bothDirections('required-property-added'));
  expect(
    compare(changed, CONTRACT)
      .map(({ rule }) => rule)
      .sort(),
  ).toEqual(bothDirections('required-property-removed'));
});

test('a property is required without a schema', () => {
  const changed = CONTRACT.replace('open: { type: object,', 'open: { type: object, anyOf: [{ required: [y] }],');
  const other = changed.replace('[{ required: [y] }]', '[{ required: [z] }]');
  expect(compare(changed, other).map(({ rule }) => rule)).toEqual([
    'response-required-property-removed',
    'response-required-property-added',
    'request-required-property-removed',
    'request-required-property-added',
  ]);
});

test('a property counts only in the direction that has it', () => {
  const [readOnly, writeOnly] = ['readOnly', 'writeOnly'].map((name) =>
    CONTRACT.replace('maxLength: 100', `maxLength: 100, ${name}: true`),
  ) as [string, string];
  const shorter = (text: string) => text.replace('maxLength: 100', 'maxLength: 99');
  expect(compare(readOnly, shorter(readOnly)).map(({ rule }) => rule)).toEqual(['response-bound-tightened']);
  expect(compare(writeOnly, shorter(writeOnly)).map(({ rule }) => rule)).toEqual(['request-bound-tightened']);
});

test('a change has its line in the changed contract, and a removal that in the previous one', () => {
  const changed = CONTRACT.replace('maxLength: 100', 'maxLength: 99').replace('  /ping:', '  /pong:');
  const removed = compare(CONTRACT, changed).find(({ rule }) => rule === 'operation-removed');
  const lineOf = (text: string) => CONTRACT.slice(0, CONTRACT.indexOf(text)).split('\n').length;
  expect(removed).toMatchObject({
    rule: 'operation-removed',
    message: 'GET /ping is removed.',
    location: { file: 'v1:openapi/notes.yaml', line: lineOf('/ping:') + 1 },
    operations: ['ping'],
  });
  expect(compare(CONTRACT, changed).find(({ rule }) => rule === 'request-bound-tightened')).toMatchObject({
    message: 'Note.text: maxLength is 99 instead of 100.',
    location: { file: 'openapi/notes.yaml', line: lineOf('maxLength: 100') },
    operations: ['putNote'],
  });
});

test.each([
  ['tags: { explode: false }', ['parameter-style-changed']],
  ['tags: { style: form, explode: true }', []],
])('a form whose encoding becomes %j is compared with the defaults', (replacement, rules) => {
  const form = '{ application/x-www-form-urlencoded: { encoding: { tags: {} } } }';
  const before = CONTRACT.replace('{ text/plain: {} }', form);
  const after = before.replace('tags: {}', replacement);
  expect(compare(before, after).map(({ rule }) => rule)).toEqual(rules);
  expect(compare(after, before).map(({ rule }) => rule)).toEqual(rules);
});

test('the edits cover every rule', () => {
  const edits = EDITS.flatMap(([, , rules, reverse]) => [...rules, ...reverse]);
  const schemaEdits = SCHEMA_EDITS.flatMap(([, , rule, reverse]) => [rule, reverse].flatMap(bothDirections));
  const others = [
    'required-body-added',
    ...['required-property-added', 'required-property-removed'].flatMap(bothDirections),
  ];
  expect([...RULES.keys()].filter((rule) => ![...edits, ...schemaEdits, ...others].includes(rule))).toEqual([]);
});

/** The levels of oasdiff 1.31 for the same changes, from its list of checks. */
const OASDIFF: Readonly<Record<string, 'ERR' | 'INFO' | 'WARN'>> = {
  'request-type-changed': 'ERR',
  'request-type-narrowed': 'ERR',
  'request-type-widened': 'INFO',
  'response-type-widened': 'ERR',
  'response-type-narrowed': 'INFO',
  'request-value-removed': 'ERR',
  'request-value-added': 'INFO',
  'response-value-added': 'WARN',
  'response-value-removed': 'INFO',
  'request-bound-tightened': 'ERR',
  'request-bound-loosened': 'INFO',
  'request-format-changed': 'WARN',
  'request-property-became-required': 'ERR',
  'request-property-became-optional': 'INFO',
  'response-property-became-optional': 'ERR',
  'response-property-became-required': 'INFO',
  'request-required-property-added': 'ERR',
  'request-property-added': 'INFO',
  'response-property-added': 'INFO',
  'response-required-property-added': 'INFO',
  'request-property-removed': 'WARN',
  'response-required-property-removed': 'ERR',
  'response-property-removed': 'WARN',
  'request-variant-removed': 'ERR',
  'request-variant-added': 'INFO',
  'response-variant-added': 'ERR',
  'response-variant-removed': 'INFO',
  'response-default-changed': 'INFO',
  'parameter-removed': 'WARN',
  'required-parameter-added': 'ERR',
  'parameter-added': 'INFO',
  'parameter-became-required': 'ERR',
  'parameter-became-optional': 'INFO',
  'body-removed': 'ERR',
  'required-body-added': 'ERR',
  'body-added': 'INFO',
  'body-became-required': 'ERR',
  'body-became-optional': 'INFO',
  'request-type-added': 'INFO',
  'success-removed': 'ERR',
  'error-removed': 'INFO',
  'error-added': 'INFO',
  'response-type-added': 'INFO',
  'required-header-removed': 'ERR',
  'header-removed': 'WARN',
  'header-became-optional': 'ERR',
  'operation-removed': 'ERR',
  'operation-added': 'INFO',
  'operation-deprecated': 'INFO',
};

const LEVELS: Readonly<Record<string, Severity>> = { ERR: 'breaking', WARN: 'dangerous', INFO: 'safe' };

test.each(Object.entries(OASDIFF))('the severity of %s is that of oasdiff, %s', (rule, level) => {
  expect(RULES.get(rule)?.severity).toBe(LEVELS[level]);
});

test('the documentation lists every rule with its severity', () => {
  const page = readFileSync(new URL('../../../../docs/breaking-changes.md', import.meta.url), 'utf8');
  const rows = page.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .join('|'),
  );
  const expected = [...RULES].map(([rule, { severity, text }]) => `|\`${rule}\`|${severity}|${text}|`);
  expect(rows).toEqual(expect.arrayContaining(expected));
});
