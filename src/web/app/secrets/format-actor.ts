import type { components } from '../../../generated/secrets/client.js';

type Actor = components['schemas']['Actor'];

/** Returns the display name of an actor. Every session belongs to the owner, so its id is not shown. */
export function formatActor(type: Actor['type'] | undefined, id = ''): string {
  if (type === undefined) return 'unknown';
  if (type === 'session') return 'owner';
  if (type === 'machine') return 'server command line';
  return `${type === 'token' ? 'write token' : 'consumer token'} ${id}`;
}
