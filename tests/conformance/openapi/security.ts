import type { Exchange, Row } from '../row.js';

const section = 'Security';

/** Writes a contract with one operation, its security, and the schemes. */
const withSecurity = (security: string, schemes: string): string => `paths:
  /items:
    get:
      operationId: getItems
      tags: [Items]
      summary: Get items
      security: ${security}
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  securitySchemes:
    ${schemes}
`;

const get = (
  headers: Readonly<Record<string, string>>,
  rest: Omit<Exchange, 'request'>,
  target = '/items',
): Exchange => ({
  request: `GET ${target}`,
  headers,
  isRepeated: false,
  ...rest,
});

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

const refused = { status: 401, response: { code: 'unauthenticated' } } as const;

/** What the functions of the rows accept: the key `good`, the token `read-token` and the password `pass:word`. */
export const rows: readonly Row[] = [
  {
    section,
    feature: 'an API key in a header',
    note: 'Without `x-caller`, the name of the scheme is the kind of the caller.',
    outcome: 'supported',
    contract: withSecurity('[{ apiKey: [] }]', 'apiKey: { type: apiKey, in: header, name: X-API-Key }'),
    handlers: `  async getItems({ caller }) {
    const kind: 'apiKey' = caller.kind;
    return { status: 200, body: { kind, id: caller.id } };
  },`,
    exchanges: [
      get({ 'x-api-key': 'good' }, { status: 200, response: { kind: 'apiKey', id: 'good' } }),
      get({ 'x-api-key': 'bad' }, refused),
      get(
        {},
        {
          ...refused,
          responseHeaders: { 'www-authenticate': 'ApiKey realm="/api", in="header", name="X-API-Key"' },
        },
      ),
    ],
  },
  {
    section,
    feature: 'an API key in the query',
    outcome: 'supported',
    contract: withSecurity('[{ apiKey: [] }]', 'apiKey: { type: apiKey, in: query, name: key }'),
    exchanges: [
      get({}, { status: 200, response: { caller: { kind: 'apiKey', id: 'good' } } }, '/items?key=good'),
      get({}, refused, '/items?key=bad'),
      get({}, refused, '/items?key='),
    ],
  },
  {
    section,
    feature: 'an API key in a cookie',
    outcome: 'supported',
    contract: withSecurity('[{ apiKey: [] }]', 'apiKey: { type: apiKey, in: cookie, name: sid }'),
    exchanges: [
      get({ cookie: 'a=b; sid=good' }, { status: 200, response: { caller: { id: 'good' } } }),
      get({ cookie: 'sid=bad' }, refused),
      get({ cookie: 'a=b' }, refused),
    ],
  },
  {
    section,
    feature: 'HTTP basic',
    outcome: 'supported',
    contract: withSecurity('[{ basic: [] }]', 'basic: { type: http, scheme: basic }'),
    exchanges: [
      get(
        { authorization: basic('ada:pass:word') },
        { status: 200, response: { caller: { kind: 'basic', id: 'ada' } } },
      ),
      get({ authorization: basic('ada:wrong') }, refused),
      get({ authorization: 'Basic YWRh' }, refused),
      get({ authorization: 'Bearer read-token' }, refused),
      get({}, { ...refused, responseHeaders: { 'www-authenticate': 'Basic realm="/api", charset="UTF-8"' } }),
    ],
  },
  {
    section,
    feature: 'HTTP bearer',
    outcome: 'supported',
    contract: withSecurity('[{ bearer: [read] }]', 'bearer: { type: http, scheme: bearer }'),
    exchanges: [
      get({ authorization: 'bearer read-token' }, { status: 200, response: { caller: { scopes: ['read'] } } }),
      get({}, { ...refused, responseHeaders: { 'www-authenticate': 'Bearer realm="/api"' } }),
      get(
        { authorization: 'Bearer bad' },
        { ...refused, responseHeaders: { 'www-authenticate': 'Bearer realm="/api", error="invalid_token"' } },
      ),
    ],
  },
  {
    section,
    feature: 'OAuth2 scopes',
    note: 'The application authenticates the token; the scopes are checked from the contract.',
    outcome: 'supported',
    contract: withSecurity(
      '[{ oauth: [write] }]',
      `oauth:
      type: oauth2
      flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: Read., write: Write. } } }`,
    ),
    exchanges: [
      get({ authorization: 'Bearer write-token' }, { status: 200, response: { caller: { kind: 'oauth' } } }),
      get(
        { authorization: 'Bearer read-token' },
        {
          status: 403,
          response: { code: 'forbidden' },
          responseHeaders: { 'www-authenticate': 'Bearer realm="/api", error="insufficient_scope", scope="write"' },
        },
      ),
    ],
  },
  {
    section,
    feature: 'an OAuth2 scope that no flow declares',
    outcome: 'supported',
    note: 'A warning. Tokens need the scope, so a typo refuses all of them.',
    contract: withSecurity(
      '[{ oauth: [wrote] }]',
      `oauth:
      type: oauth2
      flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: Read., write: Write. } } }`,
    ),
    warnings: [
      '7:28 Expected a scope of the flows of "oauth"; received "wrote". Did you mean "write"?',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 401, 403, 406, 429, 500, 503.',
    ],
    exchanges: [get({ authorization: 'Bearer write-token' }, { status: 403, response: { code: 'forbidden' } })],
  },
  {
    section,
    feature: 'OpenID Connect scopes',
    outcome: 'supported',
    contract: withSecurity(
      '[{ oidc: [read] }]',
      'oidc: { type: openIdConnect, openIdConnectUrl: https://example.com/.well-known/openid-configuration }',
    ),
    exchanges: [
      get({ authorization: 'Bearer read-token' }, { status: 200, response: { caller: { kind: 'oidc' } } }),
      get({ authorization: 'Bearer write-token' }, { status: 403 }),
    ],
  },
  {
    section,
    feature: 'several schemes at once (AND)',
    note: 'The handler receives all of them in `callers`; `caller` is the first.',
    outcome: 'supported',
    contract: withSecurity(
      '[{ apiKey: [], bearer: [read] }]',
      `apiKey: { type: apiKey, in: header, name: X-API-Key }
    bearer: { type: http, scheme: bearer }`,
    ),
    handlers: `  getItems: async ({ caller, callers }) => ({
    status: 200,
    body: { first: caller.kind, ids: [callers.apiKey.id, callers.bearer.id] },
  }),`,
    exchanges: [
      get(
        { 'x-api-key': 'good', authorization: 'Bearer read-token' },
        { status: 200, response: { first: 'apiKey', ids: ['good', 'read-token'] } },
      ),
      get({ 'x-api-key': 'good' }, refused),
      get({ authorization: 'Bearer read-token' }, refused),
      get({ 'x-api-key': 'good', authorization: 'Bearer write-token' }, { status: 403 }),
    ],
  },
  {
    section,
    feature: 'alternatives (OR)',
    outcome: 'supported',
    contract: withSecurity(
      '[{ apiKey: [] }, { bearer: [write] }]',
      `apiKey: { type: apiKey, in: header, name: X-API-Key }
    bearer: { type: http, scheme: bearer }`,
    ),
    exchanges: [
      get({ 'x-api-key': 'good' }, { status: 200, response: { caller: { kind: 'apiKey' } } }),
      get({ authorization: 'Bearer write-token' }, { status: 200, response: { caller: { kind: 'bearer' } } }),
      get(
        { 'x-api-key': 'bad', authorization: 'Bearer write-token' },
        { status: 200, response: { caller: { kind: 'bearer' } } },
      ),
      get({ authorization: 'Bearer read-token' }, { status: 403 }),
      get({}, refused),
    ],
  },
  {
    section,
    feature: 'an optional credential',
    outcome: 'supported',
    contract: withSecurity('[{ apiKey: [] }, {}]', 'apiKey: { type: apiKey, in: header, name: X-API-Key }'),
    handlers: `  getItems: async ({ caller }) => ({ status: 200, body: { id: caller?.id ?? null } }),`,
    exchanges: [
      get({ 'x-api-key': 'good' }, { status: 200, response: { id: 'good' } }),
      get({}, { status: 200, response: { id: null } }),
      get({ 'x-api-key': 'bad' }, { status: 200, response: { id: null } }),
    ],
  },
  {
    section,
    feature: 'x-caller',
    note: 'The kind of the callers, whose type the application declares.',
    outcome: 'supported',
    contract: withSecurity('[{ bearer: [] }]', 'bearer: { type: http, scheme: bearer, x-caller: token }'),
    exchanges: [get({ authorization: 'Bearer read-token' }, { status: 200, response: { caller: { kind: 'token' } } })],
  },
  {
    section,
    feature: 'mutualTLS',
    outcome: 'refused',
    contract: withSecurity('[{ tls: [] }]', 'tls: { type: mutualTLS }'),
    errors: ['12:18 "mutualTLS" is not supported: the server speaks HTTP behind a proxy that ends TLS.'],
  },
  {
    section,
    feature: 'other HTTP authentication schemes',
    note: 'The function of the application receives the text after the name of the scheme. A warning.',
    outcome: 'supported',
    contract: withSecurity('[{ dsn: [] }]', 'dsn: { type: http, scheme: DSN }'),
    warnings: [
      '8:7 The operation does not declare these statuses, which the router can send: 400, 401, 403, 406, 429, 500, 503.',
      '12:32 Only basic and bearer are known HTTP authentication schemes. The application has to read the credential of "DSN".',
    ],
    exchanges: [
      get({ authorization: 'DSN good' }, { status: 200, response: { caller: { kind: 'dsn' } } }),
      get(
        { authorization: 'Bearer good' },
        { ...refused, responseHeaders: { 'www-authenticate': 'dsn realm="/api"' } },
      ),
    ],
  },
  {
    section,
    feature: 'an API key without a place',
    outcome: 'refused',
    contract: withSecurity('[{ apiKey: [] }]', 'apiKey: { type: apiKey, name: key }'),
    errors: ['12:5 The required field in is missing in this security scheme of type apiKey.'],
  },
  {
    section,
    feature: 'an unknown scheme',
    outcome: 'refused',
    contract: withSecurity('[{ apiKeys: [] }]', 'apiKey: { type: apiKey, in: query, name: key }'),
    errors: [`7:20 Expected one of the contract's security schemes; received "apiKeys". Did you mean "apiKey"?`],
  },
];
