import type { components } from '../../../generated/secrets/client.js';

type Actor = components['schemas']['Actor'];

/** Sessions are the owner's, all of them; of a token, the id tells which. */
export function nameActor(type: Actor['type'] | undefined, id = ''): string {
  if (type === undefined) return 'nobody known';
  if (type === 'session') return 'owner';
  if (type === 'machine') return 'the server’s machine';
  return `${type === 'token' ? 'write token' : 'consumer token'} ${id}`;
}
