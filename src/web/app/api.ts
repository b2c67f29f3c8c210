import { ApiError, createDashboardClient } from '../../generated/dashboard/client.js';

export { requireData } from '../../generated/dashboard/client.js';

/** Few and short retries: a user is waiting, so a page soon shows the error instead. */
export const retry = { maxRetries: 2, maxRetryAfterMs: 1_000 };

/** Whether the server runs a release with other contracts than this tab. */
let isOutdated = false;

/** The only warning of the client is about a server with a different revision of its contract. */
export const onWarning = (): void => void (isOutdated = true);

/** Authenticates with the session cookie, so that pages never hold a token. */
export const dashboardClient = createDashboardClient('/', { retry, onWarning });

/** Lets the browser load the document of a clicked link, in place of the router, once this tab is outdated. */
export function loadDocumentsWhenOutdated(): void {
  const onClick = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    // The router ignores an event that does not reach the window.
    if (isOutdated && link?.origin === location.origin) event.stopPropagation();
  };
  document.addEventListener('click', onClick);
}

/** Returns a message that the user of a page can act on. */
export function toUserMessage(error: unknown): string {
  if (error instanceof ApiError) return toResponseMessage(error);
  if (!(error instanceof Error)) return 'Something went wrong. Try again.';
  // The messages of Chromium, Firefox and Safari for a chunk that cannot be loaded.
  if (/dynamically imported module|importing a module script failed/i.test(error.message)) return OUTDATED;
  if (error.name === 'TypeError') return isOfNetwork(error) ? toNetworkMessage() : UNREADABLE;
  // A response that ends early, or that is not JSON.
  if (error.name === 'SyntaxError') return UNREADABLE;
  return BY_NAME[error.name] ?? error.message;
}

/** Adds what helps to find the cause: the forge's own words, and the id of the request in the server's log. */
function toResponseMessage({ statusCode, code, message, requestId, body }: ApiError): string {
  // A sensitive change needs a recent sign-in, which the user has cancelled.
  if (statusCode === 401) return message.startsWith('Confirm this') ? message : SIGNED_OUT;
  const { forgeMessage } = (body ?? {}) as { readonly forgeMessage?: string };
  if (forgeMessage !== undefined) return `${message} (${forgeMessage})`;
  if (statusCode < 500) return message;
  if (code !== undefined) return withRequestId(message, requestId);
  return `A proxy in front of the server responded with status ${statusCode}. Try again in a moment.`;
}

const REQUEST_ID = ' Request ID: ';

/** Appends the id of a request, by which the server's log can be searched. */
export const withRequestId = (message: string, requestId: string | undefined): string =>
  requestId === undefined ? message : message + REQUEST_ID + requestId;

/** Returns the id of the request at the end of a message. */
export const findRequestId = (message: string): string | undefined => message.split(REQUEST_ID)[1];

/** The messages of Chromium, Firefox, Safari and the generated client for a request without a complete response. */
const isOfNetwork = ({ message }: Error): boolean =>
  /failed to fetch|networkerror|load failed|network connection was lost|connection lost/i.test(message);

const toNetworkMessage = (): string =>
  navigator.onLine
    ? 'The server could not be reached. Try again.'
    : 'You’re offline. Connect to the network and try again.';

const UNREADABLE = 'The page can’t read the data that it received. Reload the page.';

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
};
