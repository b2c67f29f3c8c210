import { signal } from '@preact/signals';
import type { components } from '../../generated/dashboard/client.js';
import { explain, requireAnswer } from './answers.js';
import { dashboard } from './clients.js';
import { pageFacts, runs } from './server-facts.js';

export type SessionUser = components['schemas']['SessionUser'];

/** Who is signed in: `undefined` until it is known, `null` for nobody. */
export const user = signal<SessionUser | null | undefined>(pageFacts?.session);

/** Why it is not known who is signed in. */
export const sessionProblem = signal<string | undefined>(undefined);

/** Asks the server who is signed in. What is kept of somebody else's session must not outlive it, so pages start anew. */
export async function loadSession(): Promise<void> {
  sessionProblem.value = undefined;
  user.value = runs('dashboard') || runs('secrets') ? await findUser() : null;
}

async function findUser(): Promise<SessionUser | null | undefined> {
  try {
    const answer = await dashboard.GET('/api/auth/session');
    return answer.response.status === 401 ? null : requireAnswer(answer);
  } catch (error) {
    // A server that is away, or busy, has signed nobody out.
    sessionProblem.value = explain(error);
    return undefined;
  }
}
