import { LRUCache } from 'lru-cache';
import type { ForgeSettings } from '../forge-settings.js';
import type { RequestLog } from '../request-log.js';
import type { Settings } from '../settings.js';
import type { ForgeName } from './facts.js';
import type { Forge } from './forge.js';
import { createForgejoForge } from './forgejo/forgejo-forge.js';
import { toGithubApiUrl } from './github/api-url.js';
import type { GithubApp } from './github/app.js';
import { createGithubForge, createInstalledForge } from './github/github-forge.js';
import { createGithubPublicForge } from './github/public-forge.js';
import { createGitlabForge } from './gitlab/gitlab-forge.js';
import { createAddressPolicy } from './http/address-policy.js';
import { createAnswers } from './http/answers.js';
import { createAgent } from './http/exchange.js';
import type { RequestsOptions } from './http/requests.js';

/** The forges of people, with what is known of each: answers, budgets and pauses. */
export interface ForgeClients {
  /** Opens the forges for which a person's settings have a credential; the same ones as long as the settings stay. */
  of(personId: string): Promise<ReadonlyMap<ForgeName, Forge>>;
  /** Opens forges with settings that are nobody's yet. */
  open(settings: ForgeSettings): ReadonlyMap<ForgeName, Forge>;
  /** Drops what is kept of a person. */
  forget(personId: string): void;
}

export interface ForgeClientsOptions {
  readonly settings: Pick<Settings, 'findForges'>;
  /** Writes to the log of requests. */
  readonly record: RequestLog['record'];
  /** The GitHub App of this server, if it has one. */
  readonly app?: GithubApp | undefined;
  /** Private addresses that forges may have. @see AddressPolicyOptions.allow */
  readonly allow?: readonly string[] | undefined;
  readonly now?: (() => number) | undefined;
}

/** Without answers, of which all people share a bound, one takes at most some 200 KB of reviews. */
const MAX_PEOPLE = 500;

/** Somebody waits before the page; a forge that takes longer would be of no use either. */
const TRIED_MS = 10_000;

interface Kept {
  readonly settings: string;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
}

export function createForgeClients({ settings, record, app, allow = [], now }: ForgeClientsOptions): ForgeClients {
  const kept = new LRUCache<string, Kept>({ max: MAX_PEOPLE });
  const shared: RequestsOptions = {
    dispatcher: createAgent(createAddressPolicy({ allow: [...allow, ...hostsOf(app)] })),
    now,
    answers: createAnswers(),
    // A log that can't be written keeps nobody from their board.
    record: (request) => record(request).catch(() => undefined),
  };
  return {
    async of(personId) {
      // Asked each time: another process may have saved others.
      const found = await settings.findForges(personId);
      if (found === undefined) return new Map();
      const text = JSON.stringify(found);
      const known = kept.get(personId);
      if (known?.settings === text) return known.forges;
      const forges = openForges(found, { app, shared });
      kept.set(personId, { settings: text, forges });
      return forges;
    },
    open: (found) => openForges(found, { app, shared: { ...shared, timeoutMs: TRIED_MS } }),
    forget: (personId) => void kept.delete(personId),
  };
}

/** The administrator named the server of the App, so that it is allowed wherever it is. */
function hostsOf(app: GithubApp | undefined): string[] {
  if (app === undefined || app.url === '') return [];
  const { hostname, port, protocol } = new URL(app.url);
  return [`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`];
}

interface OpenOptions {
  readonly app: GithubApp | undefined;
  readonly shared: RequestsOptions;
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

/** The App beats a token, and a token the name alone. It is not asked for elsewhere than where it is. */
function openGithub(
  { githubUrl, githubUsername, githubToken, githubAppInstallationId: installationId }: ForgeSettings,
  app: GithubApp | undefined,
  shared: RequestsOptions & { readonly rebaseLabel: string | undefined },
): Forge | undefined {
  const options = { ...shared, baseUrl: toGithubApiUrl(githubUrl) };
  const isAtApp = app !== undefined && toGithubApiUrl(app.url) === options.baseUrl;
  if (isAtApp && installationId !== 0) return createInstalledForge({ ...shared, app, installationId });
  if (githubToken !== '') return createGithubForge({ ...options, token: githubToken });
  return githubUsername === '' ? undefined : createGithubPublicForge({ ...options, username: githubUsername });
}
