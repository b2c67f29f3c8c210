import { createRateLimiter, toRateLimitKey } from '@trellis/server/http/rate-limits';
import { getClientAddress } from '@trellis/server/http/request';
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
import { createAddressPolicy, createAgent } from '../../src/dashboard/forges/http/fetch-response.js';
import * as dashboard from '../../src/generated/dashboard/operations.js';
import * as secrets from '../../src/generated/secrets/operations.js';
import { dashboardHandlers } from '../../src/handlers/dashboard/handlers.js';
import type { DashboardServices } from '../../src/handlers/dashboard/services.js';
import { toDeniedRequest } from '../../src/handlers/secrets/denied-requests.js';
import { secretsHandlers } from '../../src/handlers/secrets/handlers.js';
import { MCP_TOOLS } from '../../src/handlers/secrets/mcp-tools.js';
import { objectsHandlers } from '../../src/handlers/secrets/objects.js';
import type { SecretsServices } from '../../src/handlers/secrets/services.js';
import { UNCOMPRESSED_OPERATIONS } from '../../src/handlers/uncompressed.js';
import { secrets as secretsEntry } from '../../src/product.js';
import { createSecretsAccess } from '../../src/secrets/access.js';
import { auditPasskeyChange } from '../../src/secrets/audit/chain.js';
import { createDenialLog, type DenialLog } from '../../src/secrets/audit/denials.js';
import { createAuditLog } from '../../src/secrets/audit/log.js';
import { useAuditKey } from '../../src/secrets/audit/signatures.js';
import { createConsumerStore } from '../../src/secrets/consumers.js';
import { createSecretsOwner } from '../../src/secrets/owner.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import { createVersionStore } from '../../src/secrets/versions.js';
import type { Database } from '../../src/storage/database.js';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.js';
import { createReadiness } from '../../src/storage/readiness.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { LOOPBACK } from '../forges/forge-server.js';
import { openTestDatabase, toDatabaseUrl } from '../storage/engine.js';
import { REPLICAS, startReplicas, type Replicas } from './replicas.js';

type AllServices = DashboardServices & SecretsServices;

export interface ContractServer extends TestServer, Omit<AllServices, 'mcp'> {
  readonly accounts: Accounts;
  readonly database: Database;
  /** Records the denied requests of the secrets service; absent with replicas. */
  readonly denials: DenialLog | undefined;
  /** Whether several servers receive the requests in turns. */
  readonly isReplicated: boolean;
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
  /** Whether denied requests of the secrets service are recorded in its audit log; replicas always do so. */
  readonly recordsDenied?: true;
  /** Called when a denied request can't be recorded; by default the test fails. */
  readonly onDenialError?: (error: unknown) => void;
  /** The number of built servers that receive the requests in turns; 0 for a server in this process. */
  readonly replicas?: number;
}

const VERSION = '1.2.3';

const SMTP = { smtp: 'smtp://127.0.0.1:9', smtpFrom: 'trellis@example.org' };

/** The content of `server.key`. */
const KEY = 'k'.repeat(43);

/**
 * Starts both services with a new database, as in production, and also validates responses against the contract. With
 * replicas, the services of this process only prepare and inspect the database.
 */
export async function startContractServer(options: ContractServerOptions = {}): Promise<ContractServer> {
  const { replicas = REPLICAS, onDenialError = (error) => expect(error).toBeUndefined() } = options;
  const database = await openTestDatabase();
  useAuditKey(database, createServerKey(KEY));
  const accounts = accountsWith(database, auditPasskeyChange);
  const denials = replicas > 0 ? undefined : createDenialLog(database, { maxPerSource: 1_000, report: onDenialError });
  const domain = createServices(database, accounts, denials ?? { record: () => undefined });
  const begun = denials
    ? serveHere({ domain, denials }, database, options)
    : serveReplicas(database, replicas, options);
  const server: TestServer & Partial<Replicas> = await begun;
  const { readiness } = domain;
  return {
    ...domain,
    ...server,
    readiness: server.stop ? { ...readiness, stop: server.stop } : readiness,
    // The product has no setting for it.
    environment: replicas > 0 ? undefined : domain.environment,
    isReplicated: replicas > 0,
    denials,
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
      await denials?.close();
      await domain.dashboard.deliveries.close();
      await domain.dashboard.refresher.close();
      await database.destroy();
    },
  };
}

/** Serves the domain in this process. */
function serveHere(
  { domain, denials }: { readonly domain: Omit<AllServices, 'mcp'>; readonly denials: DenialLog },
  database: Database,
  options: ContractServerOptions,
): Promise<TestServer> {
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
    createAuthenticator({
      database,
      sessions: domain.accounts.sessions,
      publicUrl: ORIGIN,
      tokens,
      addressOf: (request) => getClientAddress(request as Parameters<typeof getClientAddress>[0]),
    });
  return serve(
    contractRouter({
      ...secrets,
      handlers: secretsHandlers(services),
      fixedMessages: secretsEntry.fixedMessages,
      authenticate: authenticatorFor(['write', 'consumer']),
      limits,
      replays: createIdempotencyStore(database),
      validateResponses: true,
      uncompressedOperations: UNCOMPRESSED_OPERATIONS.secrets,
      onRejected: options.recordsDenied ? toDeniedRequest(denials) : undefined,
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
}

async function serveReplicas(
  database: Database,
  count: number,
  { perMinute = 0 }: ContractServerOptions,
): Promise<Replicas> {
  const limits = { rateLimit: String(perMinute), tightRateLimit: String(perMinute || 1) };
  return startReplicas({
    ...{ count, databaseUrl: await toDatabaseUrl(database), key: KEY, version: VERSION },
    flags: {
      ...limits,
      ...SMTP,
      ...{ services: 'dashboard,secrets', publicUrl: ORIGIN, allowedHosts: 'x', logLevel: 'info' },
      notificationAllow: LOOPBACK.join(','),
      issuerAllow: LOOPBACK.join(','),
    },
  });
}

function createServices(
  database: Database,
  accounts: Accounts,
  denials: Pick<DenialLog, 'record'>,
): Omit<AllServices, 'mcp'> {
  const owner = createSecretsOwner(database);
  return {
    version: VERSION,
    environment: 'test',
    basePath: secrets.basePath,
    readiness: createReadiness(database),
    siteWork: () => ({ status: 'ok', records: 1, changedAt: 0, problems: 0, images: { running: 0, waiting: 1 } }),
    cleanup: { runNow: () => undefined, status: { isRunning: false, endedAt: 0, failures: 1 } },
    accounts,
    dashboard: createDashboard({
      database,
      key: createServerKey(KEY),
      origin: () => ORIGIN,
      forgeAllow: LOOPBACK,
      // No message is sent, as the queue is not processed.
      smtp: { url: SMTP.smtp, from: SMTP.smtpFrom },
      notificationAllow: LOOPBACK,
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
      origin: () => ORIGIN,
      toAddressKey: toRateLimitKey,
      issuerAgent: createAgent(createAddressPolicy({ allow: LOOPBACK })),
      denials,
    }),
  };
}

function accountsWith(database: Database, witness: PasskeyListener): Accounts {
  return createAccounts(database, { origin: () => ORIGIN, passkeyListener: witness });
}
