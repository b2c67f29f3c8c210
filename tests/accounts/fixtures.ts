import { ORIGIN, startContractServer, type ContractServer } from '../contract/contract-server.js';
import { Visitor, type Reply } from './visitor.js';

/** A server with two users: Ada, the admin, who used the setup link, and Bob, who used an invitation. */
export interface Stage {
  readonly server: ContractServer;
  /** The bodies of all responses to all visitors. */
  readonly heard: readonly string[];
  /** The secret of the used setup link. */
  readonly setup: string;
  readonly ada: Visitor;
  readonly bob: Visitor;
  /** Creates a browser that isn't signed in, on a page of `origin` (by default the server's). */
  visitor(origin?: string): Visitor;
  /** Creates an invitation as Ada. @returns the secret of the link. */
  invite(username: string): Promise<string>;
  makeToken(owner: Visitor, headers?: Record<string, string>): Promise<{ readonly id: string; readonly token: string }>;
  /** Makes all rows of a table expire. */
  expire(table: 'challenges' | 'invitations' | 'sessions' | 'tokens'): Promise<unknown>;
}

export async function openStage(): Promise<Stage> {
  const heard: string[] = [];
  const server = await startContractServer();
  const visitor = (origin = ORIGIN) => new Visitor({ url: server.url, origin, heard });
  const [ada, bob] = [visitor(), visitor()];
  const invite = async (username: string) => {
    const { body } = await ada.send('POST', '/api/admin/invites', { username, displayName: username });
    return (body as { token: string }).token;
  };
  const setup = (await server.accounts.setupLink.create())!;
  await assertRegistered(ada.register('ada', setup));
  await assertRegistered(bob.register('bob', await invite('bob')));
  return {
    server,
    heard,
    setup,
    ada,
    bob,
    visitor,
    invite,
    async makeToken(owner, headers) {
      const { body } = await owner.send('POST', '/api/tokens', { label: 'x', expiresAt: inDays(1) }, headers);
      return body as { id: string; token: string };
    },
    expire: (table) => server.database.updateTable(table).set({ expires_at: Date.now() }).execute(),
  };
}

export async function assertRegistered(registration: Promise<Reply>): Promise<void> {
  const { status, body } = await registration;
  if (status !== 200) throw new Error(`Registration failed: ${status} ${JSON.stringify(body)}.`);
}

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

/** Returns the status and the error code of a response. */
export const toStatusAndCode = ({ status, body }: Reply): unknown[] => [
  status,
  (body as { code?: string } | undefined)?.code,
];
