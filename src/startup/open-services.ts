import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createGauges, type Gauges, type StatementWatch } from '@trellis/core/telemetry';
import { toRateLimitKey } from '@trellis/server/http/rate-limits';
import type { Log } from '@trellis/server/http/request';
import { createLinkSigner } from '@trellis/site/public-files';
import { createAccounts, type Accounts } from '../accounts/accounts.js';
import { createAuthenticator } from '../accounts/authentication.js';
import { serviceTokens } from '../accounts/bearer-tokens.js';
import type { PasskeyListener } from '../accounts/events.js';
import type { Config } from '../config/config.js';
import { withServerKey } from '../config/server-key-command.js';
import { createDashboard, deleteExpiredDashboardData, type Dashboard } from '../dashboard/dashboard.js';
import { createAddressPolicy, createAgent } from '../dashboard/forges/http/fetch-response.js';
import { deleteExpiredDeliveries } from '../dashboard/webhooks/deliveries.js';
import { createSecretsAccess } from '../secrets/access.js';
import { auditPasskeyChange } from '../secrets/audit/chain.js';
import { createDenialLog } from '../secrets/audit/denials.js';
import { createAuditLog } from '../secrets/audit/log.js';
import { startSequencer } from '../secrets/audit/sequence.js';
import { useAuditKey } from '../secrets/audit/signatures.js';
import { createConsumerStore } from '../secrets/consumers.js';
import { deleteExpiredDeviceLogins } from '../secrets/device-logins.js';
import { createSecretsOwner } from '../secrets/owner.js';
import { listDueRotations, recordDueRotations } from '../secrets/rotation.js';
import { createSecretStore } from '../secrets/secret-store.js';
import { createVersionStore } from '../secrets/versions.js';
import { deleteExpiredWorkloadTokens } from '../secrets/workload/exchange.js';
import type { SiteFiles } from '../site-data/index/site-files.js';
import type { SharingSiteService, SiteService } from '../site-data/service.js';
import type { SiteServiceOptions } from '../site-data/start-site.js';
import { startCleanupJob, type CleanupJob } from '../storage/cleanup-job.js';
import { isPostgres, type Database } from '../storage/database.js';
import { createIdempotencyStore, deleteExpiredResponses } from '../storage/idempotency-store.js';
import { migrateService } from '../storage/migrate.js';
import { type Notices, openNotices } from '../storage/notices.js';
import type { SharedFileStore } from '../storage/objects/shared-files.js';
import {
  assertDatabaseKept,
  markDatabaseCreated,
  openDatabase,
  openMigratedDatabase,
  toDatabaseTarget,
} from '../storage/open-database.js';
import { createRateCounts, deleteExpiredRateCounts } from '../storage/rate-counts.js';
import { startDatabaseClock, createReadiness } from '../storage/readiness.js';
import { assertServerKey, createServerKey, openServerKey, type ServerKey } from '../storage/server-key.js';
import { deleteInterruptedRestores, openStateFolder, type StateFolder } from '../storage/state-folder.js';
import { createStatementLog } from '../storage/statement-log.js';
import { createErrorReport } from '../telemetry/log.js';
import type { PrimaryLink } from '../workers/primary-link.js';
import type { Services } from './services.js';

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
  /** The process that owns the state folder, if this one is a worker. */
  readonly primary?: PrimaryLink;
  /** Receives the site service of a process that may share the records with workers, and later each change of them. */
  readonly onSite?: (site: SharingSiteService) => void;
  readonly onShared?: SiteServiceOptions['onShared'];
}

/** Reports no slow statement. */
const NO_SLOW: StatementWatch = { slowMs: Infinity, onSlow: () => undefined };

/** Rate limits count requests per minute. */
const RATE_WINDOW_MS = 60_000;

