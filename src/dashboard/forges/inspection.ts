/** What a credential turns out to be good for, when a forge is tried. */
import type { ForgeRepository } from './facts.js';
import { ForgeError } from './forge-error.js';

export interface Inspection {
  /** Whose credential it is, where the forge says so. */
  readonly username?: string | undefined;
  /** `undefined` when it may not list them. */
  readonly repositories: readonly ForgeRepository[] | undefined;
  /** As far as that can be told without changing anything. */
  readonly missing: readonly MissingPermission[];
}

export interface MissingPermission {
  /** As the forge calls it. */
  readonly permission: string;
  /** What it would be for, as "to set up webhooks". */
  readonly purpose: string;
}

/** Something that is asked for only to see whether it is allowed. */
export interface Probe extends MissingPermission {
  readonly ask: () => Promise<unknown>;
}

/** Asks for each, and gives what the forge refused to a credential that it knows. */
export async function findMissing(probes: readonly Probe[]): Promise<MissingPermission[]> {
  const missing: MissingPermission[] = [];
  for (const { ask, permission, purpose } of probes) {
    if (await isRefused(ask)) missing.push({ permission, purpose });
  }
  return missing;
}

/** A credential that is unknown is 401, which is no matter of permissions; some forges hide what they refuse. */
async function isRefused(ask: Probe['ask']): Promise<boolean> {
  try {
    await ask();
    return false;
  } catch (error) {
    if (error instanceof ForgeError && /^(not_found|unauthorized)$/.test(error.kind) && error.status !== 401)
      return true;
    throw error;
  }
}

/** The webhooks of one repository of those where the person may set them up; without any, there is nothing to ask. */
export function probeHooks(
  repositories: readonly ForgeRepository[],
  permission: string,
  list: (fullName: string) => Promise<unknown>,
): Probe[] {
  const one = repositories.find(({ canManageWebhooks }) => canManageWebhooks);
  if (one === undefined) return [];
  return [{ permission, purpose: 'to set up webhooks', ask: () => list(one.fullName) }];
}
