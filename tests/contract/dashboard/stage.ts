import type { Person } from '../../../src/accounts/people.js';
import { createDashboardClient } from '../../../src/generated/dashboard/client.js';
import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { dashboardContract } from '../contract.js';
import type { DocumentedOperation } from '../contract.js';
import { ORIGIN, startContractServer } from '../contract-server.js';
import type { ContractServer, ContractServerOptions } from '../contract-server.js';
import { sendExample } from '../send-example.js';
import type { Answer, Change } from '../send-example.js';
import { createWitness } from '../witness.js';
import type { Witness } from '../witness.js';

export type { Answer, Change };

/** The credential of a client: a token, or a cookie as in the pages. */
export interface Credential {
  readonly token?: string;
  readonly cookie?: string;
}

export interface Member extends Credential {
  readonly person: Person;
  readonly cookie: string;
}

/** A server with an admin, and clients whose responses are checked against the contract. */
export interface Stage {
  readonly server: ContractServer;
  readonly admin: Member;
  /** Creates a user with a new username. */
  newPerson(): Promise<Member>;
  client(credential?: Credential): DashboardClient;
  /** Sends an operation's example request. */
  send(operation: DocumentedOperation, credential: Credential, change?: Change): Promise<Answer>;
}

const NO_ADMIN: Member = {
  person: { id: '', username: '', displayName: '', isAdmin: false, createdAt: new Date(0) },
  cookie: '',
};

/** The witness of all stages, which records every response. */
export const witness: Witness = createWitness(dashboardContract);

interface StageOptions extends ContractServerOptions {
  /** Starts the server without any account. */
  readonly isEmpty?: true;
}

export async function openStage({ isEmpty, ...options }: StageOptions = {}): Promise<Stage> {
  const server = await startContractServer(options);
  const admin = isEmpty ? NO_ADMIN : await server.addPerson('root');
  let people = 0;
  const client = (credential: Credential = {}) => createClient(server, credential);
  return {
    server,
    admin,
    client,
    newPerson: () => server.addPerson(`person-${(people += 1)}`),
    send: (operation, credential, change) => sendExample(client(credential), operation, change),
  };
}

function createClient(server: ContractServer, { token = '', cookie }: Credential): DashboardClient {
  return createDashboardClient(server.url, {
    token,
    retry: { maxRetries: 0 },
    fetch: (request) => {
      if (cookie !== undefined) request.headers.set('cookie', cookie);
      if (cookie !== undefined && !request.headers.has('origin')) request.headers.set('origin', ORIGIN);
      return witness.fetch(request);
    },
  });
}
