import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import type { RequestLog } from '../request-log.js';
import type { ForgeSettings } from '../settings/forge-settings.js';
import type { Settings } from '../settings/settings.js';
import { type Forge, FORGE_PRODUCT_NAMES, type ForgeName } from './forge.js';
import { createForgejoForge } from './forgejo/forgejo-forge.js';
import type { GithubApp } from './github/access.js';
import { createAnonymousGithubForge } from './github/anonymous-forge.js';
import { createGithubForge, createInstallationForge } from './github/github-forge.js';
import { toGithubApiUrl } from './github/requests.js';
import { createGitlabForge } from './gitlab/gitlab-forge.js';
import { createAddressPolicy } from './http/address-policy.js';
import { createAgent } from './http/fetch-response.js';
import { createEtagCache, type ForgeRequestsOptions } from './http/requests.js';

/** The forge clients of all users, with the cached responses, API quotas and rate limit pauses of each. */
export interface ForgeClients {
  /** Returns clients for the forges that a user has credentials for. Reuses them until the settings change. */
  of(personId: string): Promise<ReadonlyMap<ForgeName, Forge>>;
  /** Creates clients for settings that are not saved. */
  open(settings: ForgeSettings): ReadonlyMap<ForgeName, Forge>;
  /** Removes the cached clients of a user. */
  forget(personId: string): void;
}

export interface ForgeClientsOptions {
  readonly settings: Pick<Settings, 'findForges'>;
  /** Writes to the request log. */
  readonly record: RequestLog['record'];
  /** The GitHub App of this server, if it has one. */
  readonly app?: GithubApp;
  /** Private addresses that requests may connect to. @see AddressPolicyOptions.allow */
  readonly allow?: readonly string[];
  readonly now?: () => number;
}

/** Each user's clients need at most about 200 KB for reviews. Cached responses have a separate limit for all users. */
const MAX_PEOPLE = 500;

/** Short, as a user waits for the result of a connection test. */
const TEST_TIMEOUT_MS = 10_000;

interface CachedForges {
  readonly settings: string;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
}

export function createForgeClients({ settings, record, app, allow = [], now }: ForgeClientsOptions): ForgeClients {
  const cache = new LRUCache<string, CachedForges>({ max: MAX_PEOPLE });
  const shared: ForgeRequestsOptions = {
    agent: createAgent(createAddressPolicy({ allow: [...allow, ...hostsOf(app)] })),
    now,
    answers: createEtagCache(),
    // A failure of the log must not fail the request.
    record: (request) => record(request).catch(() => undefined),
  };
  return {
    async of(personId) {
      // Read each time, as another process may have saved new settings.
      const found = await settings.findForges(personId);
      if (found === undefined) return new Map();
      const text = JSON.stringify(found);
      const known = cache.get(personId);
      if (known?.settings === text) return known.forges;
      const forges = openForges(found, { app, shared });
      cache.set(personId, { settings: text, forges });
      return forges;
    },
    open: (found) => openForges(found, { app, shared: { ...shared, timeoutMs: TEST_TIMEOUT_MS } }),
    forget: (personId) => void cache.delete(personId),
  };
}

/** @throws AppError `invalid_input` for the field if the user has no credential for the forge. */
export function requireForge(forges: ReadonlyMap<ForgeName, Forge>, name: ForgeName, field = 'forge'): Forge {
  const forge = forges.get(name);
  if (forge !== undefined) return forge;
  throw new AppError('invalid_input', `No ${FORGE_PRODUCT_NAMES[name]} token or username is configured.`, { field });
}

/** Returns the App's host, which is always allowed: it comes from the server configuration. */
function hostsOf(app: GithubApp | undefined): string[] {
  if (app === undefined || app.url === '') return [];
  const { hostname, port, protocol } = new URL(app.url);
  return [`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`];
}

interface OpenOptions {
  readonly app: GithubApp | undefined;
  readonly shared: ForgeRequestsOptions;
}

function openForges(settings: ForgeSettings, { app, shared }: OpenOptions): ReadonlyMap<ForgeName, Forge> {
  const { forgejoUrl, forgejoUsername, forgejoToken, gitlabUrl, gitlabUsername, gitlabToken } = settings;
  const rebaseLabel = settings.renovateRebaseLabel || undefined;
  const of = (username: string) => ({ ...shared, account: username || undefined, rebaseLabel });
  const github = openGithub(settings, app, of(settings.githubUsername));
  const forges = github === undefined ? [] : [github];
  if (forgejoToken !== '') {
    forges.push(createForgejoForge({ ...of(forgejoUsername), baseUrl: forgejoUrl, token: forgejoToken }));
  }
  if (gitlabToken !== '') {
    forges.push(createGitlabForge({ ...of(gitlabUsername), baseUrl: gitlabUrl, token: gitlabToken }));
  }
  return new Map(forges.map((forge) => [forge.name, forge]));
}

/**
 * Prefers the App to a token, and a token to the username alone. The App is used only at its own server, so that no
 * other server receives what its key has signed.
 */
function openGithub(
  { githubUrl, githubUsername, githubToken, githubAppInstallationId: installationId }: ForgeSettings,
  app: GithubApp | undefined,
  shared: ForgeRequestsOptions & { readonly rebaseLabel: string | undefined },
): Forge | undefined {
  const options = { ...shared, baseUrl: toGithubApiUrl(githubUrl) };
  const isAtApp = app !== undefined && toGithubApiUrl(app.url) === options.baseUrl;
  if (isAtApp && installationId !== 0) return createInstallationForge({ ...shared, app, installationId });
  if (githubToken !== '') return createGithubForge({ ...options, token: githubToken });
  return githubUsername === '' ? undefined : createAnonymousGithubForge({ ...options, username: githubUsername });
}
