import { join } from 'node:path';
import { createAccounts } from './accounts/accounts.js';
import type { Accounts } from './accounts/accounts.js';
import { createAuthenticator } from './accounts/authenticate.js';
import type { CredentialSource } from './accounts/authenticate.js';
import type { Caller } from './accounts/callers.js';
import type { PasskeyWitness } from './accounts/passkey-witness.js';
import type { TokenKind } from './accounts/token-format.js';
import type { Config } from './config.js';
import { createDashboard, sweepDashboard } from './dashboard/dashboard.js';
import type { Dashboard } from './dashboard/dashboard.js';
import { sweepDeliveries } from './dashboard/webhooks/seen-deliveries.js';
import { serviceTokens } from './accounts/service-tokens.js';
import { createSecretsAccess } from './secrets/access.js';
import type { SecretsAccess } from './secrets/access.js';
import { createAuditLog } from './secrets/audit.js';
import type { AuditLog } from './secrets/audit.js';
import { auditPasskeys } from './secrets/audit-passkeys.js';
import { auditedReplays } from './secrets/audited-replays.js';
import { createConsumers } from './secrets/consumers.js';
import type { Consumers } from './secrets/consumers.js';
import { createSecretObjects } from './secrets/objects.js';
import type { SecretObjects } from './secrets/objects.js';
import { createObjectVersions } from './secrets/versions.js';
import type { ObjectVersions } from './secrets/versions.js';
import { noteRotationsDue } from './secrets/rotation.js';
import { createOwner } from './secrets/owner.js';
import type { Owner } from './secrets/owner.js';
import { startSite } from './site-service.js';
import type { SiteReport, SiteService, SiteServiceOptions } from './site-service.js';
import { createLinkSigner } from './site/link-signer.js';
import type { LinkSigner } from './site/link-signer.js';
import { isPostgres, openDatabase } from './storage/database.js';
import type { Database } from './storage/database.js';
import { placeOf } from './storage/place.js';
import { requireServerKey } from './storage/server-key-check.js';
import { openServerKey } from './storage/server-key.js';
import { openStateFolder } from './storage/state-folder.js';
import type { StateFolder } from './storage/state-folder.js';
import { createRateCounts, sweepRateCounts } from './storage/rate-counts.js';
import type { RateCounts } from './storage/rate-counts.js';
import { createReadiness } from './storage/readiness.js';
import type { Readiness } from './storage/readiness.js';
import { createReplays, sweepReplays } from './storage/replays.js';
import type { Replays } from './storage/replays.js';
import { startSweeper } from './storage/sweeper.js';
import type { Sweeper } from './storage/sweeper.js';

/** The services of the domain that handlers and resolvers use. */
export interface Services extends SecretsAccess {
  /** The running release. */
  readonly version: string;
  readonly readiness: Readiness;
  readonly replays: Replays;
  /** The idempotency store of the secrets service, which also writes the audit log. */
  readonly auditedReplays: Replays;
  /** Rate limit counts that several servers share; absent on SQLite, which only one server can use. */
  readonly rateCounts: RateCounts | undefined;
  readonly accounts: Accounts;
  readonly dashboard: Dashboard;
  readonly objects: SecretObjects;
  readonly versions: ObjectVersions;
  readonly consumers: Consumers;
  readonly owner: Owner;
  readonly audit: AuditLog;
  /** Absent when the site service does not run. */
  readonly site: SiteService | undefined;
  /** The state of the site for probes; absent when the site service does not run. */
  readonly siteReport: (() => SiteReport) | undefined;
  /** Signs links below `/static`; absent for a public site. */
  readonly linkSigner: LinkSigner | undefined;
  /** The folder of published files, which are served below `/static`. */
  readonly staticFolder: string;
  /** Creates the function that identifies the caller of a service which accepts these kinds of tokens. */
  readonly authenticatorFor: (tokens: readonly TokenKind[]) => Authenticate;
  /** Closes the databases. */
  close(): Promise<void>;
}

type Authenticate = (request: CredentialSource) => Promise<Caller | undefined>;

