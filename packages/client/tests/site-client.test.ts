import { ApiError } from '../src/errors.js';
import { createSiteClient, QueryFailedError, type TypedQuery } from '../src/site-client.js';
import { type NotesServer, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

afterEach(() => server.close());

const plants = 'query Plants($limit: Int) { plants }' as TypedQuery<{ plants: string[] }, { limit?: number }>;
const plant = 'query Plant($id: ID!) { plant }' as TypedQuery<{ plant: string | null }, { id: string }>;

const connect = () => createSiteClient(server.url, { token: 'trl_x', retry: { baseDelayMs: 1 } });

test('query sends text and variables, and resolves to the data', async () => {
  server = await serveNotes((response, nth) =>
    nth === 0 ? sendJson(response, 503, {}) : sendJson(response, 200, { data: { plants: ['fern'] } }),
  );
  const data = await connect().query(plants, { limit: 1 });
  expect(data.plants satisfies string[]).toEqual(['fern']);
  expect(server.seen.map(({ url }) => url)).toEqual(['/graphql', '/graphql']);
  expect(server.seen[1]?.headers.authorization).toBe('Bearer trl_x');
  expect(JSON.parse(server.seen[1]?.body ?? '')).toEqual({ query: plants, variables: { limit: 1 } });
});

test('variables are only left out where the query requires none', async () => {
  server = await serveNotes((response) => sendJson(response, 200, { data: { plants: [], plant: null } }));
  // As the generator declares a query without variables.
  const all = 'query All { plants }' as TypedQuery<{ plants: string[] }, Record<string, never>>;
  expect(await connect().query(all)).toEqual({ plants: [], plant: null });
  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ query: all, variables: {} });
  await connect().query(plants);
  // @ts-expect-error The id is required.
  await connect().query(plant);
});

test.each([200, 400])('query throws the errors of the result with status %i', async (status) => {
  server = await serveNotes((response) => sendJson(response, status, { errors: [{ message: 'Unknown field.' }] }));
  const failure = await connect()
    .query(plants)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(QueryFailedError);
  expect(failure).toMatchObject({ message: 'Unknown field.', errors: [{ message: 'Unknown field.' }] });
});

test('a query that failed in part throws, while result has its data and its errors', async () => {
  const result = { data: { plant: null }, errors: [{ message: 'Unreadable.', path: ['plant'] }] };
  server = await serveNotes((response) => sendJson(response, 200, result));
  expect(await connect().result(plant, { id: '1' })).toEqual(result);
  await expect(connect().query(plant, { id: '1' })).rejects.toEqual(new QueryFailedError(result.errors));
});

test('a response without a result is an ApiError', async () => {
  server = await serveNotes((response) => sendJson(response, 401, { error: 'Sign in.', code: 'unauthenticated' }));
  const failure = await connect()
    .query(plants)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ statusCode: 401, code: 'unauthenticated' });
});

const readPlants = () => connect().query(plants);

/* Checked by the compiler only. */
export function wrongVariablesDoNotCompile(): readonly unknown[] {
  const site = connect();
  return [
    // @ts-expect-error the variables are missing
    site.query(plant),
    // @ts-expect-error a variable of the wrong type
    site.query(plant, { id: 1 }),
    // @ts-expect-error no such field
    'plant' satisfies keyof Awaited<ReturnType<typeof readPlants>>,
  ];
}
