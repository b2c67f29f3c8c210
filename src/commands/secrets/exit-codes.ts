import type { ApiError } from '../../client/errors.js';
import { CommandFailure } from '../../start-error.js';

/** What the exit codes of `trellis secrets` mean; scripts go by them, so they don't change. */
export const EXIT = {
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  notOpened: 6,
} as const;

export const EXIT_HELP = `
Exit codes:
  0  done
  1  failed: the server, the network, a file
  2  an argument, a setting or a value that does not fit
  3  there is no such object, consumer or token
  4  the credential is missing, unknown, or may not do this
  5  the state does not allow it: a name that is taken, several variants, a consumer without a key, a public key
     that has changed, a value that another caller replaced meanwhile
  6  the value is sealed to others, or is no sealed value`;

/** A status of the service as an exit code. */
function exitCodeOf(statusCode: number): number {
  if (statusCode === 404) return EXIT.notFound;
  if (statusCode === 401 || statusCode === 403) return EXIT.refused;
  if (statusCode === 409 || statusCode === 412) return EXIT.conflict;
  return [400, 413, 422].includes(statusCode) ? EXIT.usage : EXIT.failed;
}

const SEALING_EXITS: Readonly<Record<string, number>> = {
  invalid_key: EXIT.usage,
  too_large: EXIT.usage,
  no_key: EXIT.conflict,
  key_changed: EXIT.conflict,
  not_sealed: EXIT.notOpened,
  no_match: EXIT.notOpened,
};

/** What a person can mend gets one line and an exit code; anything else is a defect and keeps its stack. */
export function toFailure(error: unknown): unknown {
  if (error instanceof CommandFailure) return error;
  const { name, message, code, path } = Object(error) as Partial<Known>;
  if (name === undefined || message === undefined) return error;
  if (name === 'ApiError') return toRefusal(error as ApiError);
  if (name === 'SealingError') return new CommandFailure(lower(message), SEALING_EXITS[code ?? ''] ?? EXIT.failed);
  if (code === 'EPIPE') return new CommandFailure('', EXIT.failed);
  if (name === 'TimeoutError') return new CommandFailure(`the server took too long; ${lower(message)}`, EXIT.failed);
  if (code !== undefined && path !== undefined) return new CommandFailure(`${path}: ${code}`, EXIT.failed);
  // `fetch` says that it failed, and hides the reason one level down.
  const { cause } = error as { readonly cause?: { readonly code?: string; readonly message?: string } };
  if (name !== 'TypeError' || cause === undefined) return error;
  const reason = cause.code ?? cause.message ?? message;
  return new CommandFailure(`expected a server that can be reached; ${reason}`, EXIT.failed);
}

/** By their members, not their classes: the platform has classes of its own. */
interface Known {
  readonly name: string;
  readonly message: string;
  readonly code: string;
  /** Of the file that could not be read or written. */
  readonly path: string;
}

function toRefusal({ message, statusCode, requestId }: ApiError): CommandFailure {
  const isDefect = statusCode >= 500 && requestId !== undefined;
  return new CommandFailure(
    isDefect ? `${lower(message)} (request ${requestId})` : lower(message),
    exitCodeOf(statusCode),
  );
}

/** Failures are shown behind "trellis: ", and have no capital there. */
const lower = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
