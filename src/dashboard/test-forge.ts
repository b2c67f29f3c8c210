import type { Caller } from '../accounts/callers.js';
import { AppError } from '../errors.js';
import type { components } from '../generated/dashboard/types.js';
import type { ForgeErrorKind } from './forges/forge-error.js';
import { HOW_TO_ALLOW, toForgeError } from './forges/forge-error.js';
import type { Forge } from './forges/forge.js';
import type { ForgeClients } from './forges/open-forges.js';
import type { Settings } from './settings.js';

type ForgeTest = components['schemas']['ForgeTest'];
type ForgeTestRequest = components['schemas']['ForgeTestRequest'];

/** A person who set this up is there, and can mend what is wrong. */
const SENTENCES: Readonly<Record<ForgeErrorKind, string>> = {
  unreachable: 'Nothing answered at this address.',
  unauthorized: 'The forge does not take this token: it may be mistyped, expired or revoked.',
  not_found: 'What answered at this address is no such forge, or knows nobody of this name.',
  rate_limited: 'The forge takes no more requests for now. Try again when its limit is reset.',
  conflict: 'What answered at this address is no such forge.',
  address_refused: `This address is in a private or reserved range. ${HOW_TO_ALLOW}`,
  unknown: 'What answered at this address is no such forge.',
};

const REFUSED = 'The forge knows the token, but it lacks what a board is read with.';

export type TestForge = (caller: Caller | undefined, request: ForgeTestRequest) => Promise<ForgeTest>;

/**
 * Asks a forge as it would be asked with settings that are not saved yet.
 *
 * @throws AppError `invalid_input` when the settings have no credential for it;
 * as saving them does otherwise.
 */
export function createTestForge(settings: Pick<Settings, 'preview'>, forges: Pick<ForgeClients, 'open'>): TestForge {
  return async (caller, { forge: name, settings: request }) => {
    const forge = forges.open(await settings.preview(caller, request)).get(name);
    if (forge !== undefined) return inspect(forge);
    throw new AppError('invalid_input', `Expected a credential for ${name}; these settings have none.`, {
      field: 'settings',
    });
  };
}

async function inspect(forge: Forge): Promise<ForgeTest> {
  const { name } = forge;
  try {
    const { username, repositories, missing } = await forge.inspect();
    const found = { forge: name, missing: [...missing], ...(username === undefined ? {} : { username }) };
    if (repositories === undefined) return { ...found, works: false, errorKind: 'unauthorized', error: REFUSED };
    return { ...found, works: true, repoCount: repositories.length };
  } catch (error) {
    const { kind } = toForgeError(error);
    return { forge: name, works: false, missing: [], errorKind: kind, error: SENTENCES[kind] };
  }
}
