/** Tests the errors that operations have in common, for every operation that documents them. */
import type { ErrorCode } from '@trellis/core/errors';
import { sql } from 'kysely';
import pg from 'pg';
import { engine } from '../../storage/engine.js';
import { secretsContract, type DocumentedOperation } from '../contract.js';
import type { ExampleResponse, RequestChange } from '../send-example.js';
import { openStage, type Credential, type Stage } from './fixtures.js';

const { withStatus } = secretsContract;

export function errorTests(stage: () => Stage): void {
  const refused = async (operation: DocumentedOperation, credential: Credential, change?: RequestChange) =>
    toRefusal(await stage().send(operation, credential, change));
  const secured = withStatus(401).filter(({ spec }) => spec.security.length > 0);

  test.each(secured)('$id: returns 401 without a credential', async (operation) => {
    const answer = await stage().send(operation, {});
    expect([...toRefusal(answer), answer.response.headers.get('www-authenticate')]).toEqual([
      401,
      'unauthenticated',
      'Bearer',
    ]);
    expect(answer.error?.error).toBe('missing or invalid session');
  });

  test.each(secured)('$id: returns 401 for an invalid credential', async (operation) => {
    const answer = await stage().send(operation, { token: 'trs_x' });
    expect([...toRefusal(answer), answer.response.headers.get('www-authenticate')]).toEqual([
      ...[401, 'unauthenticated'],
      // An invalid credential is ignored where none is required.
      /Registration$|^finishLogin$/.test(operation.id) ? 'Bearer' : 'Bearer error="invalid_token"',
    ]);
    expect(await refused(operation, { cookie: 'trellis_session=stale' })).toEqual([401, 'unauthenticated']);
  });

  test.each(secured.filter(({ id }) => !['getObject', 'getOwnToken', 'listObjects'].includes(id)))(
    '$id: returns 401 for a consumer token',
    async (operation) => {
      const token = await stage().server.issueToken('consumer', stage().owner.person);
      expect(await refused(operation, { token })).toEqual([401, 'unauthenticated']);
    },
  );

  test.each(secured)('$id: returns 401 for an API token of the dashboard', async (operation) => {
    const token = await stage().server.issueToken('personal', stage().owner.person);
    expect(await refused(operation, { token })).toEqual([401, 'unauthenticated']);
  });

  test.each(secured.filter(isSessionOnly))('$id: returns 403 for a write token', async (operation) => {
    expect(await refused(operation, { token: stage().token })).toEqual([403, 'session_required']);
  });

  test.each(secured.filter(({ spec }) => spec.security.some(({ roles }) => roles.includes('admin'))))(
    '$id: returns 403 for users other than the owner',
    async (operation) => {
      const { cookie } = await stage().addStranger();
      expect(await refused(operation, { cookie })).toEqual([403, 'forbidden']);
    },
  );

  test.each(secured.filter(({ spec }) => spec.method !== 'get'))(
    '$id: returns 403 for a cross-site request with the cookie',
    async (operation) => {
      const { cookie } = stage().owner;
      const headers = { origin: 'https://evil.example' };
      expect(await refused(operation, { cookie }, { headers })).toEqual([403, 'cross_site']);
    },
  );

  test.each(withStatus(400).filter(({ spec }) => spec.body))(
    '$id: returns 400 for malformed JSON',
    async (operation) => {
      const answer = await stage().send(operation, stage().owner, { text: '{' });
      expect([...toRefusal(answer), answer.error?.error]).toEqual([400, 'malformed_body', 'malformed request body']);
    },
  );

  test.each(withStatus(400).filter(({ spec }) => !spec.body && findStrictParameter(spec) !== undefined))(
    '$id: returns 400 for an invalid parameter',
    async (operation) => {
      expect(await refused(operation, stage().owner, misfit(operation))).toEqual([400, 'invalid_input']);
    },
  );

  test.each(secretsContract.documented)('$id: returns 400 for a query with a malformed escape', async (operation) => {
    expect(await refused(operation, stage().owner, { rawQuery: 'q=%ff' })).toEqual([400, 'invalid_input']);
  });

  test.each(withStatus(406))('$id: returns 406 if Accept excludes its media types', async (operation) => {
    const headers = { accept: 'image/png' };
    expect(await refused(operation, stage().owner, { headers })).toEqual([406, 'not_acceptable']);
  });

  test.each(withStatus(413))('$id: returns 413 for a body that is too large', async (operation) => {
    const text = JSON.stringify({ x: 'x'.repeat(operation.spec.body!.maxBytes) });
    expect(await refused(operation, stage().owner, { text })).toEqual([413, 'too_large']);
  });

  test.each(withStatus(415))('$id: returns 415 for a body of a different type', async (operation) => {
    const headers = { 'content-type': 'text/plain' };
    expect(await refused(operation, stage().owner, { headers, text: 'x' })).toEqual([415, 'unsupported_media_type']);
  });

  test.each(withStatus(422))('$id: returns 422 for a text above its length limit', async (operation) => {
    const { status, field } = await tooLong(stage(), operation);
    expect([status, field]).toEqual([422, expect.any(String)]);
  });
}

