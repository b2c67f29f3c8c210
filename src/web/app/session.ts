import { signal } from '@preact/signals';
import type { components } from '../../generated/dashboard/client.js';
import { dashboard } from './clients.js';
import { runs } from './server-facts.js';

export type SessionUser = components['schemas']['SessionUser'];

/** Who is signed in: `undefined` until it is known, `null` for nobody. */
export const user = signal<SessionUser | null | undefined>(undefined);

/** Asks the server who is signed in. What is kept of somebody else's session must not outlive it, so pages start anew. */
export async function loadSession(): Promise<void> {
  if (!runs('dashboard') && !runs('secrets')) {
    user.value = null;
    return;
  }
  const { data } = await dashboard.GET('/api/auth/session');
  user.value = data ?? null;
}
