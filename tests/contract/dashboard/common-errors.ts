/** Errors that are common to many operations, tested for every operation that documents them. */
import type { ErrorCode } from '@trellis/core/errors';
import { sql } from 'kysely';
import pg from 'pg';
import { engine } from '../../storage/engine.js';
import { documented, withStatus, type DocumentedOperation } from '../contract.js';
import { openStage, type RequestChange, type Credential, type Stage } from './fixtures.js';

export function commonErrorTests(stage: () => Stage): void {
  const refused = async (operation: DocumentedOperation, credential: Credential, change?: RequestChange) => {
    const { response, error } = await stage().send(operation, credential, change);
    return [response.status, error?.code];
  };
  // Webhook deliveries are authenticated by their path and signature instead.
  const secured = withStatus(401).filter(({ spec }) => spec.security.length > 0);

  test.each(secured)('$id: returns 401 without a credential', async (operation) => {
    const { response } = await stage().send(operation, {});
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test.each(secured)('$id: returns 401 for an invalid credential', async (operation) => {
    expect(await refused(operation, { token: 'trl_x' })).toEqual([401, 'unauthenticated']);
    expect(await refused(operation, { cookie: 'trellis_session=stale' })).toEqual([401, 'unauthenticated']);
  });

  test.each(secured.filter(isSessionOnly))('$id: returns 403 for a token with any scope', async (operation) => {
    const token = await stage().server.issueToken('personal', stage().admin.person);
    expect(await refused(operation, { token })).toEqual([403, 'session_required']);
  });

  test.each(secured.filter((operation) => !isSessionOnly(operation)))(
    '$id: returns 403 for a token without the scope',
    async (operation) => {
      const [scope] = operation.spec.security.find(({ scheme }) => scheme === 'token')!.roles;
      const other = scope === 'read' ? 'write' : 'read';
      const token = await stage().server.issueToken('personal', stage().admin.person, [other]);
      expect(await refused(operation, { token })).toEqual([403, 'forbidden']);
    },
  );

  test.each(secured.filter(({ spec }) => spec.security[0]?.roles.includes('admin')))(
    '$id: returns 403 for users who are not admins',
    async (operation) => {
      const { cookie } = await stage().addUser();
      expect(await refused(operation, { cookie })).toEqual([403, 'forbidden']);
    },
  );

  test.each(withStatus(403).filter(({ spec }) => spec.security.length > 0 && spec.method !== 'get'))(
    '$id: returns 403 for a cross-site request with the cookie',
    async (operation) => {
      const { cookie } = stage().admin;
      const headers = { origin: 'https://evil.example' };
      expect(await refused(operation, { cookie }, { headers })).toEqual([403, 'cross_site']);
    },
  );

  test.each(withStatus(400).filter(canBeInvalid))('$id: returns 400 for an invalid request', async (operation) => {
    const [status, code] = await refused(operation, stage().admin, toInvalid(operation));
    expect([status, code]).toEqual([400, isParsed(operation) ? 'malformed_body' : 'invalid_input']);
  });

  test.each(documented)('$id: returns 400 for a query with a malformed escape', async (operation) => {
    expect(await refused(operation, stage().admin, { rawQuery: 'q=%ff' })).toEqual([400, 'invalid_input']);
  });

  test.each(withStatus(406))('$id: returns 406 if its media type is not acceptable', async (operation) => {
    const headers = { accept: 'image/png' };
    expect(await refused(operation, stage().admin, { headers })).toEqual([406, 'not_acceptable']);
  });

  test.each(withStatus(413).filter(isParsed))('$id: returns 413 for a body that is too large', async (operation) => {
    const text = JSON.stringify({ x: 'x'.repeat(operation.spec.body!.maxBytes) });
    expect(await refused(operation, stage().admin, { text })).toEqual([413, 'too_large']);
  });

  test.each(withStatus(415).filter(isParsed))('$id: returns 415 for a body that is not JSON', async (operation) => {
    const headers = { 'content-type': 'text/plain' };
    expect(await refused(operation, stage().admin, { headers, text: 'x' })).toEqual([415, 'unsupported_media_type']);
  });
}

/** Tests on separate servers, which are unusable afterwards. */
export function brokenServerTests(): void {
  test.each(withStatus(429))('$id: returns 429 above the rate limit', async (operation) => {
    const stage = await limited();
    // A new session, because the first request may have signed out. The limit is per user.
    await stage.send(operation, await signIn(stage));
    const { response, error } = await stage.send(operation, await signIn(stage));
    expect([response.status, error?.code]).toEqual([429, 'rate_limited']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each(withStatus(500).filter(({ id }) => !WITHOUT_DATABASE.includes(id)))(
    '$id: hides the details of an internal error',
    async (operation) => {
      const stage = await defective();
      const { response, error } = await stage.send(operation, stage.admin);
      expect([response.status, error?.code]).toEqual([500, 'internal']);
    },
  );

  // A SQLite file is always available.
  const networked = engine === 'PostgreSQL' ? withStatus(503) : [];
  for (const operation of networked.filter(({ id }) => id !== 'getReadiness' && !WITHOUT_DATABASE.includes(id))) {
    test(`${operation.id}: returns 503 while the database is unavailable`, async () => {
      const stage = await cutOff();
      const { response, error } = await stage.send(operation, stage.admin);
      expect([response.status, error?.code]).toEqual([503, 'unavailable']);
    });
  }

  test('getReadiness: returns 503 while the server shuts down', async () => {
    const stage = await limited();
    stage.server.readiness.stop();
    const { response, error } = await stage.client().GET('/readyz');
    expect([response.status, error?.code]).toEqual([503, 'unavailable' satisfies ErrorCode]);
  });

  const limited = once(() => openStage({ perMinute: 1 }));
  const defective = once(openDefective);
  const cutOff = once(openCutOff);
}

/** Operations whose responses do not depend on the database. */
export const WITHOUT_DATABASE = ['getHealth', 'getReadiness', 'getVersion'];

async function signIn({ server, admin }: Stage): Promise<Credential> {
  return { cookie: `trellis_session=${await server.accounts.sessions.start(admin.person.id)}` };
}

async function openDefective(): Promise<Stage> {
  const stage = await openStage();
  const { schema } = stage.server.database;
  for (const table of [
    'people',
    'sessions',
    'challenges',
    'invitations',
    'feeds',
    'settings',
    'notification_channels',
  ] as const) {
    await schema.alterTable(table).renameTo(`lost_${table}`).execute();
  }
  return stage;
}

async function openCutOff(): Promise<Stage> {
  const stage = await openStage();
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(stage.server.database);
  const client = new pg.Client({ connectionString: process.env.TEST_POSTGRES });
  await client.connect();
  await client.query(`drop database ${rows[0]!.name} with (force)`);
  await client.end();
  return stage;
}

/** Opens a stage for the first test that needs it, and closes it after the last test. */
function once(open: () => Promise<Stage>): () => Promise<Stage> {
  let stage: Promise<Stage> | undefined;
  afterAll(async () => (await stage)?.server.close());
  return () => (stage ??= open());
}

/** Returns whether the body is parsed before the handler runs. */
function isParsed({ spec: { body } }: Pick<DocumentedOperation, 'spec'>): boolean {
  return body !== undefined && !body.isDeferred;
}

function isSessionOnly({ spec }: DocumentedOperation): boolean {
  return spec.security.every(({ scheme }) => scheme === 'session');
}

function canBeInvalid({ spec }: DocumentedOperation): boolean {
  return isParsed({ spec }) || spec.parameters.some((parameter) => parameter.in !== 'header');
}

/** Returns an incomplete body, or a parameter that no schema of the contract accepts. */
function toInvalid({ spec }: DocumentedOperation): RequestChange {
  if (isParsed({ spec })) return { text: '{' };
  const parameter = spec.parameters.find((one) => one.in !== 'header')!;
  return { [parameter.in]: { [parameter.name]: parameter.type === 'string' ? 'x'.repeat(2_000) : 'perhaps' } };
}
