/** The credentials of a user (the one of each forge in the settings, and further ones), and their clients. */
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import type { RequestLog } from '../request-log.js';
import { type ForgeSettings, NO_FORGES, type StoredCredential } from '../settings/settings-rows.js';
import type { Settings } from '../settings/settings.js';
import { ForgeError } from './forge-error.js';
import { type Forge, FORGE_PRODUCT_NAMES, type ForgeName, splitRepositoryName, type BotReply } from './forge.js';
import { createForgejoForge } from './forgejo/forgejo-forge.js';
import type { GithubApp } from './github/access.js';
import { createAnonymousGithubForge } from './github/anonymous-forge.js';
import { createGithubForge, createInstallationForge } from './github/github-forge.js';
import { toGithubApiUrl } from './github/requests.js';
import { createGitlabForge } from './gitlab/gitlab-forge.js';
import { createAddressPolicy, createAgent } from './http/fetch-response.js';
import { createEtagCache, type ForgeRequestsOptions } from './http/requests.js';
import { isSame } from './sections.js';

/** The forge clients of all users, with the cached responses, API quotas and rate limit pauses of each credential. */
export interface ForgeClients {
  /** Returns clients for the forges that a user has credentials for. Reuses them until the settings change. */
  of(personId: string): Promise<ReadonlyMap<ForgeName, Forge>>;
  /** Returns a user's credentials with their clients, in the order of a board. */
  listConnections(personId: string): Promise<readonly OpenConnection[]>;
  /** Creates clients for settings that are not saved. */
  open(settings: ForgeSettings): ReadonlyMap<ForgeName, Forge>;
  /** Creates a client for a test of a credential. */
  openCredential(credential: StoredCredential): Forge;
  /** Removes the cached clients of a user. */
  forget(personId: string): void;
}

export interface ForgeClientsOptions {
  readonly settings: Pick<Settings, 'findForges'>;
  /** Writes to the request log. */
  readonly record: RequestLog['record'];
  /** Finds the credential that reads a repository. By default, none is known. */
  readonly findConnection?: (personId: string, ...args: Parameters<FindConnection>) => ReturnType<FindConnection>;
  /** The GitHub App of this server, if it has one. */
  readonly app?: GithubApp;
  /** Private addresses that requests may connect to. @see AddressPolicyOptions.allow */
  readonly allow?: readonly string[];
  readonly now?: () => number;
}

/**
 * Each user's clients need at most about 2 MB, for 5,000 reviews or 2,000 repositories. Cached responses have a separate
 * limit for all users.
 */
const MAX_PEOPLE = 500;

/** Short, as a user waits for the result of a connection test. */
const TEST_TIMEOUT_MS = 10_000;

/** A client, and the settings that it was created from. */
interface CachedClient {
  readonly settings: string;
  readonly client: Forge | undefined;
}

type CachedClients = ReadonlyMap<string, CachedClient>;

export function createForgeClients({
  settings,
  record,
  findConnection = async () => undefined,
  app,
  allow = [],
  now,
}: ForgeClientsOptions): ForgeClients {
  const cache = new LRUCache<string, CachedClients>({ max: MAX_PEOPLE });
  const shared: ForgeRequestsOptions = {
    agent: createAgent(createAddressPolicy({ allow: [...allow, ...hostsOf(app)] })),
    now,
    answers: createEtagCache(),
    // A failure of the log must not fail the request.
    record: (request) => record(request).catch(() => undefined),
  };
  const testing: OpenOptions = { app, shared: { ...shared, timeoutMs: TEST_TIMEOUT_MS } };

  /** Keeps the clients of credentials that have not changed, because they know their quotas and pauses. */
  async function listOpen(personId: string): Promise<readonly OpenConnection[]> {
    // Read each time, as another process may have saved new settings.
    const found = await settings.findForges(personId);
    if (found === undefined) return [];
    const known = cache.get(personId);
    const clients = new Map<string, CachedClient>();
    const connections = listConnections(found);
    for (const connection of connections) {
      const own = toOwnSettings(found, connection);
      const text = JSON.stringify(own);
      const before = known?.get(connection.id);
      clients.set(
        connection.id,
        before?.settings === text
          ? before
          : { settings: text, client: openForge(own, connection.forge, { app, shared }) },
      );
    }
    cache.set(personId, clients);
    return connections.flatMap((connection) => {
      const client = clients.get(connection.id)?.client;
      return client === undefined ? [] : [{ ...connection, client }];
    });
  }

  return {
    async of(personId) {
      const connections = await listOpen(personId);
      const find: FindConnection = (among, fullName) => findConnection(personId, among, fullName);
      const joined = new Map<ForgeName, Forge>();
      for (const one of connections) {
        const more = connections.filter(({ forge, id }) => forge === one.forge && id !== one.id);
        if (!joined.has(one.forge))
          joined.set(one.forge, more.length === 0 ? one.client : joinConnections(one, more, find));
      }
      return joined;
    },
    listConnections: listOpen,
    open(found) {
      const clients = listConnections({ ...found, credentials: [] }).flatMap(
        ({ forge }) => openForge(found, forge, testing) ?? [],
      );
      return new Map(clients.map((client) => [client.name, client]));
    },
    openCredential(credential) {
      const client = openForge(toCredentialSettings(credential), credential.forge, testing);
      if (client === undefined) throw new Error('A credential always has a token.');
      return client;
    },
    forget: (personId) => void cache.delete(personId),
  };
}

