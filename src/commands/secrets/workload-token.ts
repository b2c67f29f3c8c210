/** Gets a token for a CI job or another workload, in exchange for a token of its OpenID Connect issuer. */
import { readFile } from 'node:fs/promises';
import { type ApiError, decodeError } from '@trellis/client/errors';
import { CommandError } from '../../config/startup-error.js';
import { EXIT } from './options.js';
import { nonEmpty } from './settings.js';
import type { Environment } from './terminal.js';

/** GitHub and Forgejo respond within a second. */
const TIMEOUT_MS = 10_000;

/** The limit of the contract. */
const MAX_TOKEN_LENGTH = 16_384;

/** Reports whether the environment is that of a job that can get a token of its issuer. */
export const isWorkload = (env: Environment): boolean =>
  [env.TRELLIS_SECRETS_ID_TOKEN, env.TRELLIS_SECRETS_ID_TOKEN_FILE, env.ACTIONS_ID_TOKEN_REQUEST_URL].some(nonEmpty);

/** The token of a job, for commands that may run longer than it is valid. */
export interface JobToken {
  readonly text: string;
  /** Returns a valid token. @throws CommandError if the token has ended and no other can be had. */
  renewed(): Promise<string>;
}

/** The share of the lifetime after which a token is replaced. */
const RENEWAL_SHARE = 0.5;

/** The pause after a failure, while the token is still valid. */
const RETRY_MS = 10_000;

/**
 * Exchanges the token of a job: `TRELLIS_SECRETS_ID_TOKEN` (GitLab), the file `TRELLIS_SECRETS_ID_TOKEN_FILE`
 * (Kubernetes), or a new one of GitHub Actions or Forgejo.
 *
 * @throws CommandError if no token can be had, or the service rejects it.
 */
export async function openJobToken(
  server: string,
  env: Environment,
  now = (): number => performance.now(),
): Promise<JobToken> {
  const exchange = async () => {
    const at = now();
    const { text, lifetimeMs } = await fetchWorkloadToken(server, env);
    return { text, endsAt: at + lifetimeMs, renewAt: at + lifetimeMs * RENEWAL_SHARE };
  };
  let held = await exchange();
  let renewing: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    try {
      held = await exchange();
    } catch (error) {
      if (now() >= held.endsAt) throw error;
      held = { ...held, renewAt: now() + RETRY_MS };
    } finally {
      renewing = undefined;
    }
  };
  return {
    get text() {
      return held.text;
    },
    async renewed() {
      if (now() >= held.renewAt) await (renewing ??= renew());
      return held.text;
    },
  };
}

async function fetchWorkloadToken(server: string, env: Environment) {
  const subjectToken = (await readIssuerToken(server, env)).trim();
  if (subjectToken === '' || subjectToken.length > MAX_TOKEN_LENGTH) {
    throw new CommandError(`Expected the token of the issuer to be 1 to ${MAX_TOKEN_LENGTH} characters`, EXIT.refused);
  }
  const { createSecretsClient } = await import('../../generated/secrets/client.js');
  const rule = nonEmpty(env.TRELLIS_SECRETS_RULE);
  // The new token is the first credential of this job.
  const client = createSecretsClient(server, { token: '', onWarning: () => undefined });
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: subjectToken,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    ...(rule !== undefined && { rule }),
  } as const;
  const { data, error, response } = await client.POST('/auth/token', { body });
  const failure = decodeError(response, error);
  if (failure) throw toExchangeError(failure);
  return { text: data?.access_token ?? '', lifetimeMs: (data?.expires_in ?? 0) * 1000 };
}

/** Shows the reason of the service, which other errors of credentials do not have. */
function toExchangeError(failure: ApiError): Error {
  const { message, statusCode } = failure;
  if (![400, 403, 409].includes(statusCode)) return failure;
  const hint = statusCode === 409 ? '. Set TRELLIS_SECRETS_RULE to its name' : '';
  return new CommandError(
    `The service issued no token for this job: ${message.replace(/\.$/, '')}${hint}`,
    EXIT.refused,
  );
}

async function readIssuerToken(server: string, env: Environment): Promise<string> {
  const [text, file, url] = [
    nonEmpty(env.TRELLIS_SECRETS_ID_TOKEN),
    nonEmpty(env.TRELLIS_SECRETS_ID_TOKEN_FILE),
    nonEmpty(env.ACTIONS_ID_TOKEN_REQUEST_URL),
  ];
  if (text !== undefined) return text;
  if (file !== undefined) {
    return readFile(file, 'utf8').catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      throw new CommandError(
        `Can't read the token of the issuer from ${file}: ${code ?? 'unknown error'}`,
        EXIT.refused,
      );
    });
  }
  return requestActionsToken(url ?? '', nonEmpty(env.TRELLIS_SECRETS_AUDIENCE) ?? server, env);
}

/** Requests a token of the runner, with an audience, as GitHub and Forgejo document it. */
async function requestActionsToken(address: string, audience: string, env: Environment): Promise<string> {
  const fail = (reason: string): never => {
    throw new CommandError(`The runner issued no token for this job: ${reason}`, EXIT.refused);
  };
  if (!URL.canParse(address)) return fail('ACTIONS_ID_TOKEN_REQUEST_URL is not a URL');
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  const headers = {
    authorization: `Bearer ${env.ACTIONS_ID_TOKEN_REQUEST_TOKEN ?? ''}`,
    accept: 'application/json',
  };
  const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: unknown) => fail((error as Error).name === 'TimeoutError' ? 'no response in time' : 'it is not reachable'),
  );
  if (!response.ok) return fail(`status ${response.status}`);
  const { value } = Object(await response.json().catch(() => undefined)) as { readonly value?: unknown };
  return typeof value === 'string' ? value : fail('its response has no token');
}
