/** The services from which programs in AWS get the credentials of their roles. They refuse what the real ones refuse. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface FakeRoles {
  readonly origin: string;
  /** The targets of all requests. */
  readonly requests: string[];
  /** How long new credentials are valid, in milliseconds. */
  lifetimeMs: number;
  /** The status of all responses; the real one if absent. */
  status: number | undefined;
  /** Whether the machine has a role. */
  hasRole: boolean;
  close(): Promise<void>;
}

export const CONTAINER_TOKEN = 'token of the container';
export const WEB_TOKEN = 'header.claims.signature';
export const ROLE = 'arn:aws:iam::123456789012:role/trellis';

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Starts the metadata service of EC2, the credentials of a container at `/container`, and STS at `/sts`. */
export async function startRoles(): Promise<FakeRoles> {
  let count = 0;
  const sessions = new Set<string>();
  const issue = () => {
    count += 1;
    return {
      AccessKeyId: `ASIA${count}`,
      SecretAccessKey: `secret/${count}`,
      Token: `session&${count}`,
      Expiration: new Date(Date.now() + roles.lifetimeMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
  };

  /** @see https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html */
  function answerMachine({ method, url = '', headers }: IncomingMessage): Reply {
    if (url === '/latest/api/token') {
      const seconds = Number(headers['x-aws-ec2-metadata-token-ttl-seconds']);
      if (headers['x-forwarded-for'] !== undefined) return { status: 403, body: '' };
      if (method !== 'PUT' || !(seconds >= 1 && seconds <= 21_600)) return { status: 400, body: '' };
      const session = `session-${sessions.size}==`;
      sessions.add(session);
      return { status: 200, body: session };
    }
    if (!sessions.has(String(headers['x-aws-ec2-metadata-token']))) return { status: 401, body: '' };
    if (roles.hasRole && url === '/latest/meta-data/iam/security-credentials/') return { status: 200, body: 'trellis' };
    if (!roles.hasRole || url !== '/latest/meta-data/iam/security-credentials/trellis')
      return { status: 404, body: '' };
    const dates = { LastUpdated: new Date().toISOString() };
    return { status: 200, body: JSON.stringify({ Code: 'Success', Type: 'AWS-HMAC', ...dates, ...issue() }) };
  }

  function answerContainer({ headers }: IncomingMessage): Reply {
    if (headers.authorization !== CONTAINER_TOKEN) return { status: 401, body: '{"Code":"AccessDenied"}' };
    return { status: 200, body: JSON.stringify({ RoleArn: ROLE, ...issue() }) };
  }

  /** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
  async function answerSts(request: IncomingMessage): Promise<Reply> {
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
    const form = new URLSearchParams(isForm ? await text(request) : '');
    const refuse = (code: string): Reply => ({
      status: 400,
      body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>No.</Message></Error></ErrorResponse>`,
    });
    if (form.get('Action') !== 'AssumeRoleWithWebIdentity' || form.get('Version') !== '2011-06-15')
      return refuse('InvalidAction');
    if (!/^[\w+=,.@-]{2,64}$/.test(form.get('RoleSessionName') ?? '')) return refuse('ValidationError');
    if (form.get('RoleArn') !== ROLE) return refuse('AccessDenied');
    if (form.get('WebIdentityToken') !== WEB_TOKEN) return refuse('InvalidIdentityToken');
    const { Token, Expiration, ...keys } = issue();
    const fields = Object.entries({ ...keys, SessionToken: Token.replace('&', '&amp;'), Expiration });
    const credentials = fields.map(([name, value]) => `<${name}>${value}</${name}>`).join('');
    const result = `<AssumeRoleWithWebIdentityResult><Credentials>${credentials}</Credentials></AssumeRoleWithWebIdentityResult>`;
    return {
      status: 200,
      body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleWithWebIdentityResponse>`,
    };
  }

  const server: Server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    roles.requests.push(`${method} ${url}`);
    void (async () => {
      const real = url.startsWith('/sts')
        ? await answerSts(request)
        : url.startsWith('/container')
          ? answerContainer(request)
          : answerMachine(request);
      response.writeHead(roles.status ?? real.status).end(real.body);
    })();
  });
  const roles: FakeRoles = {
    origin: '',
    requests: [],
    lifetimeMs: 3_600_000,
    status: undefined,
    hasRole: true,
    async close() {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return Object.assign(roles, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
