import type { Gauges } from '@trellis/core/telemetry';
import type { LinkSigner } from '@trellis/site/public-files';
import type { Accounts } from '../accounts/accounts.js';
import type { CredentialSource } from '../accounts/authentication.js';
import type { TokenKind } from '../accounts/bearer-tokens.js';
import type { Caller } from '../accounts/callers.js';
import type { Dashboard } from '../dashboard/dashboard.js';
import type { SecretsAccess } from '../secrets/access.js';
import type { DenialLog } from '../secrets/audit/denials.js';
import type { AuditLog } from '../secrets/audit/log.js';
import type { ConsumerStore } from '../secrets/consumers.js';
import type { SecretsOwner } from '../secrets/owner.js';
import type { SecretStore } from '../secrets/secret-store.js';
import type { VersionStore } from '../secrets/versions.js';
import type { SiteReport, SiteService, SiteWork } from '../site-data/service.js';
import type { CleanupJob } from '../storage/cleanup-job.js';
import type { Database } from '../storage/database.js';
import type { IdempotencyStore } from '../storage/idempotency-store.js';
import type { RateCounts } from '../storage/rate-counts.js';
import type { Readiness } from '../storage/readiness.js';

/** The services of the domain that handlers and resolvers use. */
export interface Services extends SecretsAccess {
  /** The running release. */
  readonly version: string;
  /** The database of the user data. */
  readonly database: Database;
  readonly readiness: Readiness;
  readonly replays: IdempotencyStore;
  /** Rate limit counts that several processes share; absent if only one process uses the database. */
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
  readonly denials: DenialLog;
  /** Absent when the site service does not run. */
  readonly site: SiteService | undefined;
  /** The state of the site for probes; absent when the site service does not run. */
  readonly siteReport: (() => SiteReport) | undefined;
  /** Signs links below `/static`; absent for a public site. */
  readonly linkSigner: LinkSigner | undefined;
  /**
   * Creates the function that identifies the caller of a service which accepts these kinds of tokens. Without
   * `addressOf`, tokens that are restricted to some addresses are rejected.
   */
  readonly authenticatorFor: (tokens: readonly TokenKind[], addressOf?: AddressOf) => Authenticate;
  /** The values for metrics, to which the services add their own. */
  readonly gauges: Gauges;
  /** Closes the databases. */
  close(): Promise<void>;
}

/** Returns the IP address of the client. */
type AddressOf = (request: CredentialSource) => string;

type Authenticate = (request: CredentialSource) => Promise<Caller | undefined>;
