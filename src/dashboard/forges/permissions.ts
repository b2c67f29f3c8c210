/** Finds the missing permissions of a credential. */
import { ForgeError } from './forge-error.js';
import type { ForgeRepository, MissingPermission } from './forge.js';

/** A read request that shows whether the credential has a permission. */
export interface PermissionProbe extends MissingPermission {
  readonly ask: () => Promise<unknown>;
}

/** Sends the request of each probe and returns the permissions of those that the forge rejected. */
export async function findMissingPermissions(probes: readonly PermissionProbe[]): Promise<MissingPermission[]> {
  const missing: MissingPermission[] = [];
  for (const { ask, permission, purpose } of probes) {
    if (await isRefused(ask)) missing.push({ permission, purpose });
  }
  return missing;
}

/** Some forges respond with 404 to a missing permission. 401 means that the credential itself is invalid. */
async function isRefused(ask: PermissionProbe['ask']): Promise<boolean> {
  try {
    await ask();
    return false;
  } catch (error) {
    if (error instanceof ForgeError && /^(not_found|unauthorized)$/.test(error.kind) && error.status !== 401)
      return true;
    throw error;
  }
}

/** Returns a probe that lists the webhooks of one repository where the user can manage them, or an empty list. */
export function probeWebhookAccess(
  repositories: readonly ForgeRepository[],
  permission: string,
  list: (fullName: string) => Promise<unknown>,
): PermissionProbe[] {
  const one = repositories.find(({ canManageWebhooks }) => canManageWebhooks);
  if (one === undefined) return [];
  return [{ permission, purpose: 'to set up webhooks', ask: () => list(one.fullName) }];
}
