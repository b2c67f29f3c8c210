import { generateKeyPairSync, verify } from 'node:crypto';
import type { TestResponse, RecordedRequest } from './forge-server.js';

/** An App of the test GitHub with one installation. */
export interface TestApp {
  readonly id: number;
  readonly privateKey: string;
  readonly installationId: number;
  permissions: Readonly<Record<string, string>>;
  /** The clock for issuing and expiring tokens, in milliseconds. */
  now: () => number;
  /** The issued tokens, oldest first. */
  readonly tokens: { readonly token: string; readonly expiresAt: number }[];
  readonly verify: (jwt: string, at: number) => boolean;
}

const ID = 4711;

const HOUR_MS = 3_600_000;

export function createTestApp(): TestApp {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    id: ID,
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    installationId: 99,
    permissions: { checks: 'read', contents: 'write', pull_requests: 'write' },
    now: Date.now,
    tokens: [],
    verify(jwt, at) {
      const [header = '', payload = '', signature = ''] = jwt.split('.');
      const { alg } = read(header) as { alg: string };
      const { iat, exp, iss } = read(payload) as { iat: number; exp: number; iss: number };
      const isTimely = iat <= at && exp > at && exp - at <= 600;
      const isSigned = verify('RSA-SHA256', Buffer.from(`${header}.${payload}`), publicKey, fromBase64(signature));
      return alg === 'RS256' && iss === ID && isTimely && isSigned;
    },
  };
}

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64url');
const read = (part: string): unknown => JSON.parse(fromBase64(part).toString());

export function isAppToken(app: TestApp, token: string): boolean {
  return app.tokens.some((one) => one.token === token && one.expiresAt > app.now());
}

/** Exchanges a JWT for an installation token. */
export function issueInstallationToken(app: TestApp, { headers, path }: RecordedRequest): TestResponse {
  const jwt = (headers.authorization ?? '').replace('Bearer ', '');
  if (!app.verify(jwt, app.now() / 1000))
    return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
  if (path !== `/app/installations/${app.installationId}/access_tokens`) {
    return { status: 404, body: { message: 'Not Found' } };
  }
  const expiresAt = app.now() + HOUR_MS;
  const token = `ghs_${app.tokens.length + 1}`;
  app.tokens.push({ token, expiresAt });
  const expires_at = new Date(expiresAt).toISOString();
  return { status: 201, body: { token, expires_at, permissions: app.permissions, repository_selection: 'selected' } };
}