/** Uses separate servers, because these tests break them. */
export function brokenServerTests(): void {
  test.each(withStatus(429))('$id: returns 429 above the rate limit', async (operation) => {
    const stage = await limited();
    // Each request has a new session, because the first may sign out. The rate limit applies per user.
    await stage.send(operation, await signIn(stage));
    const { response, error } = await stage.send(operation, await signIn(stage));
    expect([response.status, error?.code]).toEqual([429, 'rate_limited']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each(withStatus(500).filter(({ id }) => !WITHOUT_DATABASE.includes(id)))(
    '$id: returns 500 without details for an internal error',
    async (operation) => {
      const stage = await defective();
      expect(toRefusal(await stage.send(operation, stage.owner))).toEqual([500, 'internal']);
    },
  );

  // The file of SQLite is always available.
  const networked = engine === 'PostgreSQL' ? withStatus(503) : [];
  for (const operation of networked.filter(({ id }) => id !== 'getReadiness' && !WITHOUT_DATABASE.includes(id))) {
    test(`${operation.id}: returns 503 without a database`, async () => {
      const stage = await cutOff();
      expect(toRefusal(await stage.send(operation, stage.owner))).toEqual([503, 'unavailable']);
    });
  }

  test('getReadiness: returns 503 once the server begins to shut down', async () => {
    const stage = await limited();
    stage.server.readiness.stop();
    const { response, error } = await stage.client({}).GET('/readyz');
    expect([response.status, error]).toEqual([503, { status: 'unavailable' }]);
  });

  const limited = once(() => openStage({ perMinute: 1 }));
  const defective = once(openDefective);
  const cutOff = once(openCutOff);
}

/** Operations that use no database, or report its failure themselves. */
export const WITHOUT_DATABASE = ['getHealth', 'getReadiness'];

function toRefusal({ response, error }: ExampleResponse): [status: number, code: string | undefined] {
  return [response.status, error?.code];
}

async function signIn({ server, owner }: Stage): Promise<Credential> {
  return { cookie: `trellis_session=${await server.accounts.sessions.start(owner.person.id)}` };
}

async function openDefective(): Promise<Stage> {
  const stage = await openStage();
  const { schema } = stage.server.database;
  for (const table of [
    'people',
    'sessions',
    'challenges',
    'invitations',
    'workload_rules',
    'device_logins',
    'tokens',
  ] as const) {
    await schema.alterTable(table).renameTo(`lost_${table}`).execute();
  }
  return stage;
}

async function openCutOff(): Promise<Stage> {
  // Denied requests are recorded later, when the database is gone.
  const onDenialError = (error: unknown): void => expect(error).toMatchObject({ code: 'unavailable' });
  const stage = await openStage({ onDenialError });
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(stage.server.database);
  const client = new pg.Client({ connectionString: process.env.TEST_POSTGRES });
  await client.connect();
  await client.query(`drop database ${rows[0]!.name} with (force)`);
  await client.end();
  return stage;
}

/** Opens a stage for the first test that needs it, and closes it after the last. */
function once(open: () => Promise<Stage>): () => Promise<Stage> {
  let stage: Promise<Stage> | undefined;
  afterAll(async () => (await stage)?.server.close());
  return () => (stage ??= open());
}

function isSessionOnly({ id, spec }: DocumentedOperation): boolean {
  // Every user can sign out, and registration uses a setup link or a session.
  return !spec.isOptional && id !== 'logout' && spec.security.every(({ scheme }) => scheme === 'session');
}

/** Returns a change that sets a parameter to an invalid value within its length limit. */
function misfit({ spec }: DocumentedOperation): RequestChange {
  const place = findStrictParameter(spec)!;
  return { [place.in]: { [place.name]: 'no-!-such' } };
}

function findStrictParameter({ parameters }: DocumentedOperation['spec']) {
  return parameters.find(({ name, in: where }) => where !== 'header' && !FREE_TEXT.includes(`${where} ${name}`));
}

/** Parameters that accept any text. */
const FREE_TEXT: readonly string[] = [
  'path name',
  'path id',
  'path user_code',
  'query actor',
  'query caller',
  'query q',
  'query slug',
  'query used_by',
];

/** Sends a text that is too long: in `X-Caller`, or otherwise in another field with a limit. */
async function tooLong(stage: Stage, operation: DocumentedOperation) {
  const { spec } = operation;
  const long = 'x'.repeat(1_401);
  const hasCaller = spec.parameters.some(({ name }) => name === 'x-caller');
  const place = spec.parameters.find(({ in: where, type }) => where !== 'header' && type === 'string');
  const change: RequestChange = hasCaller
    ? { headers: { 'x-caller': long } }
    : place === undefined
      ? { body: { setup_token: long } }
      : { [place.in]: { [place.name]: long } };
  const { response, error } = await stage.send(operation, stage.owner, change);
  const code: ErrorCode = 'unprocessable';
  expect(error?.code).toBe(code);
  return { status: response.status, field: error?.field };
}
