import { createRateLimiter } from '@trellis/server/http/rate-limits';
import { createMcp } from '@trellis/server/mcp/endpoint';
import { contractRouter } from '@trellis/server/rest/router';
import { serve, type TestServer } from '../../packages/server/tests/serve.js';
import { createAccounts, type Accounts } from '../../src/accounts/accounts.js';
import { createAuthenticator } from '../../src/accounts/authentication.js';
import { issueToken, serviceTokens, type TokenKind } from '../../src/accounts/bearer-tokens.js';
import type { Scope } from '../../src/accounts/callers.js';
import type { PasskeyListener } from '../../src/accounts/events.js';
import type { User } from '../../src/accounts/users.js';
import { createDashboard } from '../../src/dashboard/dashboard.js';
import * as dashboard from '../../src/generated/dashboard/operations.js';
import * as secrets from '../../src/generated/secrets/operations.js';
import { dashboardHandlers } from '../../src/handlers/dashboard/handlers.js';
import type { DashboardServices } from '../../src/handlers/dashboard/services.js';
import { secretsHandlers } from '../../src/handlers/secrets/handlers.js';
import { MCP_TOOLS } from '../../src/handlers/secrets/mcp-tools.js';
import { objectsHandlers } from '../../src/handlers/secrets/objects.js';
import type { SecretsServices } from '../../src/handlers/secrets/services.js';
import { UNCOMPRESSED_OPERATIONS } from '../../src/handlers/uncompressed.js';
import { secrets as secretsEntry } from '../../src/product.js';
import { createSecretsAccess } from '../../src/secrets/access.js';
import { auditPasskeyChange } from '../../src/secrets/audit/chain.js';
import { createAuditLog } from '../../src/secrets/audit/log.js';
import { createConsumerStore } from '../../src/secrets/consumers.js';
import { createSecretsOwner } from '../../src/secrets/owner.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import { createVersionStore } from '../../src/secrets/versions.js';
import type { Database } from '../../src/storage/database.js';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.js';
import { createReadiness } from '../../src/storage/readiness.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { LOOPBACK } from '../forges/forge-server.js';
import { openTestDatabase } from '../storage/engine.js';

type AllServices = DashboardServices & SecretsServices;

export interface ContractServer extends TestServer, AllServices {
  readonly accounts: Accounts;
  readonly database: Database;
  /** Adds a user. @returns the user and the cookie of a session. */
  addPerson(username: string): Promise<{ readonly person: User; readonly cookie: string }>;
  /** Issues a token of any kind for a user. */
  issueToken(kind: TokenKind, person: User, scopes?: readonly Scope[]): Promise<string>;
}

/** The public origin that the tests configure. */
export const ORIGIN = 'http://localhost:4000';

export interface ContractServerOptions {
  /** The rate limit per minute; by default 0, which means no limit. */
  readonly perMinute?: number;
  readonly heartbeatMs?: number;
  readonly refresh?: (personId: string) => Promise<void>;
}

/** Starts both services with a new database, as in production, and also validates responses against the contract. */
export async function startContractServer(options: ContractServerOptions = {}): Promise<ContractServer> {
  const database = await openTestDatabase();
  const accounts = accountsWith(database, auditPasskeyChange);
  const domain = createServices(database, accounts, options);
  const mcp = createMcp({
    ...MCP_TOOLS,
    ...secrets,
    handlers: objectsHandlers(domain),
    document: new URL('../../src/generated/secrets/openapi.json', import.meta.url),
    version: domain.version,
  });
  const services = { ...domain, mcp };
  const { perMinute = 0, heartbeatMs } = options;
  const limits = createRateLimiter({ perMinute, tightPerMinute: perMinute });
  const authenticatorFor = (tokens: readonly TokenKind[]) =>
    createAuthenticator({ database, sessions: accounts.sessions, publicUrl: ORIGIN, tokens });
  const server = await serve(
    contractRouter({
      ...secrets,
      handlers: secretsHandlers(services),
      fixedMessages: secretsEntry.fixedMessages,
      authenticate: authenticatorFor(['write', 'consumer']),
      limits,
      replays: createIdempotencyStore(database),
      validateResponses: true,
      uncompressedOperations: UNCOMPRESSED_OPERATIONS.secrets,
    }),
    contractRouter({
      ...dashboard,
      ownedPrefixes: ['/api'],
      handlers: dashboardHandlers(services),
      authenticate: authenticatorFor(['personal']),
      limits,
      replays: createIdempotencyStore(database),
      validateResponses: true,
      streams: { heartbeatMs, stopping: services.readiness.stopping },
      uncompressedOperations: UNCOMPRESSED_OPERATIONS.dashboard,
    }),
  );
  return {
    ...server,
    ...services,
    database,
    accounts,
    addPerson: async (username) => {
      const person = await accounts.users.add({ username, displayName: username });
      return { person, cookie: `trellis_session=${await accounts.sessions.start(person.id)}` };
    },
    issueToken: async (kind, { id: personId }, scopes = ['read', 'write']) => {
      // Longer than the slowest test run.
      const [createdAt, expiresAt] = [Date.now(), new Date(Date.now() + 3_600_000)];
      const consumer = kind === 'consumer' ? { consumer: 'acme/shop' } : {};
      const issue = {
        kind,
        personId,
        ...consumer,
        label: kind,
        scopes,
        createdAt,
        expiresAt,
      } as const;
      return (await issueToken(database, issue)).token;
    },
    close: async () => {
      await server.close();
      await services.dashboard.deliveries.close();
      await services.dashboard.refresher.close();
      await database.destroy();
    },
  };
}

function createServices(
  database: Database,
  accounts: Accounts,
  { refresh = () => Promise.resolve() }: ContractServerOptions,
): Omit<AllServices, 'mcp'> {
  const owner = createSecretsOwner(database);
  return {
    version: '1.2.3',
    environment: 'test',
    basePath: secrets.basePath,
    readiness: createReadiness(database),
    siteWork: () => ({ status: 'ok', records: 1, changedAt: 0, problems: 0, images: { running: 0, waiting: 1 } }),
    cleanup: { runNow: () => undefined, status: { isRunning: false, endedAt: 0, failures: 1 } },
    accounts,
    dashboard: createDashboard({
      database,
      key: createServerKey('k'.repeat(43)),
      origin: () => ORIGIN,
      forgeAllow: LOOPBACK,
      refresh,
      pollMs: 20,
    }),
    audit: createAuditLog(database),
    consumers: createConsumerStore(database),
    secrets: createSecretStore(database),
    versions: createVersionStore(database),
    owner,
    ...createSecretsAccess(database, {
      owner,
      signIn: accounts.signIn,
      accountsFactory: (witness) => accountsWith(database, witness),
      store: serviceTokens,
    }),
  };
}

function accountsWith(database: Database, witness: PasskeyListener): Accounts {
  return createAccounts(database, { origin: () => ORIGIN, passkeyListener: witness });
}
