/** Random values go from a generated client to a handler and back, in each style of parameters and each kind of form. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { generateRow, type ServedRow, serveRow, writeRow } from './openapi-service.js';
import type { SupportedRow } from './row.js';

const ROUNDS = 15;

const SCHEMAS = {
  text: '{ type: string }',
  integer: '{ type: integer }',
  number: '{ type: number }',
  boolean: '{ type: boolean }',
  texts: '{ type: array, items: { type: string } }',
  integers: '{ type: array, items: { type: integer } }',
  object: '{ type: object, properties: { a: { type: string }, b: { type: integer } } }',
  record: '{ type: object, additionalProperties: { type: string } }',
  json: '{ type: object, additionalProperties: true }',
  objects: '{ type: array, items: { type: object, properties: { a: { type: string } } } }',
} as const;
type Kind = keyof typeof SCHEMAS;

const ANY: readonly Kind[] = ['text', 'integer', 'number', 'boolean', 'texts', 'integers', 'object', 'record', 'json'];
const LISTS: readonly Kind[] = ['texts', 'integers'];

/** The styles by place, with the kinds of values that they can write. */
const STYLES = [
  ['path', 'simple', false, ANY],
  ['path', 'simple', true, ANY],
  ['query', 'form', true, ANY],
  ['query', 'form', false, ANY],
  ['query', 'spaceDelimited', false, LISTS],
  ['query', 'pipeDelimited', false, LISTS],
  ['query', 'deepObject', true, ['object', 'record']],
  ['header', 'simple', false, ANY],
  ['header', 'simple', true, ANY],
  ['cookie', 'form', false, ANY],
] as const satisfies readonly (readonly [string, string, boolean, readonly Kind[]])[];

const ECHOED = { path: 'params', query: 'query', header: 'headers', cookie: 'cookies' } as const;

const cases = STYLES.flatMap(([place, style, explode, kinds]) =>
  kinds.map((kind) => ({ place, style, explode, kind, title: `${kind} in ${place}, ${style}, explode ${explode}` })),
).map((one, index) => ({ ...one, path: `/operation-${index}${one.place === 'path' ? '/{value}' : ''}` }));
type Case = (typeof cases)[number];

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'] as const;
const FIELDS = Object.keys(SCHEMAS).filter((kind) => kind !== 'record' && kind !== 'json') as Kind[];

const ECHO = "{ '200': { $ref: 'common.yaml#/components/responses/Echo' } }";

const toOperation = ({ place, style, explode, kind, path: url }: Case): string => {
  const value =
    kind === 'json'
      ? `content: { application/json: { schema: ${SCHEMAS.json} } }`
      : `style: ${style}, explode: ${explode}, schema: ${SCHEMAS[kind]}`;
  const required = place === 'path' ? ' required: true,' : '';
  return `  ${url}:
    get:
      parameters: [{ name: value, in: ${place},${required} ${value} }]
      responses: ${ECHO}
`;
};

const toForm = (type: string, index: number): string => `  /form-${index}:
    post:
      requestBody:
        required: true
        content: { ${type}: { schema: { type: object, properties: { ${FIELDS.map((kind) => `${kind}: ${SCHEMAS[kind]}`).join(', ')} } } } }
      responses: ${ECHO}
`;

const row: SupportedRow = {
  ...{ section: 'Round trips', feature: 'values', outcome: 'supported', exchanges: [] },
  contract: `paths:\n${cases.map(toOperation).join('')}${FORMS.map(toForm).join('')}`,
};

let folder: string;
let served: ServedRow;
beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  // Below the repository, so that the generated modules find their packages.
  folder = await mkdtemp(path.resolve('.cache/round-trip-'));
  await writeRow(folder, row, await generateRow(row));
  served = await serveRow(folder, row);
});
afterAll(async () => {
  served.close();
  await rm(folder, { recursive: true, force: true });
});

let seed = Number(process.env.ROUND_TRIP_SEED ?? 1);
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return Math.floor((seed / 2 ** 31) * below);
};
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
const many = <T>(create: () => T): T[] => Array.from({ length: 1 + random(3) }, create);

const ASCII = [
  'a',
  'B',
  '7',
  '%',
  '%2C',
  '+',
  '&',
  ';',
  '/',
  '?',
  '#',
  '"',
  "'",
  '\\',
  '.',
  '..',
  '[',
  ']',
  ':',
  '@',
  '~',
];
const OTHERS = [' ', ',', '|', '=', '\t', 'null', 'true', '$&', '{value}', 'é', '漢', '😀', '\u00a0', '\u200b'];

/** Returns a text of characters that the style can write: headers have no encoding, and delimiters are not encoded. */
function createText({ place, style }: Pick<Case, 'place' | 'style'> | { place: 'form'; style: 'form' }): string {
  if (place === 'header') return many(() => pick(ASCII)).join('');
  const delimiter = { spaceDelimited: ' ', pipeDelimited: '|' }[style as string];
  const pieces = [...ASCII, ...OTHERS].filter((piece) => piece !== delimiter);
  const text = many(() => pick(pieces)).join('');
  // The client rejects path parameters that would lead elsewhere.
  return /^\.+$/.test(text) ? `${text}x` : text;
}

function createValue(kind: Kind, target: Parameters<typeof createText>[0]): unknown {
  const text = () => createText(target);
  switch (kind) {
    case 'text':
      return text();
    case 'integer':
      return pick([0, -1, 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);
    case 'number':
      return pick([0, -1.5, 1e21, 1e-7, 5e-324, 123_456.789]);
    case 'boolean':
      return pick([true, false]);
    case 'texts':
      return many(text);
    case 'integers':
      return many(() => pick([0, -1, 7]));
    case 'object':
      return { a: text(), ...(random(2) === 0 && { b: pick([0, -3]) }) };
    case 'record':
      // Brackets belong to the syntax of deepObject.
      return Object.fromEntries(many(() => [`k${text().replaceAll(/[[\]]/g, '')}`, text()]));
    case 'objects':
      return many(() => ({ a: text() }));
    case 'json':
      return { x: text(), y: [1, { z: text() }], n: null };
  }
}

test.each(cases)('$title', async ({ place, style, kind, path: url }) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const value = createValue(kind, { place, style });
    const { data, error } = await served.client.GET(url, { params: { [place]: { value } } });
    expect(error).toBeUndefined();
    expect((data as Readonly<Record<string, object>>)[ECHOED[place]]).toEqual({ value });
  }
});

test.each(FORMS.map((type, index) => ({ type, index })))('$type', async ({ type, index }) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const kinds = FIELDS.filter(() => random(3) > 0);
    const body = Object.fromEntries(kinds.map((kind) => [kind, createValue(kind, { place: 'form', style: 'form' })]));
    const { data, error } = await served.client.POST(`/form-${index}`, { body });
    expect(error).toBeUndefined();
    const { body: echoed } = data as { readonly body: object };
    expect(type === 'multipart/form-data' && 'fields' in echoed ? echoed.fields : echoed).toEqual(body);
  }
});
