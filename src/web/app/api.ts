import { ApiError, createDashboardClient } from '../../generated/dashboard/client.js';

export { requireData } from '../../generated/dashboard/client.js';

/** Few and short retries: a user is waiting, so a page soon shows the error instead. */
export const retry = { maxRetries: 2, maxRetryAfterMs: 1_000 };

/** Authenticates with the session cookie, so that pages never hold a token. */
export const dashboardClient = createDashboardClient('/', { retry });

/** Returns a message that the user of a page can act on. */
export function toUserMessage(error: unknown): string {
  if (error instanceof ApiError) return error.statusCode === 401 ? SIGNED_OUT : error.message;
  if (!(error instanceof Error)) return 'Something went wrong. Try again.';
  // The messages of Chromium, Firefox and Safari for a chunk that cannot be loaded.
  if (/dynamically imported module|importing a module script failed/i.test(error.message)) return OUTDATED;
  return BY_NAME[error.name] ?? error.message;
}

const SIGNED_OUT = 'You’ve been signed out. Sign in to continue.';

const OUTDATED = 'The server was updated while this page was open. Reload the page, then try again.';

/** Messages by the name of a browser error: the browsers' own messages are written for developers. */
const BY_NAME: Readonly<Record<string, string>> = {
  NotAllowedError: 'The passkey request was cancelled or timed out. Try again.',
  AbortError: 'The passkey request was cancelled or timed out. Try again.',
  InvalidStateError: 'This device already has a passkey for this account.',
  SecurityError: 'Passkeys don’t work at this address. Open the server by its host name.',
  ConstraintError: 'This device can’t store the kind of passkey that is needed. Try another device.',
  NotSupportedError: 'This device can’t store the kind of passkey that is needed. Try another device.',
  TypeError: 'The server could not be reached. Try again.',
};
