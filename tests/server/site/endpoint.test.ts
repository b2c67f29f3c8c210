import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { type RunningServer, startServer } from '../../running-server.js';

/** `QUERIES=1000 npm test -- site-endpoint` sends more of them. */
const ORDINARY_QUERIES = Number(process.env.QUERIES ?? 30);

const ORDINARY = [
  '{ allFile { totalCount } }',
  '{ allFile(filter: { name: { glob: "*" } }) { nodes { name mtime(formatString: "YYYY") parent { id } } } }',
  '{ allDirectory(limit: 2) { edges { node { name } } } }',
  '{ file(extension: { eq: "md" }) { internal { type } childImageProc { fluid(maxWidth: 100) { src } } } }',
];

let folder: string;
let server: RunningServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-endpoint-'));
  await writeFile(join(folder, 'a.md'), 'text');
  server = await startServer(['--site', folder, '--services', 'site']);
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function post(query: string, variables: object = {}): Promise<string> {
  const response = await fetch(`${server.origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return response.text();
}

/** Makes each document unique, because the server caches documents by their text. */
const introspect = (round: string): Promise<string> =>
  post(`# ${round}\n${getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true })}`);

test('introspection returns the same bytes before and after ordinary queries', async () => {
  const before = await introspect('before');
  for (let index = 0; index < ORDINARY_QUERIES; index += 1) {
    expect(await post(ORDINARY[index % ORDINARY.length] ?? '')).not.toContain('"errors"');
  }
  const after = await introspect('after');
  expect(after).toBe(before);
  const { data } = JSON.parse(after) as { data: IntrospectionQuery };
  const file = buildClientSchema(data).getType('File');
  expect(file && 'getFields' in file ? file.getFields() : {}).toHaveProperty('birthtime.deprecationReason');
});

test.each([
  ['the schema', '{ __schema { types { fields(includeDeprecated: true) { name } } } }'],
  ['one type', '{ __type(name: "File") { fields(includeDeprecated: true) { name args { name } } } }'],
])('introspection of %s with arguments works after an ordinary query', async (_what, query) => {
  await post('{ allFile { totalCount } }');
  expect(await post(query)).toMatch(/^\{"data":/);
});
