import type { Caller } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type ForgeClients, requireForge } from '../forges/forge-clients.js';
import { ALLOW_ADDRESS_HINT, type ForgeErrorKind, toForgeError } from '../forges/forge-error.js';
import { type Forge, FORGE_PRODUCT_NAMES } from '../forges/forge.js';
import type { Settings } from './settings.js';

type ForgeTest = components['schemas']['ForgeTest'];
type ForgeTestRequest = components['schemas']['ForgeTestRequest'];

/** More specific than the general messages, because the user can fix the settings right away. */
const toMessages = (product: string): Readonly<Record<ForgeErrorKind, string>> => ({
  unreachable: 'No response from this address, or an internal error there.',
  unauthorized: 'The token was rejected. It may be mistyped, expired or revoked, or lack a permission.',
  not_found: `This address does not respond like ${product}, or the username does not exist there.`,
  rate_limited: `The rate limit of ${product} is exceeded. Try again after it resets.`,
  conflict: `This address does not respond like ${product}.`,
  address_refused: `This address is in a private or reserved range. ${ALLOW_ADDRESS_HINT}`,
  unknown: `This address does not respond like ${product}.`,
});

const MISSING_PERMISSIONS = 'The token is valid, but lacks the permissions to read a board.';

export type ForgeConnectionTest = (caller: Caller | undefined, request: ForgeTestRequest) => Promise<ForgeTest>;

/**
 * Creates a function that tests a forge with settings that are not saved yet.
 *
 * @throws AppError `invalid_input` if the settings have no credential for the forge, else as saving them.
 */
export function createForgeConnectionTest(
  settings: Pick<Settings, 'preview'>,
  forges: Pick<ForgeClients, 'open'>,
): ForgeConnectionTest {
  return async (caller, { forge: name, settings: request }) => {
    return inspectForge(requireForge(forges.open(await settings.preview(caller, request)), name, 'settings'));
  };
}

/** Contacts a forge. Its errors are part of the result. */
export async function inspectForge(forge: Forge): Promise<ForgeTest> {
  const { name } = forge;
  try {
    const { username, repositories, missing, expiresAt } = await forge.inspect();
    const found = {
      forge: name,
      missing: [...missing],
      ...(username === undefined ? {} : { username }),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    };
    if (repositories === undefined)
      return { ...found, works: false, errorKind: 'unauthorized', error: MISSING_PERMISSIONS };
    return { ...found, works: true, repoCount: repositories.length };
  } catch (error) {
    const { kind } = toForgeError(error);
    return {
      forge: name,
      works: false,
      missing: [],
      errorKind: kind,
      error: toMessages(FORGE_PRODUCT_NAMES[name])[kind],
    };
  }
}