/** Opens the databases, starts to scan the site, and creates the services. */
export async function openServices(config: Config, options: ServicesOptions): Promise<Services> {
  if (options.primary !== undefined) return openAll(config, options, undefined);
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

/** @param folder The locked state folder; absent in a worker, whose primary process has locked it. */
async function openAll(config: Config, options: ServicesOptions, folder: StateFolder | undefined): Promise<Services> {
  const watch = createStatementLog(options.log, config.slowQueryMs);
  const { onStatement } = options;
  const traced = onStatement ? { ...(watch ?? NO_SLOW), onStatement } : watch;
  const sharedFiles = config.services.includes('site') ? await openSharedFiles(config, options.log) : undefined;
  const { primary } = options;
  const { database, key } = primary
    ? await openSharedDatabase(config, traced)
    : await openOwnDatabase(config, options, traced);
  const accountsWith = (witness: PasskeyListener) =>
    createAccounts(database, { origin: options.origin, passkeyListener: witness });
  const accounts = accountsWith(auditPasskeyChange);
  const owner = createSecretsOwner(database);
  const replays = createIdempotencyStore(database);
  const isPublic = config.siteAccess.kind === 'public';
  const linkSigner = isPublic ? undefined : createLinkSigner(key.derive('expiring links'));
  const links = { linkKey: key.derive('image links'), signer: linkSigner, sharedFiles };
  const parallelism = Math.max(1, Math.floor(availableParallelism() / config.workers));
  const siteOptions = { ...options, ...links, parallelism, statements: watch };
  const siteFiles = config.services.includes('site') ? await openBucketFiles(config) : undefined;
  const site = config.services.includes('site')
    ? await openSite(config, {
        ...siteOptions,
        ...(siteFiles && { fetchFile: (digest, target) => siteFiles.fetch(digest, target) }),
      })
    : undefined;
  const clock = await startDatabaseClock(database);
  const notices = openServerNotices(config, database, options.log);
  const dashboard = createDashboard({
    database,
    notices,
    now: clock.now,
    key,
    origin: options.origin,
    githubApp: config.githubApp,
    forgeAllow: config.forgeAllow,
    smtp: config.smtp,
    notificationAllow: config.notificationAllow,
    refreshMs: config.refreshMinutes * 60_000,
    hasOtherProcesses: config.workers > 1 || isPostgres(database),
    report: createErrorReport(options.log, 'failed to refresh a board or to send a notification'),
  });
  const cleanup =
    primary?.cleanup ??
    startHourlyCleanup(database, accounts, options.log, [
      ...(await toArchiveTasks(config, database)),
      ...(await toExportTasks(config, database)),
      ...toReminderTasks(config, database, dashboard),
    ]);
  // Workers chain their own entries, which the primary process does not know of.
  const sequencer =
    primary && !isPostgres(database)
      ? undefined
      : startSequencer(database, createErrorReport(options.log, 'failed to chain audit entries'));
  const denials = createDenialLog(database, {
    report: createErrorReport(options.log, 'failed to record denied requests'),
  });
  const backups =
    config.backup === undefined || primary
      ? undefined
      : await startBackups(config.backup, config, { database, options });
  return {
    version: options.version,
    database,
    readiness: createReadiness(database, { state: config.state }),
    replays,
    rateCounts:
      config.workers > 1 || isPostgres(database)
        ? createRateCounts(database, { windowMs: RATE_WINDOW_MS, now: clock.now })
        : undefined,
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
      origin: options.origin,
      toAddressKey: toRateLimitKey,
      issuerAgent: createAgent(createAddressPolicy({ allow: config.issuerAllow })),
      denials,
    }),
    audit: createAuditLog(database),
    denials,
    site,
    // Every caller may read a public site, so every caller may also see which of its files have problems.
    siteReport: site && (() => site.report(isPublic)),
    siteWork: site && (() => site.countWork()),
    cleanup,
    linkSigner,
    gauges: options.gauges ?? createGauges(),
    authenticatorFor: (tokens, addressOf) =>
      createAuthenticator({ database, sessions: accounts.sessions, publicUrl: options.origin(), tokens, addressOf }),
    async close() {
      await dashboard.deliveries.close();
      dashboard.histories.close();
      await dashboard.refresher.close();
      await dashboard.notifications.worker.close();
      await notices?.close();
      await site?.close();
      await siteFiles?.close();
      await sharedFiles?.close(STORE_WAIT_MS);
      await cleanup.close();
      await denials.close();
      await sequencer?.close();
      await backups?.close();
      clock.close();
      await database.destroy();
      folder?.close();
    },
  };
}

