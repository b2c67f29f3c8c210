import { effect, signal } from '@preact/signals';
import type { components } from '../../generated/dashboard/client.js';
import { dashboardClient, keepProblem, type Problem, requireData, toProblem, waitToRetry } from './api.js';
import { isServiceEnabled, pageData } from './page-data.js';

/** Who can open a page. */
export type Audience = 'admin' | 'public' | 'user';

export type SessionUser = components['schemas']['SessionUser'];

/** The signed-in user: `undefined` until the session is loaded, `null` without a session. */
export const user = signal<SessionUser | null | undefined>(pageData?.session);

/** Why the session could not be loaded. */
export const sessionError = signal<Problem | undefined>(undefined);

/** Ends the wait of the previous attempt to load the session. */
let retrying = new AbortController();

/** Loads the session from the server into {@link user}; in an outage, again and again after the first attempt. */
export const loadSession = async (): Promise<void> => attemptSession(0);

async function attemptSession(failures: number): Promise<void> {
  retrying.abort();
  const { signal } = (retrying = new AbortController());
  user.value = isServiceEnabled('dashboard') || isServiceEnabled('secrets') ? await findUser() : null;
  if (user.value !== undefined || sessionError.value?.isTemporary !== true) return;
  void waitToRetry(failures + 1, signal).then(() => (signal.aborted ? undefined : attemptSession(failures + 1)));
}

/**
 * Loads a new document if the browser restores a page of a session that has ended, or of a different user: the restored
 * page still shows the data of before.
 */
export function checkRestoredSession(): void {
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted || user.peek() === undefined) return;
    void findUser().then((found) => {
      if (found !== undefined && found?.username !== user.peek()?.username) location.reload();
    });
  });
}

/** The `localStorage` key with the name of the user who was signed in last, which all tabs share. */
const STORAGE_KEY = 'trellis-user';

/** The first user of this document. Its memory may contain their data after the session has ended. */
let firstUser: string | undefined;

/** Whether this document may contain data of a different user than the one who is signed in now. */
export const belongsToOther = (): boolean => firstUser !== undefined && firstUser !== user.peek()?.username;

/**
 * Loads a new document when a different user signs in with another tab: this one shows data of the previous user, and would
 * change data of the new one.
 */
export function followSignIns(): void {
  effect(() => {
    const name = user.value?.username;
    if (name === undefined) return;
    firstUser ??= name;
    try {
      localStorage.setItem(STORAGE_KEY, name);
    } catch {
      // The storage is full or blocked, so other tabs are not notified.
    }
  });
  addEventListener('storage', ({ key, newValue }) => {
    if (key === STORAGE_KEY && newValue !== null && user.peek() && newValue !== user.peek()?.username)
      location.reload();
  });
}

/** Returns the user of the current session, `null` without a session, or `undefined` if it could not be loaded. */
export async function findUser(): Promise<SessionUser | null | undefined> {
  try {
    const result = await dashboardClient.GET('/api/auth/session');
    return result.response.status === 401 ? null : requireData(result);
  } catch (error) {
    // An unreachable or busy server does not end the session.
    sessionError.value = keepProblem(sessionError.peek(), toProblem(error));
    return undefined;
  }
}