export interface ServicesOptions {
  readonly version: string;
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
  /** The terminal that shows the progress of a long scan, and errors of background work. */
  readonly terminal: NodeJS.WriteStream;
  /** Aborts a scan. */
  readonly signal?: AbortSignal;
  /** Throws for an opened site that cannot be served. */
  readonly checkSite?: SiteServiceOptions['checkSite'];
}

/** Rate limits count requests per minute. */
const RATE_WINDOW_MS = 60_000;

/** Opens the databases, starts to scan the site, and creates the services. */
export async function openServices(config: Config, options: ServicesOptions): Promise<Services> {
  const folder = await openStateFolder(config.state);
  if (folder.isShared)
    options.terminal.write(`trellis: Other users can read ${config.state}. Protect its keys with chmod 700.\n`);
  try {
    return await openAll(config, options, folder);
  } catch (error) {
    folder.close();
    throw error;
  }
}

async function openAll(config: Config, options: ServicesOptions, folder: StateFolder): Promise<Services> {
  const key = await openServerKey(config.state);
  const database = await openDatabase(placeOf(config));
  await requireServerKey(database, key).catch(async (error: unknown) => {
    await database.destroy();
    throw error;
  });
  const accountsWith = (witness: PasskeyWitness) => createAccounts(database, { origin: options.origin, witness });
  const accounts = accountsWith(auditPasskeys);
  const owner = createOwner(database);
  const replays = createReplays(database);
  const isPublic = config.siteAccess.kind === 'public';
  const linkSigner = isPublic ? undefined : createLinkSigner(key.derive('expiring links'));
  const siteOptions = { ...options, linkKey: key.derive('image links'), signer: linkSigner };
  const site = config.services.includes('site') ? startSite(config, siteOptions) : undefined;
  const dashboard = createDashboard({
    database,
    key,
    origin: options.origin,
    githubApp: config.githubApp,
    forgeAllow: config.forgeAllow,
    refreshMs: config.refreshMinutes * 60_000,
    report: (error) => options.terminal.write(`trellis: Failed to refresh a board: ${String(error)}\n`),
  });
  const sweeper = startHourlyCleanup(database, accounts, options.terminal);
  return {
    version: options.version,
    readiness: createReadiness(database),
    replays,
    auditedReplays: auditedReplays(database, replays),
    rateCounts: isPostgres(database) ? createRateCounts(database, { windowMs: RATE_WINDOW_MS }) : undefined,
    accounts,
    dashboard,
    objects: createSecretObjects(database),
    versions: createObjectVersions(database),
    consumers: createConsumers(database),
    owner,
    ...createSecretsAccess(database, { owner, signIn: accounts.signIn, accountsWith, store: serviceTokens }),
    audit: createAuditLog(database),
    site,
    // Every caller may read a public site, so every caller may also see which of its files have problems.
    siteReport: site && (() => site.report(isPublic)),
    linkSigner,
    staticFolder: join(config.state, 'public', 'static'),
    authenticatorFor(tokens) {
      let authenticate: Authenticate | undefined;
      return (request) => {
        authenticate ??= createAuthenticator({
          database,
          sessions: accounts.sessions,
          publicUrl: options.origin(),
          tokens,
        });
        return authenticate(request);
      };
    },
    async close() {
      await dashboard.deliveries.close();
      await dashboard.refresher.close();
      await site?.close();
      await sweeper.close();
      await database.destroy();
      folder.close();
    },
  };
}

/** Deletes expired data every hour. Readers check the expiry themselves, so deletion need not be prompt. */
function startHourlyCleanup(database: Database, accounts: Accounts, terminal: NodeJS.WriteStream): Sweeper {
  return startSweeper({
    sweeps: [
      () => accounts.sweep(),
      () => sweepReplays(database, Date.now()),
      () => sweepRateCounts(database, Date.now()),
      () => sweepDeliveries(database, Date.now()),
      () => sweepDashboard(database, Date.now()),
      () => noteRotationsDue(database, Date.now()),
    ],
    everyMs: 3_600_000,
    report: (error) => terminal.write(`trellis: Failed to delete expired data: ${String(error)}\n`),
  });
}
