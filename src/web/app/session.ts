import { effect, signal } from '@preact/signals';
import type { components } from '../../generated/dashboard/client.js';
import { dashboardClient, keepProblem, type Problem, requireData, toProblem, waitToRetry } from './api.js';
import { hasAccounts, pageData } from './page-data.js';
import { sharedStorage } from './ui/browser-storage.js';

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
  user.value = hasAccounts ? await findUser() : null;
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

/** The `localStorage` key with the name of the user who is signed in, which all tabs share; empty after a sign-out. */
const STORAGE_KEY = 'trellis-user';

/** The first user of this document. Its memory may contain their data after the session has ended. */
let firstUser: string | undefined;

/** Whether this document may contain data of a different user than the one who is signed in now. */
export const belongsToOther = (): boolean => firstUser !== undefined && firstUser !== user.peek()?.username;

/**
 * Follows the other tabs: their sign-ins continue this one, and after a sign-out, or a sign-in of a different user, it shows
 * nothing of the previous user and loads a new document, so that no data stays in its memory either.
 */
export function followSignIns(): void {
  effect(() => {
    const name = user.value?.username;
    if (name === undefined) return;
    firstUser ??= name;
    announceUser(name);
  });
  onSignInElsewhere((name) => {
    const own = user.peek();
    if (own === null && name !== '') void continueSession();
    if (!own || own.username === name) return;
    user.value = null;
    location.reload();
  });
}

async function continueSession(): Promise<void> {
  const found = await findUser();
  if (found) user.value = found;
}

/** Reports to the other tabs who is signed in: the name of a user, or an empty text after a sign-out. */
export function announceUser(name: string): void {
  // An equal value would be no event.
  sharedStorage.removeItem(STORAGE_KEY);
  sharedStorage.setItem(STORAGE_KEY, name);
}

/**
 * Calls a function with the name that another tab has announced; also when this tab becomes visible, as browsers may stop
 * hidden ones. Returns a function that stops this.
 */
export function onSignInElsewhere(act: (name: string) => void): () => void {
  const listeners = new AbortController();
  const onName = (name: string | null): void => (name === null ? undefined : act(name));
  addEventListener('storage', ({ key, newValue }) => (key === STORAGE_KEY ? onName(newValue) : undefined), listeners);
  const onVisible = (): void => {
    if (document.visibilityState === 'visible') onName(readAnnouncedUser());
  };
  document.addEventListener('visibilitychange', onVisible, listeners);
  return () => listeners.abort();
}

/** Returns the name that a tab announced last; `null` if none did. */
export const readAnnouncedUser = (): string | null => sharedStorage.getItem(STORAGE_KEY);

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
