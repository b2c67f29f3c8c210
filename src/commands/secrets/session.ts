import { CommandFailure } from '../../start-error.js';
import { decodeError } from '../../client/errors.js';
import { createSecretsClient } from '../../generated/secrets/client.js';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { EXIT } from './exit-codes.js';
import { readSettings } from './settings.js';
import type { SettingsFlags } from './settings.js';
import { readSource } from './sources.js';
import type { Terminal } from './terminal.js';

/** What a command works with: the service, asked as somebody, and what opens values. */
export interface Session {
  readonly client: SecretsClient;
  readonly terminal: Terminal;
  readonly server: string;
  /** @throws CommandFailure when none is set, or where it should be is none. */
  readIdentity(): Promise<string>;
  /** Says something to the person; results go to `terminal.out`. */
  say(line: string): void;
}

/** @throws CommandFailure for a setting that does not fit, or without a token. */
export async function openSession(flags: SettingsFlags, terminal: Terminal): Promise<Session> {
  const { server, token, caller, identity } = await readSettings(flags, terminal.env);
  if (token === undefined) {
    throw new CommandFailure(
      'expected a token: run "trellis secrets init", or set TRELLIS_SECRETS_TOKEN',
      EXIT.refused,
    );
  }
  const say = (line: string): void => void terminal.err.write(`${line}\n`);
  return {
    client: openClient(server, await readSource(token, 'a token'), caller),
    terminal,
    server,
    say,
    async readIdentity() {
      if (identity !== undefined) return readSource(identity, 'an identity');
      throw new CommandFailure(
        'expected an identity to open the value: run "trellis secrets init", or set TRELLIS_SECRETS_IDENTITY_FILE',
        EXIT.refused,
      );
    },
  };
}

function openClient(server: string, token: string, caller: string | undefined): SecretsClient {
  // A client of another release works as a rule; "status" says so once, rather than each command every time.
  const client = createSecretsClient(server, { token: requireToken(token), onWarning: () => undefined });
  if (caller !== undefined) client.use({ onRequest: ({ request }) => request.headers.set('X-Caller', caller) });
  return client;
}

/** An empty one would be taken from the environment, past the settings. */
function requireToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CommandFailure('expected a token of visible characters without spaces', EXIT.refused);
}

/** What a call answers. */
interface Answer<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** @throws ApiError when the service refused. */
export async function request<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  const refusal = decodeError(response, error);
  if (refusal) throw refusal;
  // Where nothing is answered nothing is expected either.
  return data as Data;
}
