import type { ApiError } from '@trellis/client/errors';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { Terminal } from './terminal.js';

/** Creates `trellis secrets` without its commands, which inherit its streams and its exit codes. */
export function createSecretsCommand(terminal: Terminal): Command {
  return (
    new Command('secrets')
      .description('Manage sealed secrets')
      // Set before the commands are added, as they inherit both.
      .showHelpAfterError('(see --help)')
      .exitOverride(({ exitCode, message }) => {
        // Commander has printed the error as text; 0 is for --help.
        const text = terminal.json ? message.replace(/^error: /, '') : '';
        throw exitCode === 0 ? new CommandError('', 0) : new CommandError(text, EXIT.usage);
      })
      .configureOutput({
        writeOut: (text) => void terminal.out.write(text),
        writeErr: (text) => {
          if (!terminal.json) terminal.err.write(text);
        },
      })
      .addHelpText('after', HELP)
  );
}

/** Collects the values of a repeated option. */
export const collectValues = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Collects public keys. An SSH key ends in a comment, which is not part of the key. */
const collectKeys = (key: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  key.trim().replace(/^(ssh-\S+\s+\S+)\s.*$/, '$1'),
];

/** Creates a parser for a number of days up to a limit. */
export const parseDays =
  (most: number) =>
  (text: string): number => {
    const days = Number(text);
    if (/^\d+$/.test(text) && days >= 1 && days <= most) return days;
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
  };

/** The limit of the contract for the days until a value is due for rotation: ten years. */
export const MAX_ROTATION_DAYS = 3650;

export const parseRotation = parseDays(MAX_ROTATION_DAYS);

export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('Expected a positive whole number.');
}

/** The recipients of a value. */
export interface RecipientOptions {
  readonly consumer?: readonly string[];
  readonly recipient?: readonly string[];
  readonly keepReadableCopy?: boolean;
  readonly acceptKey?: readonly string[];
}

export const addRecipientOptions = (command: Command): Command =>
  command
    .option('--consumer <consumer>', 'repository or host that reads the value; repeatable', collectValues)
    .option('--recipient <key>', 'further public key to seal to: age1…, or ssh-…; repeatable', collectKeys)
    .option('--accept-key <key>', 'changed public key to accept, or its SHA256 fingerprint; repeatable', collectValues);

/** The source of a value. Never an argument, which other users of the machine can see. */
export interface ValueOptions {
  readonly file?: string;
  readonly sealed?: true;
  readonly allowEmpty?: true;
}

export const addValueOptions = (command: Command): Command =>
  command
    .option('--file <file>', 'file with the value (default: standard input)')
    .option('--sealed', 'the value is an age file already; store it unchanged')
    .option('--allow-empty', 'allow a value of zero bytes');

/** Selects a variant. */
export const addIdOption = (command: Command): Command =>
  command.option('--id <id>', 'id of the variant, if the secret has several');

/** Returns a copy without the undefined members. */
export const omitUndefined = <T extends object>(object: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;

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

const EXIT_HELP = `
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

const HELP = `
Values are read from standard input or a file, never from an argument, and are sealed (encrypted with age) on this
machine. Settings come from options, the environment, and the file that "init" writes, in this order. Without a token,
a CI job gets one in exchange for the token of its issuer: of GitHub Actions and Forgejo (ACTIONS_ID_TOKEN_REQUEST_URL),
or that in TRELLIS_SECRETS_ID_TOKEN or the file TRELLIS_SECRETS_ID_TOKEN_FILE.

Examples:
  trellis secrets init
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop
  trellis secrets run --secret db-password -- ./deploy.sh
${EXIT_HELP}`;

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

function fromApiError({ message: text, body, field, statusCode, requestId }: ApiError): CommandError {
  const { error_description: description } = Object(body) as { readonly error_description?: unknown };
  // The `error` of OAuth, which the client takes for the message, is a code.
  const message = typeof description === 'string' ? description.replace(/\p{Cc}+/gu, ' ').slice(0, 500) : text;
  if (statusCode === 401) {
    // The contract fixes the message of the service, which names a session.
    const reason = 'The token is invalid, expired or revoked, or its kind is not allowed to do this';
    return new CommandError(reason, EXIT.refused);
  }
  // The message of the service names a parameter of the URL.
  if (statusCode === 409 && field === 'id')
    return new CommandError(
      'Several secrets have this name. Select one with --id or, for "run", with --consumer',
      EXIT.conflict,
    );
  const isInternal = statusCode >= 500 && requestId !== undefined;
  const shown = withoutStop(describePattern(message));
  return new CommandError(isInternal ? `${shown} (request ${requestId})` : shown, exitCodeOf(statusCode));
}

const SECRET_NAME = 'the name of a secret to have letters, digits, - and _, and to start with a letter or digit';

const CONSUMER_NAME =
  'the name of a consumer to have parts between slashes, without spaces around them, and no part "." or ".."';

/** The texts that the contract describes by a pattern, by the field. */
const PATTERNS: Readonly<Record<string, string>> = {
  ...{ slug: SECRET_NAME, object_id: SECRET_NAME },
  ...{ consumer: CONSUMER_NAME, name: CONSUMER_NAME, used_by: CONSUMER_NAME },
  tag: 'a tag to have 1 to 32 characters of a-z, 0-9, ".", "_", "/" and "-"',
};

/** Replaces a pattern, which is for programs. */
function describePattern(message: string): string {
  const [, field = ''] = /^Expected ([a-z_]+)(?:\.\d+)? to match pattern "/.exec(message) ?? [];
  return Object.hasOwn(PATTERNS, field) ? `Expected ${PATTERNS[field]}` : message;
}

/** Messages of the command line are printed without a full stop. */
const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');
