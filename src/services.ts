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

/** What handlers and resolvers are given. */
export interface Services extends SecretsAccess {
  /** The release that runs. */
  readonly version: string;
  readonly readiness: Readiness;
  readonly replays: Replays;
  /** For the secrets, whose writes are audited. */
  readonly auditedReplays: Replays;
  /** What is counted together with other servers; absent on SQLite, which has one. */
  readonly rateCounts: RateCounts | undefined;
  readonly accounts: Accounts;
  readonly dashboard: Dashboard;
  readonly objects: SecretObjects;
  readonly versions: ObjectVersions;
  readonly consumers: Consumers;
  readonly owner: Owner;
  readonly audit: AuditLog;
  /** Absent when the site is not among the services that run. */
  readonly site: SiteService | undefined;
  /** The state of the site for probes; absent with it. */
  readonly siteReport: (() => SiteReport) | undefined;
  /** Signs links below `/static`; absent for a public site. */
  readonly linkSigner: LinkSigner | undefined;
  /** Where published files are, to be served below `/static`. */
  readonly staticFolder: string;
  /** Finds who sent a request to a service that takes tokens of these kinds. */
  readonly authenticatorFor: (tokens: readonly TokenKind[]) => Authenticate;
  /** Closes the databases. */
  close(): Promise<void>;
}

type Authenticate = (request: CredentialSource) => Promise<Caller | undefined>;

export interface ServicesOptions {
  readonly version: string;
  /** The origin that people use, known once the server listens. */
  readonly origin: () => string;
  /** Where a long crawl shows how far it is. */
  readonly terminal: NodeJS.WriteStream;
  /** Ends a crawl. */
  readonly signal?: AbortSignal;
  /** Throws for an opened site that cannot be served. */
  readonly checkSite?: SiteServiceOptions['checkSite'];
}

/** Limits are of requests a minute. */
const RATE_WINDOW_MS = 60_000;

/** Opens the databases, starts to read the site, and wires the domain to them. */
export async function openServices(config: Config, options: ServicesOptions): Promise<Services> {
  const folder = await openStateFolder(config.state);
  if (folder.isShared)
    options.terminal.write(`trellis: ${config.state} is open to others; chmod 700 keeps its keys yours.\n`);
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
    report: (error) => options.terminal.write(`trellis: a board could not be refreshed: ${String(error)}\n`),
  });
  const sweeper = sweepHourly(database, accounts, options.terminal);
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
    // The callers that may read a public site may also know which of its files are left out, and why.
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

/** What time has ended is refused as it is read, so it may lie there for a while. */
function sweepHourly(database: Database, accounts: Accounts, terminal: NodeJS.WriteStream): Sweeper {
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
    report: (error) => terminal.write(`trellis: what has expired could not be deleted: ${String(error)}\n`),
  });
}
