import type { Mcp } from '@trellis/server/mcp/endpoint';
import type { Accounts } from '../../accounts/accounts.js';
import type { SecretsAccess } from '../../secrets/access.js';
import type { AuditLog } from '../../secrets/audit/log.js';
import type { ConsumerStore } from '../../secrets/consumers.js';
import type { SecretsOwner } from '../../secrets/owner.js';
import type { SecretStore } from '../../secrets/secret-store.js';
import type { VersionStore } from '../../secrets/versions.js';
import type { Readiness } from '../../storage/readiness.js';

/** The services that the operations of the secrets API use. */
export interface SecretsServices extends SecretsAccess {
  readonly accounts: Pick<Accounts, 'cookies' | 'sessions'>;
  readonly audit: AuditLog;
  readonly consumers: ConsumerStore;
  /** The MCP endpoint, whose tools call the operations on secrets. */
  readonly mcp: Mcp;
  readonly secrets: SecretStore;
  readonly versions: VersionStore;
  readonly owner: SecretsOwner;
  readonly readiness: Readiness;
  /** The prefix of paths in links to next pages. */
  readonly basePath: string;
  /** The public label of this instance, set by the operator. */
  readonly environment?: string;
  /** The release without its leading v, or `dev`. */
  readonly version: string;
}
