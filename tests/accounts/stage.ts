import { ORIGIN, startContractServer } from '../contract/contract-server.js';
import type { ContractServer } from '../contract/contract-server.js';
import { Visitor } from './visitor.js';
import type { Reply } from './visitor.js';

/** A server with two people: ada, the admin, who came by the setup link, and bob, whom she invited. */
export interface Stage {
  readonly server: ContractServer;
  /** Everything that any visitor was answered, as text. */
  readonly heard: readonly string[];
  /** The secret of the setup link, which is used up. */
  readonly setup: string;
  readonly ada: Visitor;
  readonly bob: Visitor;
  /** A browser of nobody, at our page or another's. */
  visitor(origin?: string): Visitor;
  /** Ada invites; gives the secret of the link. */
  invite(username: string): Promise<string>;
  makeToken(owner: Visitor, headers?: Record<string, string>): Promise<{ readonly id: string; readonly token: string }>;
  /** Lets time pass for what a table holds. */
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
  await requireIn(ada.register('ada', setup));
  await requireIn(bob.register('bob', await invite('bob')));
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

async function requireIn(registering: Promise<Reply>): Promise<void> {
  const { status, body } = await registering;
  if (status !== 200) throw new Error(`Expected an account; the answer is ${status} ${JSON.stringify(body)}.`);
}

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

/** What tells one refusal from another. */
export const codeOf = ({ status, body }: Reply): unknown[] => [status, (body as { code?: string } | undefined)?.code];