/** Returns the settings that one credential depends on, as if it were the only one of its kind. */
function toOwnSettings(settings: ForgeSettings, { id, forge }: ForgeConnection): ForgeSettings {
  const { renovateRebaseLabel } = settings;
  const further = settings.credentials?.find((one) => one.id === id);
  if (further !== undefined) return { ...toCredentialSettings(further), renovateRebaseLabel };
  const installation = forge === 'github' ? settings.githubAppInstallationId : 0;
  const names = [`${forge}Url`, `${forge}Username`, `${forge}Token`] as const;
  const own = Object.fromEntries(names.map((name) => [name, settings[name]]));
  return { ...NO_FORGES, ...own, githubAppInstallationId: installation, renovateRebaseLabel };
}

function toCredentialSettings({ forge, url, username, token }: StoredCredential): ForgeSettings {
  return { ...NO_FORGES, [`${forge}Url`]: url, [`${forge}Username`]: username, [`${forge}Token`]: token };
}

/** @throws AppError `invalid_input` for the field if the user has no credential for the forge. */
export function requireForge(forges: ReadonlyMap<ForgeName, Forge>, name: ForgeName, field = 'forge'): Forge {
  const forge = forges.get(name);
  if (forge !== undefined) return forge;
  throw new AppError('invalid_input', `No ${FORGE_PRODUCT_NAMES[name]} token or username is configured.`, { field });
}

/**
 * Returns the forge of a repository.
 *
 * @throws AppError `invalid_input` as {@link requireForge}, and for a name that no repository of the forge can have.
 */
export function requireForgeOf(
  forges: ReadonlyMap<ForgeName, Forge>,
  { forge: name, fullName }: { readonly forge: ForgeName; readonly fullName: string },
): Forge {
  const forge = requireForge(forges, name);
  assertRepositoryName(name, fullName);
  return forge;
}

