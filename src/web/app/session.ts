import { signal } from '@preact/signals';
import type { components } from '../../generated/dashboard/client.js';
import { explain, requireAnswer } from './answers.js';
import { dashboard } from './clients.js';
import { pageFacts, runs } from './server-facts.js';

export type SessionUser = components['schemas']['SessionUser'];

/** The signed-in user: `undefined` until the session is loaded, `null` without a session. */
export const user = signal<SessionUser | null | undefined>(pageFacts?.session);

/** Why the session could not be loaded. */
export const sessionProblem = signal<string | undefined>(undefined);

/** Loads the session from the server into {@link user}. */
export async function loadSession(): Promise<void> {
  sessionProblem.value = undefined;
  user.value = runs('dashboard') || runs('secrets') ? await findUser() : null;
}

async function findUser(): Promise<SessionUser | null | undefined> {
  try {
    const result = await dashboard.GET('/api/auth/session');
    return result.response.status === 401 ? null : requireAnswer(result);
  } catch (error) {
    // An unreachable or busy server does not end the session.
    sessionProblem.value = explain(error);
    return undefined;
  }
}
