/**
 * The rules that Redocly recommends are part of `generate`: what Redocly finds in a broken contract, a strict contract
 * refuses.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ContractError } from '@trellis/codegen/documents';
import { installTool } from '../../tools/install.js';
import { generateRow } from './openapi-service.js';

/** A correct contract. Each case replaces a part of it. */
const CONTRACT = `openapi: 3.1.0
info: { title: Items, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: https://items.test/api }]
tags: [{ name: Items, description: Things. }]
security: []
paths:
  /items/{id}:
    get:
      operationId: getItem
      tags: [Items]
      summary: Get an item
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
      responses:
        '200':
          description: The item.
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Item' }
        '400': { description: Malformed. }
        '406': { description: Unacceptable. }
        '429': { description: Too many. }
        '500': { description: A defect. }
        '503': { description: Unavailable. }
components:
  schemas:
    Item: { type: object, required: [id], properties: { id: { type: string } } }
`;

const SECOND = (key: string, id: string, name: string) => `  ${key}:
    get:
      operationId: ${id}
      tags: [Items]
      summary: Get another
      parameters: [{ name: ${name}, in: path, required: true, schema: { type: string } }]
      responses: { '200': { description: Found. }, 4XX: { description: No. }, 5XX: { description: No. } }
components:
`;

const ITEM = 'properties: { id: { type: string } }';
const MEDIA = "schema: { $ref: '#/components/schemas/Item' }\n";

/** Rule → the text that is replaced, and what by. */
const CASES: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['struct', 'summary: Get an item', 'sumary: Get an item'],
  ['no-unresolved-refs', 'schemas/Item', 'schemas/Itm'],
  ['info-license', ', license: { name: MIT, identifier: MIT }', ''],
  ['info-license-strict', ', identifier: MIT', ''],
  ['no-ambiguous-paths', 'components:\n', SECOND("'/{kind}/last'", 'getLast', 'kind')],
  ['no-duplicated-enum-values', ITEM, 'properties: { id: { type: string, enum: [a, a] } }'],
  ['no-duplicated-tag-names', 'description: Things. }', 'description: Things. }, { name: Items, description: Again. }'],
  ['no-empty-servers', '[{ url: https://items.test/api }]', '[]'],
  ['no-enum-type-mismatch', ITEM, 'properties: { id: { type: string, enum: [1] } }'],
  [
    'no-example-value-and-externalValue',
    MEDIA,
    `${MEDIA}              examples: { one: { value: { id: a }, externalValue: 'https://items.test' } }\n`,
  ],
  ['no-identical-paths', 'components:\n', SECOND("'/items/{key}'", 'getOther', 'key')],
  ['no-illogical-composition-keywords', ITEM, `${ITEM}, oneOf: []`],
  ['no-invalid-media-type-examples', MEDIA, `${MEDIA}              example: { id: 1 }\n`],
  ['no-invalid-parameter-examples', 'schema: { type: string } }', 'schema: { type: string }, example: 1 }'],
  ['no-invalid-schema-examples', ITEM, 'properties: { id: { type: string, examples: [1] } }'],
  ['no-mixed-number-range-constraints', ITEM, 'properties: { id: { type: number, minimum: 1, exclusiveMinimum: 1 } }'],
  ['no-path-trailing-slash', '/items/{id}:', '/items/{id}/:'],
  ['no-required-schema-properties-undefined', 'required: [id]', 'required: [id, titel]'],
  ['no-schema-type-mismatch', ITEM, `${ITEM}, items: { type: string }`],
  ['no-server-trailing-slash', 'items.test/api', 'items.test/api/'],
  [
    'no-server-variables-empty-enum',
    'url: https://items.test/api',
    "url: '/{a}', variables: { a: { default: b, enum: [] } }",
  ],
  ['no-undefined-server-variable', 'url: https://items.test/api', "url: '/{a}'"],
  ['no-unsafe-markdown', 'description: The item.', 'description: <script>alert(1)</script>'],
  ['no-unused-components', '    Item:', '    Other: { type: object }\n    Item:'],
  ['operation-2xx-response', "'200'", "'404'"],
  ['operation-operationId', '      operationId: getItem\n', ''],
  ['operation-operationId-unique', 'components:\n', SECOND("'/others/{key}'", 'getItem', 'key')],
  ['operation-operationId-url-safe', 'getItem', 'get item'],
  [
    'operation-parameters-unique',
    'parameters:\n',
    'parameters:\n        - { name: id, in: path, required: true, schema: { type: string } }\n',
  ],
  ['operation-summary', '      summary: Get an item\n', ''],
  ['path-declaration-must-exist', '/items/{id}:', '/items/{}:'],
  ['path-not-include-query', '/items/{id}:', '/items/{id}?a=1:'],
  ['path-parameters-defined', 'name: id, in: path', 'name: key, in: path'],
  ['security-defined', 'security: []\n', 'security: [{ key: [] }]\n'],
  ['spec-components-invalid-map-name', '    Item:', "    'a b': { type: object }\n    Item:"],
  [
    'spec-ref-siblings',
    "'400': { description: Malformed. }",
    "'400': { $ref: '#/components/responses/No', content: {} }",
  ],
  ['tag-description', ', description: Things. ', ''],
];

/**
 * The other recommended rules: where a server stands is for its operator; the router sends 400, which it must declare;
 * scopes belong to the application, whose tokens have them.
 */
const OTHERS = ['no-server-example.com', 'operation-4xx-response', 'security-scopes-defined'];

const REDOCLY = path.resolve('tools/redocly/node_modules/@redocly/cli/bin/cli.js');

installTool('tools/redocly');

let folder: string;
let found: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(path.resolve('.cache/redocly-'));
  for (const [rule, from, to] of CASES) await writeFile(path.join(folder, `${rule}.yaml`), CONTRACT.replace(from, to));
  await writeFile(path.join(folder, 'correct.yaml'), CONTRACT);
  await writeFile(path.join(folder, 'redocly.yaml'), 'telemetry: off\nextends: [recommended]\n');
  found = await lint(['correct', ...CASES.map(([rule]) => rule)]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the rules that Redocly finds violated, by contract. */
async function lint(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = names.map((name) => `${name}.yaml`);
  const args = [REDOCLY, 'lint', ...files, '--format=checkstyle', '--max-problems=1000'];
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (_error, stdout) => done(stdout));
  });
  const reports = [...output.matchAll(/<file name="([^"]+)\.yaml">([\s\S]*?)<\/file>/g)];
  const rules = reports.map(([, name = '', errors = '']) => {
    const found = [...errors.matchAll(/ source="([^"]+)" \/>/g)].map(([, rule = '']) => rule);
    return [name, found] as const;
  });
  return new Map(rules);
}

test('Redocly and Trellis accept the correct contract', async () => {
  expect((found.get('correct') ?? []).filter((rule) => !OTHERS.includes(rule))).toEqual([]);
  expect(await listErrors(CONTRACT)).toEqual([]);
});

test.each(CASES)('%s', async (rule, from, to) => {
  expect(CONTRACT).toContain(from);
  expect(found.get(rule)).toContain(rule);
  expect(await listErrors(CONTRACT.replace(from, to))).not.toEqual([]);
});

/** Returns the errors of a strict contract. */
async function listErrors(contract: string): Promise<readonly string[]> {
  try {
    const { warnings } = await generateRow({ contract });
    return warnings.map(({ message }) => message);
  } catch (error) {
    if (error instanceof ContractError) return error.diagnostics.map(({ message }) => message);
    throw error;
  }
}
