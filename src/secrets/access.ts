import type { SignIn } from '../accounts/sign-in.js';
import type { ServiceTokens } from '../accounts/service-tokens.js';
import type { Database } from '../storage/database.js';
import type { Owner } from './owner.js';
import { createOwnerAccess } from './owner-access.js';
import type { OwnerAccess } from './owner-access.js';
import { createOwnerPasskeys } from './owner-passkeys.js';
import type { AccountsWith, OwnerPasskeys } from './owner-passkeys.js';
import { createSecretTokens } from './tokens.js';
import type { SecretTokens } from './tokens.js';

/** The credentials of the secrets service: the owner's sign-in and passkeys, write tokens and consumer tokens. */
export interface SecretsAccess {
  readonly ownerAccess: OwnerAccess;
  readonly ownerPasskeys: OwnerPasskeys;
  readonly writeTokens: SecretTokens;
  readonly consumerTokens: SecretTokens;
}

export interface SecretsAccessParts {
  readonly owner: Owner;
  readonly signIn: SignIn;
  readonly accountsWith: AccountsWith;
  readonly store: ServiceTokens;
}

export function createSecretsAccess(database: Database, { store, ...parts }: SecretsAccessParts): SecretsAccess {
  return {
    ownerAccess: createOwnerAccess(database, parts),
    ownerPasskeys: createOwnerPasskeys(database, parts.accountsWith),
    writeTokens: createSecretTokens(database, { kind: 'write', store }),
    consumerTokens: createSecretTokens(database, { kind: 'consumer', store }),
  };
}
