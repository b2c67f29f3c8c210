import { decodeError } from '@trellis/client/errors';
import { CommandError } from '../../config/startup-error.js';
import type { RetryEvent, SecretsClient } from '../../generated/secrets/client.js';
import type { Signer } from '../../sealing/value-statement.js';
import { EXIT, toCommandError } from './options.js';
import { type ConnectionOptions, readSecretSource, readSettings } from './settings.js';
import { type Environment, toJson, toPrintable, writeOutput, type Terminal } from './terminal.js';
import type { JobToken } from './workload-token.js';

/** The context of a command: the service with a credential, and the identity that opens values. */
export interface CommandContext {
  readonly client: SecretsClient;
  readonly terminal: Terminal;
  readonly server: string;
  /** The token, for masking it in output. */
  readonly token: string;
  /** Whether the token is that of a consumer, which lists and reads its own secrets only. */
  readonly isConsumer: boolean;
  /** @throws CommandFailure when no identity is configured or found. */
  readIdentity(): Promise<string>;
  /** Returns the text of the key that signs values, for masking it in output; `undefined` when none is configured. */
  readSigningKey(): Promise<string | undefined>;
  /** Returns the key that signs values; `undefined` when none is configured. @throws SealingError for an invalid key. */
  readSigner(): Promise<Signer | undefined>;
  /** Whether values that no trusted writer has signed are rejected. */
  readonly requiresSignatures: boolean;
  /** The time of the start, in milliseconds since the epoch; the signatures of this command are later. */
  readonly startedAt: number;
  /** Prints a message, which may contain texts of the service; results go to `terminal.out`. */
  say(line: string): void;
  /** Prints a message, or with `--json` the result that it describes. */
  report(line: string, result: object): Promise<void>;
}

/**
 * Runs the action of a command with the service.
 *
 * @throws CommandFailure of one line, with the exit code of the reason.
 */
export async function withContext(
  terminal: Terminal,
  flags: ConnectionOptions,
  work: (session: CommandContext) => Promise<void>,
): Promise<void> {
  // A closed pipe, as with "| head", is reported by the write.
  terminal.out.on('error', () => undefined);
  let server: string | undefined;
  try {
    const session = await openContext(flags, terminal);
    ({ server } = session);
    await work(session);
  } catch (error) {
    throw toCommandError(error, server);
  }
}

/** @throws CommandFailure for an invalid setting, or without a token. */
export async function openContext(flags: ConnectionOptions, terminal: Terminal): Promise<CommandContext> {
  const { server, token, caller, identity, signingKey, requiresSignatures } = await readSettings(flags, terminal.env);
  const say = (line: string): void => void terminal.err.write(`${toPrintable(line)}\n`);
  // A command may ask for a passphrase, so it runs once, as does the program that opens an identity.
  let signingText: Promise<string> | undefined;
  let openedIdentity: Promise<string> | undefined;
  const readSigningKey = async (): Promise<string | undefined> =>
    signingKey && (signingText ??= readSecretSource(signingKey, 'a signing key'));
  const credential = token
    ? { text: await readSecretSource(token, 'a token') }
    : await openTokenOfJob(server, terminal.env);
  return {
    client: await openClient(server, { credential, caller, say }),
    terminal,
    server,
    get token() {
      return credential.text;
    },
    isConsumer: credential.text.startsWith('trc_'),
    say,
    async report(line, result) {
      if (flags.json) await writeOutput(terminal.out, toJson(result));
      else say(line);
    },
    requiresSignatures,
    startedAt: Date.now(),
    readSigningKey,
    async readSigner() {
      const key = await readSigningKey();
      return key === undefined ? undefined : (await loadSealing()).parseSigningKey(key);
    },
    async readIdentity() {
      if (identity === undefined)
        throw new CommandError(
          'No identity configured: run "trellis secrets init" or set TRELLIS_SECRETS_IDENTITY_FILE',
          EXIT.refused,
        );
      const text = await readSecretSource(identity, 'an identity');
      if (!/^(?:age-encryption\.org|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text)) return text;
      const { openIdentity } = await import('./age/age-program.js');
      return (openedIdentity ??= openIdentity(text, identity, terminal));
    },
  };
}

/** @throws CommandError outside a job with a token of its issuer. */
async function openTokenOfJob(server: string, env: Environment): Promise<JobToken> {
  const { openJobToken, isWorkload } = await import('./workload-token.js');
  if (isWorkload(env)) return openJobToken(server, env);
  const hint = env.GITHUB_ACTIONS === 'true' ? ', or give the job the permission "id-token: write"' : '';
  throw new CommandError(
    `No token configured: run "trellis secrets init" or set TRELLIS_SECRETS_TOKEN${hint}`,
    EXIT.refused,
  );
}

/** Shorter waits are not reported. */
const LONG_WAIT_MS = 2000;

/** Reports long waits, such as that of a rate limit, which lasts up to a minute; requests that wait together count once. */
function createWaitReport(say: CommandContext['say']): (event: RetryEvent) => void {
  let reportedUntil = 0;
  return ({ delayMs, reason }) => {
    const now = Date.now();
    if (delayMs < LONG_WAIT_MS || now < reportedUntil) return;
    reportedUntil = now + delayMs;
    const cause =
      reason === 'status 429' ? 'The server limits the number of requests' : `The server has failed (${reason})`;
    say(`${cause}. Trying again in ${Math.ceil(delayMs / 1000)} seconds …`);
  };
}

interface ClientConnection {
  readonly credential: Partial<JobToken> & Pick<JobToken, 'text'>;
  readonly caller: string | undefined;
  readonly say: CommandContext['say'];
}

async function openClient(server: string, { credential, caller, say }: ClientConnection): Promise<SecretsClient> {
  // Loaded late, so that --help does not wait for the client.
  const { createSecretsClient } = await import('../../generated/secrets/client.js');
  // A client of a different release usually works; "status" reports the difference.
  const client = createSecretsClient(server, {
    token: assertToken(credential.text),
    onWarning: () => undefined,
    onRetry: createWaitReport(say),
  });
  if (credential.renewed !== undefined) {
    const { renewed } = credential;
    client.use({
      async onRequest({ request }) {
        request.headers.set('Authorization', `Bearer ${await renewed()}`);
      },
    });
  }
  if (caller !== undefined) client.use({ onRequest: ({ request }) => request.headers.set('X-Caller', caller) });
  return client;
}

/** An empty token would make the client read the environment instead of the settings. */
function assertToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CommandError('Expected the token to consist of visible characters without spaces', EXIT.refused);
}

/** Loads the functions that seal and open values, which take longer to load than all of the command line. */
export const loadSealing = () => import('../../sealing/secrets.js');

/** Loads the function that seals to keys of every kind, with the program `age` where it is needed. */
export const loadSealer = async (terminal: Terminal) => (await import('./age/age-program.js')).createSealer(terminal);

/** The result of a client call. */
interface CallResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the data of a call. @throws ApiError when the service returned an error. */
export async function unwrapResult<Data>(call: Promise<CallResult<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  const failure = decodeError(response, error);
  if (failure) throw failure;
  // Operations without a response body have no data.
  return data as Data;
}
