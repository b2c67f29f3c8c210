import type { Accounts } from '../../accounts/accounts.js';
import type { SecretsHandlers } from '../../generated/secrets/operations.js';
import type { SecretsAccess } from '../../secrets/access.js';
import type { AuditLog } from '../../secrets/audit.js';
import type { ConsumerStore } from '../../secrets/consumers.js';
import type { SecretStore } from '../../secrets/secret-store.js';
import type { VersionStore } from '../../secrets/versions.js';
import type { SecretsOwner } from '../../secrets/owner.js';
import type { Mcp } from '../../server/mcp/mcp.js';
import type { Readiness } from '../../storage/running-server.js';
import { auditHandlers } from './audit.js';
import { authHandlers } from './auth.js';
import { consumerTokensHandlers } from './consumer-tokens.js';
import { consumersHandlers } from './consumers.js';
import { credentialsHandlers } from './credentials.js';
import { healthHandlers } from './health.js';
import { mcpHandlers } from './mcp.js';
import { objectsHandlers } from './objects.js';
import { tokensHandlers } from './tokens.js';
import { versionsHandlers } from './versions.js';

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
  readonly environment?: string | undefined;
  /** The release without its leading v, or `dev`. */
  readonly version: string;
}

export const secretsHandlers = (services: SecretsServices): SecretsHandlers => ({
  ...healthHandlers(services),
  ...authHandlers(services),
  ...credentialsHandlers(services),
  ...tokensHandlers(services),
  ...consumerTokensHandlers(services),
  ...objectsHandlers(services),
  ...versionsHandlers(services),
  ...consumersHandlers(services),
  ...auditHandlers(services),
  ...mcpHandlers(services),
});