/** Receives the changes that other servers store, if the dashboard runs on PostgreSQL. */
function openServerNotices(
  { databaseUrl, postgresDirectUrl, services }: Config,
  database: Database,
  log: Log,
): Notices | undefined {
  if (databaseUrl === undefined || !services.includes('dashboard')) return undefined;
  return openNotices(database, { url: postgresDirectUrl ?? databaseUrl, report: (message) => log.warn(message) });
}

/** A database that is ready for this release, and the key that belongs to it. */
interface KeyedDatabase {
  readonly database: Database;
  readonly key: ServerKey;
}

/** Opens the database of a process that owns the state folder, and migrates it. */
async function openOwnDatabase(
  config: Config,
  options: Pick<ServicesOptions, 'newDatabase' | 'signal'>,
  watch: StatementWatch | undefined,
): Promise<KeyedDatabase> {
  // The database of a site alone has no user data, and its server.key may have been copied for a further server.
  const mayBeEmpty = options.newDatabase === true || config.accounts === 'none';
  const beforeMigration = mayBeEmpty
    ? undefined
    : (found: Database): Promise<void> => assertDatabaseKept(found, config.state);
  const database = await openDatabase(toDatabaseTarget(config), { watch, beforeMigration });
  return withKey(database, { config, signal: options.signal }, async () => {
    await markDatabaseCreated(config.state);
    await migrateServices(database, config);
  });
}

/** Opens the database that the primary process has migrated. */
async function openSharedDatabase(config: Config, watch: StatementWatch | undefined): Promise<KeyedDatabase> {
  const database = await openMigratedDatabase(toDatabaseTarget(config), { watch });
  return withKey(database, { config }, async () => undefined);
}

