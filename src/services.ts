import { createGauges, type Gauges } from '@trellis/core/gauges';
import type { StatementWatch } from '@trellis/core/slow-statements';
import type { Log } from '@trellis/server/http/request';
import { createLinkSigner, type LinkSigner } from '@trellis/site/public/link-signer';
import { createAccounts, type Accounts } from './accounts/accounts.js';
import { createAuthenticator, type CredentialSource } from './accounts/authentication.js';
import { type TokenKind, serviceTokens } from './accounts/bearer-tokens.js';
import type { Caller } from './accounts/callers.js';
import type { PasskeyListener } from './accounts/events.js';
import type { Config } from './config/config.js';
import { createDashboard, deleteExpiredDashboardData, type Dashboard } from './dashboard/dashboard.js';
import { deleteExpiredDeliveries } from './dashboard/webhooks/seen-deliveries.js';
import { createSecretsAccess, type SecretsAccess } from './secrets/access.js';
import { auditPasskeyChange } from './secrets/audit/chain.js';
import { createAuditLog, type AuditLog } from './secrets/audit/log.js';
import { startSequencer } from './secrets/audit/sequence.js';
import { useAuditKey } from './secrets/audit/signatures.js';
import { createConsumerStore, type ConsumerStore } from './secrets/consumers.js';
import { createSecretsOwner, type SecretsOwner } from './secrets/owner.js';
import { recordDueRotations } from './secrets/rotation.js';
import { createSecretStore, type SecretStore } from './secrets/secret-store.js';
import { createVersionStore, type VersionStore } from './secrets/versions.js';
import type { SiteReport, SiteService, SiteServiceOptions, SiteWork } from './site-service.js';
import { startCleanupJob, type CleanupJob } from './storage/cleanup-job.js';
import { isPostgres, type Database } from './storage/database.js';
import { createIdempotencyStore, deleteExpiredResponses, type IdempotencyStore } from './storage/idempotency-store.js';
import { migrateService } from './storage/migrate.js';
import { assertDatabaseKept, markDatabaseCreated } from './storage/new-database.js';
import type { SharedFileStore } from './storage/objects/shared-files.js';
import { openDatabase, toDatabaseTarget } from './storage/open-database.js';
import { createRateCounts, deleteExpiredRateCounts, type RateCounts } from './storage/rate-counts.js';
import { createReadiness, type Readiness } from './storage/readiness.js';
import { assertServerKey, createServerKey, openServerKey, type ServerKey } from './storage/server-key.js';
import { deleteInterruptedRestores, openStateFolder, type StateFolder } from './storage/state-folder.js';
import { createStatementLog } from './storage/statement-log.js';

/** The services of the domain that handlers and resolvers use. */
export interface Services extends SecretsAccess {
  /** The running release. */
  readonly version: string;
  /** The database of the user data. */
  readonly database: Database;
  readonly readiness: Readiness;
  readonly replays: IdempotencyStore;
  /** Rate limit counts that several servers share; absent on SQLite, which only one server can use. */
  readonly rateCounts: RateCounts | undefined;
  readonly accounts: Accounts;
  readonly dashboard: Dashboard;
  /** Deletes expired data every hour. */
  readonly cleanup: CleanupJob;
  /** Returns the work of the site; absent when the site service does not run. */
  readonly siteWork: (() => SiteWork) | undefined;
  readonly secrets: SecretStore;
  readonly versions: VersionStore;
  readonly consumers: ConsumerStore;
  readonly owner: SecretsOwner;
  readonly audit: AuditLog;
  /** Absent when the site service does not run. */
  readonly site: SiteService | undefined;
  /** The state of the site for probes; absent when the site service does not run. */
  readonly siteReport: (() => SiteReport) | undefined;
  /** Signs links below `/static`; absent for a public site. */
  readonly linkSigner: LinkSigner | undefined;
  /** Creates the function that identifies the caller of a service which accepts these kinds of tokens. */
  readonly authenticatorFor: (tokens: readonly TokenKind[]) => Authenticate;
  /** The values for metrics, to which the services add their own. */
  readonly gauges: Gauges;
  /** Closes the databases. */
  close(): Promise<void>;
}