/** @throws AppError `invalid_input` for a name that no repository of the forge can have. */
export function assertRepositoryName(forge: ForgeName, fullName: string): void {
  if (forge === 'gitlab' || splitRepositoryName(fullName) !== undefined) return;
  const message = `Expected fullName to be an owner and a name, such as acme/shop; received "${fullName}". Only GitLab has nested groups.`;
  throw new AppError('invalid_input', message, { field: 'fullName' });
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

function openForge(settings: ForgeSettings, forge: ForgeName, { app, shared }: OpenOptions): Forge | undefined {
  const { forgejoUrl, forgejoToken, gitlabUrl, gitlabToken } = settings;
  const options = {
    ...shared,
    account: settings[`${forge}Username`] || undefined,
    rebaseLabel: settings.renovateRebaseLabel || undefined,
  };
  if (forge === 'github') return openGithub(settings, app, options);
  if (forge === 'forgejo') {
    return forgejoToken === ''
      ? undefined
      : createForgejoForge({ ...options, baseUrl: forgejoUrl, token: forgejoToken });
  }
  return gitlabToken === '' ? undefined : createGitlabForge({ ...options, baseUrl: gitlabUrl, token: gitlabToken });
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

/** A credential, without its token. */
export interface ForgeConnection {
  /** The name of the forge for the credential in the settings, else the id of the credential. */
  readonly id: string;
  readonly forge: ForgeName;
  /** Absent for the credential in the settings. */
  readonly label?: string;
  /** Empty for github.com. */
  readonly url: string;
  /** Empty if the user has not entered one. */
  readonly username: string;
}

/** Forges in the order of a board. */
const FORGE_ORDER: readonly ForgeName[] = ['github', 'forgejo', 'gitlab'];

/** Lists the credentials in the order of a board, whether or not those in the settings are set. */
export function listConnections(settings: ForgeSettings): ForgeConnection[] {
  return FORGE_ORDER.flatMap((forge) => {
    const own = { id: forge, forge, url: settings[`${forge}Url`], username: settings[`${forge}Username`] };
    const further = (settings.credentials ?? []).filter((one) => one.forge === forge);
    return [own, ...further.map(({ id, label, url, username }) => ({ id, forge, label, url, username }))];
  });
}

/** Reports whether two credentials are for the same server. */
export function isSameServer(one: ForgeConnection, other: ForgeConnection): boolean {
  return one.forge === other.forge && toServer(one) === toServer(other);
}

/** A review has an author, and GitLab rejects a second approval by the same user with 401, like a missing permission. */
const isSameUser = (one: ForgeConnection, other: ForgeConnection): boolean =>
  isSameServer(one, other) && isSame(one.username, other.username);

const toServer = ({ forge, url }: ForgeConnection): string => (forge === 'github' ? toGithubApiUrl(url) : url);

/** A credential with its client. */
export interface OpenConnection extends ForgeConnection {
  readonly client: Forge;
}

/** Finds the credential that reads a repository. @returns Its id; `undefined` if none does. */
export type FindConnection = (connections: readonly ForgeConnection[], fullName: string) => Promise<string | undefined>;

/**
 * Joins the credentials for one kind of forge to one client, for actions and single reads. Each call uses the credential
 * that reads the repository, or the first one for repositories that none reads. If the forge refuses it for a missing
 * permission, the other credentials for the same server are tried, as a token may be limited to one owner.
 */
function joinConnections(first: OpenConnection, more: readonly OpenConnection[], find: FindConnection): Forge {
  const connections = [first, ...more];

  async function withPermission<T>(
    fullName: string,
    act: (client: Forge) => Promise<T>,
    mayReplace: typeof isSameServer = isSameServer,
  ): Promise<T> {
    const id = await find(connections, fullName);
    const chosen = connections.find((one) => one.id === id) ?? first;
    const others = connections.filter((one) => one !== chosen && mayReplace(one, chosen));
    try {
      return await act(chosen.client);
    } catch (error) {
      for (const { client } of isOfPermission(error) ? others : []) {
        try {
          return await act(client);
        } catch (other) {
          if (!isOfPermission(other)) throw other;
        }
      }
      throw error;
    }
  }

  const clients = connections.map(({ client }) => client);
  return {
    name: first.forge,
    actions: [...new Set(clients.flatMap(({ actions }) => actions))],
    quotas: first.client.quotas,
    discover: async () => (await Promise.all(clients.map((client) => client.discover()))).flat(),
    inspect: () => first.client.inspect(),
    read: (repositories) => first.client.read(repositories),
    readRepository: (fullName) => withPermission(fullName, (client) => client.readRepository(fullName)),
    readState: (target) => withPermission(target.fullName, (client) => client.readState(target)),
    details: (target) => withPermission(target.fullName, (client) => client.details(target)),
    checks: (target) => withPermission(target.fullName, (client) => client.checks(target)),
    act: (target, action) =>
      withPermission(
        target.fullName,
        (client) => client.act(target, action),
        action === 'review' ? isSameUser : isSameServer,
      ),
    readReplies: (comments) => readAllReplies(clients, comments),
    ensureWebhook: (fullName, hook) => withPermission(fullName, (client) => client.ensureWebhook(fullName, hook)),
  };
}

/** The forge has not performed the action then. @see Forge.act */
const isOfPermission = (error: unknown): boolean => error instanceof ForgeError && error.kind === 'unauthorized';

/** Asks every server, as a comment id does not tell its server. */
async function readAllReplies(clients: readonly Forge[], comments: readonly string[]): Promise<Map<string, BotReply>> {
  const replies = new Map<string, BotReply>();
  const errors: unknown[] = [];
  for (const { readReplies } of clients) {
    const found = await readReplies?.(comments).catch((error: unknown) => void errors.push(error));
    for (const [id, reply] of found ?? []) replies.set(id, reply);
  }
  if (replies.size === 0 && errors.length > 0) throw errors[0];
  return replies;
}
