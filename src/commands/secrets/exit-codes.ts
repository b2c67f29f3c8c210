import type { ApiError } from '@trellis/client/errors';
import { CommandError } from '../../config/startup-error.js';

/** The exit codes of `trellis secrets`. Scripts rely on them, so they don't change. */
export const EXIT = {
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  notOpened: 6,
  notAuthentic: 7,
} as const;

export const EXIT_HELP = `
Exit codes:
  0  done
  1  failed: the server, the network, a file
  2  an invalid argument, setting or value
  3  secret, consumer or token not found
  4  the credential is missing, invalid or not allowed to do this
  5  conflict: the name exists, several variants, a consumer without a key, a changed public key, or a value that
     was replaced by another request
  6  the value is sealed to other recipients, or is not a sealed value
  7  the value is not signed by a trusted writer, its signature is wrong, or a newer value was used before

With --json, the result is one JSON document on standard output ("audit": one per line), and the last line of standard
error is an error as JSON: {"error": "…", "exit_code": 3}. "run", "mcp", "webhook", "inject" and "export" have no --json.`;

/** Maps a status of the service to an exit code. */
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
  not_signed: EXIT.notAuthentic,
  wrong_signature: EXIT.notAuthentic,
  unknown_signer: EXIT.notAuthentic,
  older_value: EXIT.notAuthentic,
};

/** Converts expected errors to one line and an exit code. Other errors are internal and keep their stack. */
export function toCommandError(error: unknown, server?: string): unknown {
  if (error instanceof CommandError) return error;
  const { name, message, code, path, syscall } = Object(error) as Partial<Known>;
  if (name === undefined || message === undefined) return error;
  if (name === 'ApiError') return fromApiError(error as ApiError);
  if (name === 'SealingError') return new CommandError(withoutStop(message), SEALING_EXITS[code ?? ''] ?? EXIT.failed);
  if (code === 'EPIPE') return new CommandError('', EXIT.failed);
  if (name === 'TimeoutError')
    return new CommandError(`The server did not respond in time: ${withoutStop(message)}`, EXIT.failed);
  if (code !== undefined && path !== undefined) return new CommandError(`${path}: ${code}`, EXIT.failed);
  if (code !== undefined && syscall === 'write')
    return new CommandError(`The output can't be written: ${code}`, EXIT.failed);
  // `fetch` puts the reason into `cause`.
  const { cause } = error as { readonly cause?: Partial<Known> };
  if (name !== 'TypeError' || cause === undefined) return error;
  if (cause.name === 'SyntaxError') return new CommandError(withoutStop(message), EXIT.failed);
  const reason = cause.code ?? cause.message ?? message;
  return new CommandError(
    `The server${server === undefined ? '' : ` at ${server}`} can't be reached: ${reason}`,
    EXIT.failed,
  );
}

/** The exit codes of errors that concern one secret; others concern the connection or the credential. */
const OWN_EXITS: readonly number[] = [EXIT.usage, EXIT.notFound, EXIT.conflict, EXIT.notOpened];

/** Reads one of several secrets. The name precedes the message of an error that concerns this secret only. */
export async function readNamed<Value>(slug: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    const failure = toCommandError(error);
    if (!(failure instanceof CommandError) || failure === error) throw error;
    const { message, exitCode } = failure;
    throw OWN_EXITS.includes(exitCode) ? new CommandError(`${slug}: ${message}`, exitCode) : error;
  }
}

/** Checks members instead of classes, as the platform has several error classes. */
interface Known {
  readonly name: string;
  readonly message: string;
  readonly code: string;
  /** The path of the file that could not be read or written. */
  readonly path: string;
  readonly syscall: string;
}

function fromApiError({ message, statusCode, requestId }: ApiError): CommandError {
  if (statusCode === 401) {
    // The contract fixes the message of the service, which names a session.
    const reason = 'The token is invalid, expired or revoked, or its kind is not allowed to do this';
    return new CommandError(reason, EXIT.refused);
  }
  const isInternal = statusCode >= 500 && requestId !== undefined;
  return new CommandError(
    isInternal ? `${withoutStop(message)} (request ${requestId})` : withoutStop(message),
    exitCodeOf(statusCode),
  );
}

/** Messages of the command line are printed without a full stop. */
const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');
