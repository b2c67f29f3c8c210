import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { STORED_QUERIES } from '../../src/config/site-config.js';
import { readStoredQueries } from '../../src/graphql/stored-queries.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'trellis-queries-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
  await writeFile(path.join(directory, name), text);
}

const filesOf = async (glob: string): Promise<string[]> =>
  (await readStoredQueries(directory, glob)).map(({ file }) => file);

test('readStoredQueries: finds queries in all folders, sorted by path', async () => {
  for (const name of ['queries/b.graphql', 'queries/a/z.graphql', 'queries/a.txt', 'other.graphql']) {
    await write(name, '{ __typename }');
  }
  await expect(filesOf(STORED_QUERIES)).resolves.toEqual(['queries/a/z.graphql', 'queries/b.graphql']);
  await expect(filesOf('other.graphql')).resolves.toEqual(['other.graphql']);
});

test('readStoredQueries: ignores packages and hidden folders', async () => {
  for (const name of ['node_modules/x/a.graphql', '.trellis/a.graphql']) await write(name, '{ __typename }');
  await expect(filesOf(STORED_QUERIES)).resolves.toEqual([]);
  await expect(filesOf('**/*.graphql')).resolves.toEqual([]);
});

test.each([
  ['no file', undefined, [{}]],
  ['an object', '{"slug": "a"}', [{ slug: 'a' }]],
  ['a file with a byte order mark', '\uFEFF{"slug": "a"}', [{ slug: 'a' }]],
  ['a list', '[{"slug": "a"}, {"slug": "b"}]', [{ slug: 'a' }, { slug: 'b' }]],
])('readStoredQueries: reads the variables of %s', async (_reason, text, variables) => {
  await write('queries/page.graphql', 'query Page($slug: String) { __typename }');
  if (text !== undefined) await write('queries/page.variables.json', text);
  await expect(readStoredQueries(directory, STORED_QUERIES)).resolves.toMatchObject([{ variables }]);
});

test.each([
  ['not JSON', '{', 'queries/a.variables.json: not valid JSON'],
  ['not objects', '["a"]', 'queries/a.variables.json: expected an object of variables or a list of such objects'],
])('readStoredQueries: rejects variables that are %s', async (_reason, text, message) => {
  await write('queries/a.graphql', '{ __typename }');
  await write('queries/a.variables.json', text);
  await expect(readStoredQueries(directory, STORED_QUERIES)).rejects.toThrow(message);
});

test('readStoredQueries: rejects a file that is too large', async () => {
  await write('queries/large.graphql', ' '.repeat(1024 * 1024 + 1));
  await expect(readStoredQueries(directory, STORED_QUERIES)).rejects.toThrow('queries/large.graphql: expected at most');
});
