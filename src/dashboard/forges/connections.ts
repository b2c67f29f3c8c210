/** The credentials of a user: the one of each forge in the settings, and further ones. */
import type { ForgeSettings } from '../settings/forge-settings.js';
import { ForgeError } from './forge-error.js';
import type { BotReply, Forge, ForgeName } from './forge.js';
import { toGithubApiUrl } from './github/requests.js';

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
export function joinConnections(first: OpenConnection, more: readonly OpenConnection[], find: FindConnection): Forge {
  const connections = [first, ...more];

  async function withPermission<T>(fullName: string, act: (client: Forge) => Promise<T>): Promise<T> {
    const id = await find(connections, fullName);
    const chosen = connections.find((one) => one.id === id) ?? first;
    const others = connections.filter((one) => one !== chosen && isSameServer(one, chosen));
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
    act: (target, action) => withPermission(target.fullName, (client) => client.act(target, action)),
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
