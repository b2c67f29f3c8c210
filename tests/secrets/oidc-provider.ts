/** An OpenID provider of others (oauth2-mock-server), which issues the tokens of workloads. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importFromTool } from '../../tools/install.js';

/** The claims of a token, and the key that signs it. */
export interface TokenRequest {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Members of the header; `undefined` removes one. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** By default the newest key. */
  readonly kid?: string;
}

interface Issuer {
  url: string;
  readonly keys: {
    generate(algorithm: string): Promise<{ readonly kid: string }>;
    toJSON(): Readonly<Record<string, unknown>>[];
  };
  buildToken(options: {
    readonly kid: string;
    readonly scopesOrTransform: (header: object, payload: Record<string, unknown>) => void;
  }): Promise<string>;
}

interface Tool {
  readonly OAuth2Issuer: new () => Issuer;
  readonly OAuth2Service: new (issuer: Issuer) => { readonly requestHandler: RequestListener };
}

const tool = (await importFromTool('tools/oidc', 'oauth2-mock-server')) as Tool;

export interface OidcProvider {
  /** The URL, which is the `iss` claim. */
  readonly issuer: string;
  /** The paths of the requests. */
  readonly requests: string[];
  /** Handles the next requests instead of the provider; `undefined` to remove it. */
  fault: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Adds a key, which signs from now on. */
  rotate(algorithm?: string): Promise<string>;
  /** Returns the published keys. */
  listKeys(): Readonly<Record<string, unknown>>[];
  /** Issues a token as GitHub Actions does, with other claims as given; `undefined` removes one. */
  issue(request?: TokenRequest): Promise<string>;
  close(): Promise<void>;
}

/** The audience of tokens, unless a test changes it. */
export const AUDIENCE = 'https://trellis.example.org/secrets';

/** The claims that GitHub documents for a job, shortened. */
const JOB = {
  sub: 'repo:acme/shop:ref:refs/heads/main',
  aud: AUDIENCE,
  repository: 'acme/shop',
  repository_owner: 'acme',
  ref: 'refs/heads/main',
  environment: 'production',
  run_attempt: '1',
};

export async function startOidcProvider(algorithm = 'RS256'): Promise<OidcProvider> {
  const issuer = new tool.OAuth2Issuer();
  const { requestHandler } = new tool.OAuth2Service(issuer);
  let { kid: newest } = await issuer.keys.generate(algorithm);
  let count = 0;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (provider.fault) provider.fault(request, response);
    else requestHandler(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: OidcProvider = {
    issuer: issuer.url,
    requests,
    fault: undefined,
    async rotate(other = algorithm) {
      ({ kid: newest } = await issuer.keys.generate(other));
      return newest;
    },
    listKeys: () => issuer.keys.toJSON(),
    issue({ claims = {}, header: members = {}, kid = newest } = {}) {
      const change = (header: object, payload: Record<string, unknown>): void => {
        Object.assign(header, members);
        // JSON has no undefined claims.
        Object.assign(payload, JOB, { jti: `job-${(count += 1)}` }, claims);
      };
      return issuer.buildToken({ kid, scopesOrTransform: change });
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}
