import type { Forge } from './forge.js';
import { toForgeError } from './forge-error.js';
import { toSoundCheck, toSoundReading, toSoundRepository, toSoundRepositoryReading } from './sound.js';

/**
 * The same forge, failing with a `ForgeError` only and saying only what the contract allows.
 *
 * @param webUrl Where its pages are: what it gives no usable link for leads there.
 */
export function guarded(forge: Forge, webUrl: string): Forge {
  const { readReplies } = forge;
  return {
    ...forge,
    ...(readReplies && { readReplies: (comments) => readReplies(comments).catch(refuse) }),
    discover: () => discover(forge, webUrl).catch(refuse),
    inspect: () => forge.inspect().catch(refuse),
    read: async (repositories) => toSoundReading(await forge.read(repositories).catch(refuse), webUrl),
    async readRepository(fullName) {
      const reading = await forge.readRepository(fullName).catch(refuse);
      return reading && toSoundRepositoryReading(reading, webUrl);
    },
    checks: async (target) => (await forge.checks(target).catch(refuse)).map(toSoundCheck),
    act: (target, action) => forge.act(target, action).catch(refuse),
    ensureWebhook: (fullName, hook) => forge.ensureWebhook(fullName, hook).catch(refuse),
  };
}

async function discover(forge: Forge, webUrl: string): ReturnType<Forge['discover']> {
  const found = await forge.discover();
  return found.map((one) => toSoundRepository(one, webUrl)).filter((one) => one !== undefined);
}

function refuse(error: unknown): never {
  throw toForgeError(error);
}
