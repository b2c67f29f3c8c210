import githubAppJwt from 'universal-github-app-jwt';
import { createRequests } from '../http/requests.js';
import type { RequestsOptions } from '../http/requests.js';
import { createRest } from '../http/rest.js';
import { toGithubApiUrl } from './api-url.js';
import { toDialect } from './requests.js';

/** The GitHub App of a server. */
export interface GithubApp {
  readonly id: number;
  /** An RSA key as PEM. */
  readonly privateKey: string;
  /** Where the pages of its GitHub are; empty for github.com. Nobody else is shown what its key signed. */
  readonly url: string;
}

export interface InstallationOptions extends RequestsOptions {
  readonly app: GithubApp;
  readonly installationId: number;
}

/** What an installation may is asked of by its token; both are of GitHub's last answer. */
export interface Installation {
  /** Gives a token that lasts for some minutes at least; GitHub gives them for an hour. */
  readonly token: () => Promise<string>;
  /** `write` by what may be written, such as `repository_hooks`; nothing before the first token. */
  readonly may: (permission: string) => boolean;
}

interface TokenAnswer {
  readonly token: string;
  readonly expires_at: string;
  readonly permissions?: Readonly<Record<string, string>>;
}

/** A refresh of many repositories may take as long as this with the token that it began with. */
const RENEWED_BEFORE_MS = 300_000;

/** Asks for a token of an installation when there is none that lasts, once for all who wait for it. */
export function openInstallation({ app, installationId, ...options }: InstallationOptions): Installation {
  const now = options.now ?? Date.now;
  const authorize = async (): Promise<string> => {
    const { id, privateKey } = app;
    const { token } = await githubAppJwt({ id, privateKey, now: Math.floor(now() / 1000) });
    return `Bearer ${token}`;
  };
  const rest = createRest(createRequests(toDialect(authorize), options), toGithubApiUrl(app.url));
  let last: TokenAnswer | undefined;
  let asking: Promise<TokenAnswer> | undefined;

  async function renew(): Promise<TokenAnswer> {
    last = (await rest.post(`/app/installations/${installationId}/access_tokens`)) as TokenAnswer;
    return last;
  }

  return {
    async token() {
      if (last !== undefined && Date.parse(last.expires_at) - RENEWED_BEFORE_MS > now()) return last.token;
      asking ??= renew().finally(() => (asking = undefined));
      return (await asking).token;
    },
    may: (permission) => last?.permissions?.[permission] === 'write',
  };
}