type Authenticate = (request: CredentialSource) => Promise<Caller | undefined>;

export interface ServicesOptions {
  readonly version: string;
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
  readonly log: Log;
  readonly gauges?: Gauges;
  /** Receives every statement of the user data when it has ended. */
  readonly onStatement?: StatementWatch['onStatement'];
  /** Shows the progress of a long scan. */
  readonly terminal: SiteServiceOptions['terminal'];
  /** Aborts a scan. */
  readonly signal?: AbortSignal;
  /** Whether an empty database is expected although the state folder was used before. */
  readonly newDatabase?: boolean;
  /** Rejects for an opened site that cannot be served. */
  readonly checkSite?: SiteServiceOptions['checkSite'];
}

/** Reports no slow statement. */
const NO_SLOW: StatementWatch = { slowMs: Infinity, onSlow: () => undefined };

/** Rate limits count requests per minute. */
const RATE_WINDOW_MS = 60_000;

/** Opens the databases, starts to scan the site, and creates the services. */
export async function openServices(config: Config, options: ServicesOptions): Promise<Services> {
  const folder = await openStateFolder(config.state);
  if (folder.isShared) options.log.warn(`Other users can read ${config.state}. Protect its keys with chmod 700.`);
  try {
    for (const name of await deleteInterruptedRestores(config.state))
      options.log.warn(`Deleted ${name}, which an interrupted restore has left in ${config.state}.`);
    return await openAll(config, options, folder);
  } catch (error) {
    folder.close();
    throw error;
  }
}

