import type { User } from '../../../src/accounts/users.js';
import { createDashboardClient, type DashboardClient } from '../../../src/generated/dashboard/client.js';
import { ORIGIN, startContractServer, type ContractServer, type ContractServerOptions } from '../contract-server.js';
import { dashboardContract, type DocumentedOperation } from '../contract.js';
import { createResponseRecorder, type ResponseRecorder } from '../response-recorder.js';
import { sendExample, type ExampleResponse, type RequestChange } from '../send-example.js';

export type { ExampleResponse, RequestChange };

/** The credential of a client: a token, or a cookie as in the pages. */
export interface Credential {
  readonly token?: string;
  readonly cookie?: string;
}

export interface Member extends Credential {
  readonly person: User;
  readonly cookie: string;
}

/** A server with an admin, and clients whose responses are checked against the contract. */
export interface Stage {
  readonly server: ContractServer;
  readonly admin: Member;
  /** Creates a user with a new username. */
  addUser(): Promise<Member>;
  client(credential?: Credential): DashboardClient;
  /** Sends an operation's example request. */
  send(operation: DocumentedOperation, credential: Credential, change?: RequestChange): Promise<ExampleResponse>;
}

const NO_ADMIN: Member = {
  person: { id: '', username: '', displayName: '', isAdmin: false, createdAt: new Date(0) },
  cookie: '',
};

/** The witness of all stages, which records every response. */
export const witness: ResponseRecorder = createResponseRecorder(dashboardContract);

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
    addUser: () => server.addPerson(`person-${(people += 1)}`),
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
