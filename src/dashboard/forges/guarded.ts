import type { Forge } from './forge.js';
import { toForgeError } from './forge-error.js';

/** The same forge, failing with a `ForgeError` only. */
export function guarded(forge: Forge): Forge {
  const { readReplies } = forge;
  return {
    ...forge,
    ...(readReplies && { readReplies: (comments) => readReplies(comments).catch(refuse) }),
    discover: () => forge.discover().catch(refuse),
    inspect: () => forge.inspect().catch(refuse),
    read: (repositories) => forge.read(repositories).catch(refuse),
    readRepository: (fullName) => forge.readRepository(fullName).catch(refuse),
    checks: (target) => forge.checks(target).catch(refuse),
    act: (target, action) => forge.act(target, action).catch(refuse),
    ensureWebhook: (fullName, hook) => forge.ensureWebhook(fullName, hook).catch(refuse),
  };
}

function refuse(error: unknown): never {
  throw toForgeError(error);
}