async function openAll(config: Config, options: ServicesOptions, folder: StateFolder): Promise<Services> {
  const watch = createStatementLog(options.log, config.slowQueryMs);
  const { onStatement } = options;
  const traced = onStatement ? { ...(watch ?? NO_SLOW), onStatement } : watch;
  const sharedFiles = config.services.includes('site') ? await openSharedFiles(config, options.log) : undefined;
  // The database of a site alone has no user data, and its server.key may have been copied for a further server.
  const mayBeEmpty = options.newDatabase === true || !config.hasAccounts;
  const beforeMigration = mayBeEmpty
    ? undefined
    : (found: Database): Promise<void> => assertDatabaseKept(found, config.state);
  const database = await openDatabase(toDatabaseTarget(config), { watch: traced, beforeMigration });
  let key: ServerKey;
  try {
    // After the database, so that a key beside an empty SQLite database shows a loss.
    key = config.serverKey === undefined ? await openServerKey(config.state) : createServerKey(config.serverKey);
    await assertServerKey(database, key);
    useAuditKey(database, key);
    await markDatabaseCreated(config.state);
    await migrateServices(database, config);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  const accountsWith = (witness: PasskeyListener) =>
    createAccounts(database, { origin: options.origin, passkeyListener: witness });
  const accounts = accountsWith(auditPasskeyChange);
  const owner = createSecretsOwner(database);
  const replays = createIdempotencyStore(database);
  const isPublic = config.siteAccess.kind === 'public';
  const linkSigner = isPublic ? undefined : createLinkSigner(key.derive('expiring links'));
  const links = { linkKey: key.derive('image links'), signer: linkSigner, sharedFiles };
  const siteOptions = { ...options, ...links, statements: watch };
  const site = config.services.includes('site') ? await openSite(config, siteOptions) : undefined;
  const dashboard = createDashboard({
    database,
    key,
    origin: options.origin,
    githubApp: config.githubApp,
    forgeAllow: config.forgeAllow,
    refreshMs: config.refreshMinutes * 60_000,
    report: (err) => options.log.error({ err }, 'failed to refresh a board'),
  });
  const sweeper = startHourlyCleanup(database, accounts, options.log);
  const sequencer = startSequencer(database, (err) => options.log.error({ err }, 'failed to chain audit entries'));
  const backups =
    config.backup === undefined ? undefined : await startBackups(config.backup, config, { database, options });
  return {
    version: options.version,
    database,
    readiness: createReadiness(database, { state: config.state }),
    replays,
    rateCounts: isPostgres(database) ? createRateCounts(database, { windowMs: RATE_WINDOW_MS }) : undefined,
    accounts,
    dashboard,
    secrets: createSecretStore(database),
    versions: createVersionStore(database),
    consumers: createConsumerStore(database),
    owner,
    ...createSecretsAccess(database, {
      owner,
      signIn: accounts.signIn,
      accountsFactory: accountsWith,
      store: serviceTokens,
    }),
    audit: createAuditLog(database),
    site,
    // Every caller may read a public site, so every caller may also see which of its files have problems.
    siteReport: site && (() => site.report(isPublic)),
    siteWork: site && (() => site.countWork()),
    cleanup: sweeper,
    linkSigner,
    gauges: options.gauges ?? createGauges(),
    authenticatorFor: (tokens) =>
      createAuthenticator({ database, sessions: accounts.sessions, publicUrl: options.origin(), tokens }),
    async close() {
      await dashboard.deliveries.close();
      await dashboard.refresher.close();
      await site?.close();
      await sharedFiles?.close(STORE_WAIT_MS);
      await sweeper.close();
      await sequencer.close();
      await backups?.close();
      await database.destroy();
      folder.close();
    },
  };
}

/** Starts the scheduled backups. Their modules are loaded late, because few servers need them. */
async function startBackups(
  place: string,
  config: Config,
  { database, options }: { readonly database: Database; readonly options: ServicesOptions },
): Promise<{ close(): Promise<void> }> {
  const { startBackupSchedule } = await import('./storage/backup-schedule.js');
  const { openBackupTarget } = await import('./storage/backup-target.js');
  return startBackupSchedule({
    database,
    databaseUrl: config.databaseUrl,
    postgresPool: config.postgresPool,
    state: config.state,
    target: await openBackupTarget(place, { folder: config.state, env: config.awsEnvironment }),
    recipients: config.backupRecipients,
    hours: config.backupHours,
    keep: config.backupKeep,
    release: options.version,
    report: (err) => options.log.error({ err }, 'failed to back up'),
  });
}

/** Starts the site service. Its modules are loaded late, because servers without a site need none of them. */
async function openSite(config: Config, options: SiteServiceOptions): Promise<SiteService> {
  const { startSite } = await import('./site-service.js');
  return startSite(config, options);
}

/** How long a stopping server stores the images that it has just generated. */
const STORE_WAIT_MS = 3_000;

/** Opens the bucket of derived files, if there is one. Its modules are loaded late. */
async function openSharedFiles(
  { objects, awsEnvironment }: Pick<Config, 'awsEnvironment' | 'objects'>,
  log: Log,
): Promise<SharedFileStore | undefined> {
  if (objects === undefined) return undefined;
  const [{ openObjectStore }, { createSharedFiles }] = await Promise.all([
    import('./storage/objects/open-store.js'),
    import('./storage/objects/shared-files.js'),
  ]);
  const report = (message: string): void => log.warn(message);
  return createSharedFiles(openObjectStore(objects, awsEnvironment), { report });
}

/** Creates or changes the tables of the running services of a project. */
async function migrateServices(database: Database, { project, services: running }: Config): Promise<void> {
  for (const [name, { migrations }] of Object.entries(project.services)) {
    if (migrations && running.includes(name)) await migrateService(database, name, await migrations());
  }
}

/** Deletes expired data every hour. Readers check the expiry themselves, so deletion need not be prompt. */
function startHourlyCleanup(database: Database, accounts: Accounts, log: Log): CleanupJob {
  return startCleanupJob({
    tasks: [
      () => accounts.deleteExpired(),
      () => deleteExpiredResponses(database, Date.now()),
      () => deleteExpiredRateCounts(database, Date.now()),
      () => deleteExpiredDeliveries(database, Date.now()),
      () => deleteExpiredDashboardData(database, Date.now()),
      () => recordDueRotations(database, Date.now()),
    ],
    intervalMs: 3_600_000,
    report: (err) => log.error({ err }, 'failed to delete expired data'),
  });
}
