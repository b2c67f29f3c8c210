import type { SignIn } from '../accounts/sign-in.js';
import type { ServiceTokens } from '../accounts/service-tokens.js';
import type { Database } from '../storage/database.js';
import type { SecretsOwner } from './owner.js';
import { createOwnerAccess } from './owner-access.js';
import type { OwnerAccess } from './owner-access.js';
import { createOwnerPasskeys } from './owner-passkeys.js';
import type { AccountsFactory, OwnerPasskeys } from './owner-passkeys.js';
import { createServiceTokenManager } from './service-token-manager.js';
import type { ServiceTokenManager } from './service-token-manager.js';

/** The credentials of the secrets service: the owner's sign-in and passkeys, write tokens and consumer tokens. */
export interface SecretsAccess {
  readonly ownerAccess: OwnerAccess;
  readonly ownerPasskeys: OwnerPasskeys;
  readonly writeTokens: ServiceTokenManager;
  readonly consumerTokens: ServiceTokenManager;
}

export interface SecretsAccessDependencies {
  readonly owner: SecretsOwner;
  readonly signIn: SignIn;
  readonly accountsFactory: AccountsFactory;
  readonly store: ServiceTokens;
}

export function createSecretsAccess(database: Database, { store, ...parts }: SecretsAccessDependencies): SecretsAccess {
  return {
    ownerAccess: createOwnerAccess(database, parts),
    ownerPasskeys: createOwnerPasskeys(database, parts.accountsFactory),
    writeTokens: createServiceTokenManager(database, { kind: 'write', store }),
    consumerTokens: createServiceTokenManager(database, { kind: 'consumer', store }),
  };
}
