import { ApiError, decodeError } from '../../generated/dashboard/client.js';

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** @throws ApiError with the server's own sentence. */
export function requireAnswer<T>({ data, error, response }: Answered<T>): T {
  const refusal = decodeError(response, error);
  if (refusal !== undefined) throw refusal;
  // Without a body there is nothing, which is what such an answer's type says.
  return data as T;
}

/** What went wrong, as the person before the page can use it. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) return error.statusCode === 401 ? SIGNED_OUT : error.message;
  if (!(error instanceof Error)) return 'Something went wrong. Try again.';
  // The words of Chromium, Firefox and Safari for a part of the application that is not there.
  if (/dynamically imported module|importing a module script failed/i.test(error.message)) return OUTDATED;
  return BY_NAME[error.name] ?? error.message;
}

const SIGNED_OUT = 'You’ve been signed out. Sign in to continue.';

const OUTDATED = 'The server was updated while this page was open. Reload the page, then try again.';

/** Errors of browsers name what happened; their messages are for programmers. */
const BY_NAME: Readonly<Record<string, string>> = {
  NotAllowedError: 'Nothing was done: the passkey request was closed, or took too long. Try again.',
  AbortError: 'Nothing was done: the passkey request was closed, or took too long. Try again.',
  InvalidStateError: 'That device has a passkey for this account already.',
  SecurityError: 'Passkeys hold for names, not for this address.',
  ConstraintError: "That device can't keep a passkey of the kind that is needed. Try another.",
  NotSupportedError: "That device can't keep a passkey of the kind that is needed. Try another.",
  TypeError: 'The server could not be reached. Try again.',
};
