import githubAppJwt from 'universal-github-app-jwt';
import { createForgeRequests } from '../http/requests.js';
import type { ForgeRequestsOptions } from '../http/requests.js';
import { createRestClient } from '../http/rest.js';
import { toGithubApiUrl } from './api-url.js';
import { toGithubProtocol } from './requests.js';

/** The GitHub App of this Trellis server. */
export interface GithubApp {
  readonly id: number;
  /** An RSA key as PEM. */
  readonly privateKey: string;
  /** The URL of its GitHub's pages; empty for github.com. Only this GitHub receives the tokens that the key signs. */
  readonly url: string;
}

export interface InstallationOptions extends ForgeRequestsOptions {
  readonly app: GithubApp;
  readonly installationId: number;
}

/** An installation of the App, with its latest token and the permissions of that token. */
export interface Installation {
  /** Returns a token that is valid for at least 5 more minutes. GitHub issues them for an hour. */
  readonly token: () => Promise<string>;
  /** Reports whether the installation has write access, as to `repository_hooks`. False before the first token. */
  readonly hasWriteAccess: (permission: string) => boolean;
}

interface TokenResponse {
  readonly token: string;
  readonly expires_at: string;
  readonly permissions?: Readonly<Record<string, string>>;
}

/** A refresh of many repositories may need one token for this long. */
const RENEWED_BEFORE_MS = 300_000;

/** Opens an installation. Concurrent callers share one request for a new token. */
export function openInstallation({ app, installationId, ...options }: InstallationOptions): Installation {
  const now = options.now ?? Date.now;
  const authorize = async (): Promise<string> => {
    const { id, privateKey } = app;
    const { token } = await githubAppJwt({ id, privateKey, now: Math.floor(now() / 1000) });
    return `Bearer ${token}`;
  };
  const rest = createRestClient(createForgeRequests(toGithubProtocol(authorize), options), toGithubApiUrl(app.url));
  let last: TokenResponse | undefined;
  let pending: Promise<TokenResponse> | undefined;

  async function renew(): Promise<TokenResponse> {
    last = (await rest.post(`/app/installations/${installationId}/access_tokens`)) as TokenResponse;
    return last;
  }

  return {
    async token() {
      if (last !== undefined && Date.parse(last.expires_at) - RENEWED_BEFORE_MS > now()) return last.token;
      pending ??= renew().finally(() => (pending = undefined));
      return (await pending).token;
    },
    hasWriteAccess: (permission) => last?.permissions?.[permission] === 'write',
  };
}
