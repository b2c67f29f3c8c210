import type { Person } from '../../../src/accounts/people.js';
import { createDashboardClient } from '../../../src/generated/dashboard/client.js';
import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import type { DocumentedOperation } from '../contract.js';
import { ORIGIN, startContractServer } from '../contract-server.js';
import type { ContractServer, ContractServerOptions } from '../contract-server.js';
import { createWitness } from '../witness.js';
import type { Witness } from '../witness.js';

/** Who a client says it is: by token, or, like a page of ours, by cookie. */
export interface Credential {
  readonly token?: string;
  readonly cookie?: string;
}

export interface Member extends Credential {
  readonly person: Person;
  readonly cookie: string;
}

/** Changes an example request into another. */
export interface Change {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, instead of the example's body. */
  readonly text?: string;
}

/** A server with an admin, the clients that ask it, and who sees what it answers. */
export interface Stage {
  readonly server: ContractServer;
  readonly admin: Member;
  /** Somebody who is on it for the first time, with a name of their own. */
  newPerson(): Promise<Member>;
  client(credential?: Credential): DashboardClient;
  /** Sends an operation's example request. */
  send(operation: DocumentedOperation, credential: Credential, change?: Change): Promise<Answer>;
}

const NOBODY: Member = {
  person: { id: '', username: '', displayName: '', isAdmin: false, createdAt: new Date(0) },
  cookie: '',
};

export interface Answer {
  readonly response: Response;
  readonly error?: { readonly code: string; readonly field?: string };
}

/** The one witness of all stages, which at the end has to have seen everything. */
export const witness: Witness = createWitness();

/** Without an account, unless somebody is to be its admin. */
interface StageOptions extends ContractServerOptions {
  readonly isEmpty?: true;
}

export async function openStage({ isEmpty, ...options }: StageOptions = {}): Promise<Stage> {
  const server = await startContractServer(options);
  const admin = isEmpty ? NOBODY : await server.addPerson('root');
  let people = 0;
  const client = (credential: Credential = {}) => createClient(server, credential);
  return {
    server,
    admin,
    client,
    newPerson: () => server.addPerson(`person-${(people += 1)}`),
    async send({ spec, example }, credential, { path, query, headers, text } = {}) {
      const params = { path: { ...example.params.path, ...path }, query: { ...example.params.query, ...query } };
      const body = text === undefined ? { body: example.body } : { body: text, bodySerializer: (sent: string) => sent };
      const init = { params, headers: { 'content-type': 'application/json', ...headers }, ...body, parseAs: 'stream' };
      // The example fits the operation, which no type can know.
      const { request } = client(credential) as unknown as { request: Send };
      const { response, data, error } = await request(
        spec.method,
        spec.path,
        spec.body === undefined ? without(init) : init,
      );
      await data?.cancel();
      return { response, error: error as Answer['error'] };
    },
  };
}

type Send = (method: string, path: string, init: object) => Promise<Sent>;

interface Sent {
  readonly response: Response;
  readonly data?: ReadableStream | null;
  readonly error?: unknown;
}

/** The request of an operation that takes no body has neither one nor a type for it. */
function without({ params, parseAs, headers }: { params: object; parseAs: string; headers: Record<string, string> }) {
  const { 'content-type': type, ...others } = headers;
  return { params, parseAs, headers: type === 'application/json' ? others : headers };
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
