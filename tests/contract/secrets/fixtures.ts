import type { User } from '../../../src/accounts/users.js';
import { createSecretsClient, type SecretsClient } from '../../../src/generated/secrets/client.js';
import type { components } from '../../../src/generated/secrets/types.js';
import { ageValue } from '../../secrets/age-files.js';
import { ORIGIN, startContractServer, type ContractServer, type ContractServerOptions } from '../contract-server.js';
import { secretsContract, type DocumentedOperation } from '../contract.js';
import { createResponseRecorder, type ResponseRecorder } from '../response-recorder.js';
import { sendExample, type ExampleResponse, type RequestChange } from '../send-example.js';

/** The credential of a client: a token, or a cookie as the pages send it. */
export interface Credential {
  readonly token?: string;
  readonly cookie?: string;
}

export interface Member extends Credential {
  readonly person: User;
  readonly cookie: string;
}

/** The fields of a request body that differ from the minimum. */
export interface ObjectBody {
  readonly slug?: string;
  readonly value?: string;
  readonly used_by?: string[];
  readonly tags?: string[];
  readonly description?: string;
  readonly keep_readable_copy?: boolean;
  readonly rotate_after_days?: number | null;
  readonly recipients?: string[];
}

/** A server with an owner of the secrets, and clients whose responses are validated. */
export interface Stage {
  readonly server: ContractServer;
  /** The owner with a session. */
  readonly owner: Member;
  /** The owner's write token. */
  readonly token: string;
  /** Creates a client; by default it sends the write token. */
  client(credential?: Credential): SecretsClient;
  /** Creates a token for a consumer. */
  consumerToken(consumer: string): Promise<string>;
  /** Adds a user who doesn't own the secrets. */
  addStranger(): Promise<Member>;
  /** Returns an unused slug. */
  newSlug(): string;
  /** Creates a secret, by default with an unused slug. */
  addObject(object?: ObjectBody): Promise<components['schemas']['ObjectMetadata']>;
  /** Sends an operation's example request. */
  send(operation: DocumentedOperation, credential: Credential, change?: RequestChange): Promise<ExampleResponse>;
}

/** Records the responses of all stages. The last test checks that all documented responses occurred. */
export const recorder: ResponseRecorder = createResponseRecorder(secretsContract);

const NO_OWNER: Member = {
  person: { id: '', username: '', displayName: '', isAdmin: false, createdAt: new Date(0) },
  cookie: '',
};

interface StageOptions extends ContractServerOptions {
  /** Creates no account; by default the stage has an owner. */
  readonly isEmpty?: true;
}

export async function openStage({ isEmpty, ...options }: StageOptions = {}): Promise<Stage> {
  const server = await startContractServer(options);
  const owner = isEmpty ? NO_OWNER : await server.addPerson('ada');
  const token = isEmpty ? '' : await server.issueToken('write', owner.person);
  let count = 0;
  const newSlug = (): string => `object-${(count += 1)}`;
  const client = (credential: Credential = { token }) => createClient(server, credential);
  return {
    server,
    owner,
    token,
    client,
    newSlug,
    async consumerToken(consumer) {
      const { data } = await client().POST('/consumer-tokens', { body: { consumer, description: consumer } });
      return data!.value;
    },
    addStranger: () => server.addPerson(`person-${(count += 1)}`),
    async addObject(object) {
      const body = { slug: newSlug(), value: ageValue(), ...object };
      const { data } = await client().POST('/objects', { body });
      return data!;
    },
    send: (operation, credential, change) => sendExample(client(credential), operation, change),
  };
}

function createClient(server: ContractServer, { token = '', cookie }: Credential): SecretsClient {
  return createSecretsClient(`${server.url}/secrets`, {
    token,
    retry: { maxRetries: 0 },
    fetch: (request) => {
      if (cookie !== undefined) request.headers.set('cookie', cookie);
      if (cookie !== undefined && !request.headers.has('origin')) request.headers.set('origin', ORIGIN);
      return recorder.fetch(request);
    },
  });
}