/** Closes the database again if the key does not belong to it, or `prepare` fails. */
async function withKey(
  database: Database,
  { config, signal }: { readonly config: Config; readonly signal?: AbortSignal },
  prepare: () => Promise<void>,
): Promise<KeyedDatabase> {
  try {
    // After the database, so that a key beside an empty SQLite database shows a loss.
    const { serverKey } = await withServerKey(config, { signal });
    const key = serverKey === undefined ? await openServerKey(config.state) : createServerKey(serverKey);
    await assertServerKey(database, key);
    useAuditKey(database, key);
    await prepare();
    return { database, key };
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

/** Starts the scheduled backups. Their modules are loaded late, because few servers need them. */
async function startBackups(
  place: string,
  config: Config,
  { database, options }: { readonly database: Database; readonly options: ServicesOptions },
): Promise<{ close(): Promise<void> }> {
  const { listBackupGauges, startBackupSchedule } = await import('../storage/backups/schedule.js');
  options.gauges?.register(...listBackupGauges({ database, hours: config.backupHours }));
  return startBackupSchedule({
    database,
    place,
    env: config.awsEnvironment,
    databaseUrl: config.databaseUrl,
    postgresPool: config.postgresPool,
    state: config.state,
    recipients: config.backupRecipients,
    hours: config.backupHours,
    keep: config.backupKeep,
    release: options.version,
    signal: options.signal,
    report: (err, message = 'failed to back up') => options.log.error({ err }, message),
  });
}

/** Starts the site service. Its modules are loaded late, because servers without a site need none of them. */
async function openSite(config: Config, options: ServicesOptions & SiteServiceOptions): Promise<SiteService> {
  if (options.primary !== undefined) {
    const { followSite } = await import('../workers/follow-site.js');
    return followSite(config, { ...options, primary: options.primary });
  }
  const site =
    config.siteIndex !== undefined
      ? await openReplica(config.siteIndex, config, options)
      : await openOwnSite(config, options);
  options.onSite?.(site);
  return site;
}

async function openReplica(index: string, config: Config, options: SiteServiceOptions): Promise<SharingSiteService> {
  const [{ openObjectStore }, { startReplicaSite }] = await Promise.all([
    import('../storage/objects/s3-store.js'),
    import('../site-data/index/replica-site.js'),
  ]);
  return startReplicaSite(config, openObjectStore(index, config.awsEnvironment), options);
}

async function openOwnSite(config: Config, options: ServicesOptions & SiteServiceOptions): Promise<SharingSiteService> {
  const { startSite } = await import('../site-data/start-site.js');
  const { sitePublish, awsEnvironment, state } = config;
  if (sitePublish === undefined) return startSite(config, options);
  const [{ openObjectStore }, { openPublisher }] = await Promise.all([
    import('../storage/objects/s3-store.js'),
    import('../site-data/index/publisher.js'),
  ]);
  const { log, version: release, signal } = options;
  const folder = join(state, 'site');
  return startSite(config, {
    ...options,
    openPublisher: () => openPublisher(openObjectStore(sitePublish, awsEnvironment), { folder, release, log, signal }),
  });
}

/** Opens the files of a site that another server publishes. */
async function openBucketFiles({ siteIndex, state, awsEnvironment }: Config): Promise<SiteFiles | undefined> {
  if (siteIndex === undefined) return undefined;
  const [{ openObjectStore }, { openSiteFiles, toReplicaFolder }] = await Promise.all([
    import('../storage/objects/s3-store.js'),
    import('../site-data/index/site-files.js'),
  ]);
  return openSiteFiles(openObjectStore(siteIndex, awsEnvironment), toReplicaFolder(state));
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
    import('../storage/objects/s3-store.js'),
    import('../storage/objects/shared-files.js'),
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

/** Returns the task that archives the audit log, if its retention is limited. Its modules are loaded late. */
async function toArchiveTasks({ auditRetention, state, awsEnvironment: env }: Config, database: Database) {
  if (auditRetention === undefined) return [];
  const { archiveAuditLog } = await import('../secrets/audit/archive.js');
  const { openBackupTarget } = await import('../storage/backups/target.js');
  const { months, place } = auditRetention;
  const target = await openBackupTarget(place, { folder: state, env });
  return [() => archiveAuditLog(database, { target, months, at: Date.now() })];
}

/** Returns the task that copies the end of the audit log to other places, if there are any. */
async function toExportTasks({ auditExport, state, awsEnvironment: env }: Config, database: Database) {
  if (auditExport.length === 0) return [];
  const { createExport, createPositionExport } = await import('../secrets/audit/archive.js');
  const { openBackupTarget } = await import('../storage/backups/target.js');
  const open = (place: string) => openBackupTarget(place, { folder: state, env });
  return [
    createPositionExport(
      database,
      auditExport.map((place) => createExport(place, open)),
    ),
  ];
}

/** Reminds the owner of secrets that are due for rotation, by the channels of the dashboard. */
function toReminderTasks(
  { services }: Config,
  database: Database,
  { notifications }: Pick<Dashboard, 'notifications'>,
): (() => Promise<void>)[] {
  if (!services.includes('secrets') || !services.includes('dashboard')) return [];
  return [async () => notifications.recordRotations(await listDueRotations(database, Date.now()))];
}

/** Deletes expired data every hour. Readers check the expiry themselves, so deletion need not be prompt. */
function startHourlyCleanup(
  database: Database,
  accounts: Accounts,
  log: Log,
  more: readonly (() => Promise<void>)[],
): CleanupJob {
  return startCleanupJob({
    tasks: [
      () => accounts.deleteExpired(),
      () => deleteExpiredResponses(database, Date.now()),
      () => deleteExpiredRateCounts(database, Date.now()),
      () => deleteExpiredDeliveries(database, Date.now()),
      () => deleteExpiredDashboardData(database, Date.now()),
      () => recordDueRotations(database, Date.now()),
      () => deleteExpiredWorkloadTokens(database, Date.now()),
      () => deleteExpiredDeviceLogins(database, Date.now()),
      ...more,
    ],
    intervalMs: 3_600_000,
    report: (err) => log.error({ err }, 'failed to delete expired data'),
  });
}
