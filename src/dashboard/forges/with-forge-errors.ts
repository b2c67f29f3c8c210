import type { Forge } from './forge.js';
import { toForgeError } from './forge-error.js';
import { sanitizeCheck, sanitizeSnapshot, sanitizeRepository, sanitizeRepositorySnapshot } from './sanitize.js';

/**
 * Wraps a forge so that it throws only `ForgeError` and returns only data that the contract allows.
 *
 * @param webUrl The URL of the forge's pages, which replaces unusable links.
 */
export function withForgeErrors(forge: Forge, webUrl: string): Forge {
  const { readReplies } = forge;
  return {
    ...forge,
    ...(readReplies && { readReplies: (comments) => readReplies(comments).catch(rethrow) }),
    discover: () => discover(forge, webUrl).catch(rethrow),
    inspect: () => forge.inspect().catch(rethrow),
    read: async (repositories) => sanitizeSnapshot(await forge.read(repositories).catch(rethrow), webUrl),
    async readRepository(fullName) {
      const reading = await forge.readRepository(fullName).catch(rethrow);
      return reading && sanitizeRepositorySnapshot(reading, webUrl);
    },
    checks: async (target) => (await forge.checks(target).catch(rethrow)).map(sanitizeCheck),
    act: (target, action) => forge.act(target, action).catch(rethrow),
    ensureWebhook: (fullName, hook) => forge.ensureWebhook(fullName, hook).catch(rethrow),
  };
}

async function discover(forge: Forge, webUrl: string): ReturnType<Forge['discover']> {
  const found = await forge.discover();
  return found.map((one) => sanitizeRepository(one, webUrl)).filter((one) => one !== undefined);
}

function rethrow(error: unknown): never {
  throw toForgeError(error);
}
