import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { createTokenCallers, serviceTokens } from '../../src/accounts/bearer-tokens.js';
import { createAddressPolicy, createAgent } from '../../src/dashboard/forges/http/fetch-response.js';
import { createDenialLog, type DenialLog } from '../../src/secrets/audit/denials.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { verifyAuditChain } from '../../src/secrets/audit/verify-chain.js';
import { createConsumerStore } from '../../src/secrets/consumers.js';
import {
  createWorkloadTokens,
  deleteExpiredWorkloadTokens,
  type WorkloadTokens,
} from '../../src/secrets/workload/exchange.js';
import { createIssuerKeys } from '../../src/secrets/workload/issuer-keys.js';
import { createWorkloadRules, type NewWorkloadRule, type WorkloadRules } from '../../src/secrets/workload/rules.js';
import { LOOPBACK } from '../forges/forge-server.js';
import { openFixtures, owner, script, type SecretsFixtures } from './fixtures.js';
import { AUDIENCE, type OidcProvider, startOidcProvider } from './oidc-provider.js';

let stage: SecretsFixtures;
let provider: OidcProvider;
let denials: DenialLog;
let rules: WorkloadRules;
let tokens: WorkloadTokens;

beforeEach(async () => {
  stage = await openFixtures();
  // Tokens of the provider have the time of this machine.
  stage.advance(Date.now() - stage.now());
  provider = await startOidcProvider();
  denials = createDenialLog(stage.database, { report: (error) => expect(error).toBeUndefined() });
  rules = createWorkloadRules(stage.database);
  tokens = openTokens({ cooldownMs: 0 });
});
afterEach(async () => {
  await denials.close();
  await provider.close();
  await stage.database.destroy();
});

function openTokens(options?: Parameters<typeof createIssuerKeys>[1], allow: readonly string[] = LOOPBACK) {
  const findKeys = createIssuerKeys(createAgent(createAddressPolicy({ allow })), options);
  return createWorkloadTokens(stage.database, { store: serviceTokens, findKeys, denials });
}

const put = (rule: Partial<NewWorkloadRule> = {}) =>
  rules.put(stage.from(owner), {
    ...{ name: 'shop', issuer: provider.issuer, audience: AUDIENCE, consumer: 'acme/shop' },
    claims: [{ name: 'repository', patterns: ['acme/shop'] }],
    ...rule,
  });

const exchange = (subjectToken: string, rule?: string) =>
  tokens.exchange({ ...stage.from(), caller: undefined }, { subjectToken, rule });

const findCaller = (token: string, at = stage.now(), address = '192.0.2.7') =>
  createTokenCallers(stage.database, ['write', 'consumer'])(token, { at, address });

async function listEntries() {
  await denials.flush();
  await sequenceAuditEntries(stage.database);
  const rows = await stage.database.selectFrom('audit_log').selectAll().orderBy('id').execute();
  return rows.map(({ action, subject_type: type, subject_id: id, detail }) => ({
    ...{ action, type, id },
    ...(JSON.parse(detail ?? '{}') as object),
  }));
}

describe('exchange', () => {
  test('issues a consumer token, which expires, and records issuer and subject', async () => {
    await put({ ttlSeconds: 120 });
    const issued = await exchange(await provider.issue());
    expect(issued).toEqual({ token: expect.stringMatching(/^trc_/) as string, rule: 'shop', expiresIn: 120 });
    const caller = await findCaller(issued.token);
    expect(caller).toMatchObject({ kind: 'consumer_token', consumer: 'acme/shop' });
    expect(await findCaller(issued.token, stage.now() + 119_999)).toBeDefined();
    expect(await findCaller(issued.token, stage.now() + 120_000)).toBeUndefined();
    const { tokenId } = caller as { tokenId: string };
    expect(await listEntries()).toEqual([
      { action: 'create', type: 'workload_rule', id: 'shop', issuer: provider.issuer },
      {
        ...{ action: 'create', type: 'consumer_token', id: tokenId },
        ...{ rule: 'shop', issuer: provider.issuer, subject: 'repo:acme/shop:ref:refs/heads/main' },
      },
    ]);
    expect(await verifyAuditChain(stage.database, {})).toMatchObject({ broken: undefined });
    expect((await rules.list(owner))[0]?.lastUsedAt).toEqual(new Date(stage.now()));
  });

  test('issues a write token with the limits of its rule', async () => {
    const access = { permissions: ['list', 'write'], namePrefix: 'shop-', addresses: ['192.0.2.0/24'] } as const;
    await put({ consumer: undefined, access });
    const { token } = await exchange(await provider.issue());
    expect(await findCaller(token)).toMatchObject({ kind: 'token', isAdmin: true, scopes: ['list', 'write'], access });
    await expect(findCaller(token, stage.now(), '198.51.100.1')).rejects.toMatchObject({ code: 'forbidden' });
  });

  test.each(['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'])('accepts signatures with %s', async (algorithm) => {
    await put();
    await provider.rotate(algorithm);
    expect(await exchange(await provider.issue())).toMatchObject({ rule: 'shop' });
  });

  test('accepts tokens of a new key, and those of the previous one', async () => {
    await put();
    const before = await provider.issue();
    await exchange(before);
    await provider.rotate();
    await exchange(await provider.issue());
    await exchange(await provider.issue({ claims: { aud: ['other', AUDIENCE] } }));
    expect(provider.requests.filter((path) => path === '/jwks')).toHaveLength(2);
    expect(provider.requests.filter((path) => path.startsWith('/.well-known'))).toHaveLength(1);
  });

  test('accepts tokens without a key id, and of several keys with the same id', async () => {
    await put();
    await provider.rotate();
    const keys = provider.listKeys();
    expect(keys).toHaveLength(2);
    const shared = keys.map((key) => ({ ...key, kid: 'shared' }));
    provider.fault = (request, response) => {
      const configuration = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks` };
      response.end(JSON.stringify(request.url === '/jwks' ? { keys: shared } : configuration));
    };
    for (const { kid } of keys) {
      for (const header of [{ kid: undefined }, { kid: 'shared' }]) {
        const token = await provider.issue({ kid: kid as string, header });
        expect(await exchange(token)).toMatchObject({ rule: 'shop' });
      }
    }
    const error = { code: 'invalid_input', message: expect.stringContaining('signature is invalid') as string };
    await expect(exchange(forge({}))).rejects.toMatchObject(error);
    const expired = { kid: keys[0]?.kid as string, header: { kid: 'shared' }, claims: { exp: seconds() - HOUR } };
    await expect(exchange(await provider.issue(expired))).rejects.toMatchObject({
      message: expect.stringContaining('expired') as string,
    });
  });

  test('accepts tokens of an issuer that ends with a slash, as that of a cluster on Azure', async () => {
    await put();
    const slashed = `${provider.issuer}/`;
    const keys = provider.listKeys();
    provider.fault = (request, response) => {
      const configuration = { issuer: slashed, jwks_uri: `${slashed}jwks` };
      response.end(JSON.stringify(request.url === '/jwks' ? { keys } : configuration));
    };
    expect(await exchange(await provider.issue({ claims: { iss: slashed } }))).toMatchObject({ rule: 'shop' });
    const error = { code: 'invalid_input', message: expect.stringContaining('claim iss') as string };
    await expect(exchange(await provider.issue())).rejects.toMatchObject(error);
    expect(provider.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  test('rejects tokens with a slash that the issuer does not have', async () => {
    await put();
    const token = await provider.issue({ claims: { iss: `${provider.issuer}/` } });
    const error = { code: 'invalid_input', message: expect.stringContaining('claim iss') as string };
    await expect(exchange(token)).rejects.toMatchObject(error);
  });

  test('fetches the keys once for concurrent requests', async () => {
    await put();
    const jobs = await Promise.all(Array.from({ length: 10 }, () => provider.issue()));
    await Promise.all(jobs.map((job) => exchange(job)));
    expect(provider.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  test('fetches keys for unknown key ids once per cooldown', async () => {
    await put();
    tokens = openTokens();
    await exchange(await provider.issue());
    for (let count = 0; count < 5; count += 1) {
      const forged = forge({ kid: `unknown-${count}` });
      await expect(exchange(forged)).rejects.toMatchObject({ code: 'invalid_input' });
    }
    expect(provider.requests.filter((path) => path === '/jwks')).toHaveLength(1);
  });
});

const HOUR = 3_600;

const seconds = (): number => Math.floor(Date.now() / 1_000);

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a token that the provider has not signed. */
function forge(header: object, signer?: (input: string) => string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const payload = {
    ...{ iss: provider.issuer, aud: AUDIENCE, sub: 'repo:acme/shop', repository: 'acme/shop', jti: 'forged' },
    ...{ iat: seconds(), nbf: seconds(), exp: seconds() + HOUR },
  };
  const input = `${encode({ alg: 'RS256', ...header })}.${encode(payload)}`;
  const make = signer ?? ((text) => sign('sha256', Buffer.from(text), privateKey).toString('base64url'));
  return `${input}.${make(input)}`;
}

const publishedKey = () => provider.listKeys()[0] as JsonWebKey & { readonly kid: string };

describe('a token is rejected and recorded', () => {
  /** Computes times when the test runs, which may be long after the file was loaded. */
  const claims = (change: () => Readonly<Record<string, unknown>>) => () => provider.issue({ claims: change() });
  const forged = (make: () => string) => async () => make();

  test.each<[reason: string, make: () => Promise<string>, message: RegExp]>([
    ['for a different audience', claims(() => ({ aud: 'https://other.example' })), /audience/],
    ['without an audience', claims(() => ({ aud: undefined })), /audience/],
    ['of a different issuer', claims(() => ({ iss: 'https://other.example' })), /No rule names the issuer/],
    ['whose issuer is not a text', claims(() => ({ iss: { url: provider.issuer } })), /No rule names the issuer/],
    ['whose issuer has a NUL', claims(() => ({ iss: `${provider.issuer}\0` })), /No rule names the issuer/],
    ['that has expired', claims(() => ({ iat: seconds() - 2 * HOUR, exp: seconds() - 90 })), /expired/],
    ['that never expires', claims(() => ({ exp: undefined })), /exp/],
    ['that is not valid yet', claims(() => ({ nbf: seconds() + HOUR })), /not valid yet/],
    ['without a subject', claims(() => ({ sub: undefined })), /sub/],
    ['whose subject is a number', claims(() => ({ sub: 7 })), /claim sub is missing or invalid/],
    ['without a signature (alg none)', forged(() => forge({ alg: 'none' }, () => '')), /algorithm|signature/],
    [
      'signed by HS256 with the public key',
      forged(() => {
        const pem = createPublicKey({ key: publishedKey(), format: 'jwk' }).export({ type: 'spki', format: 'pem' });
        const make = (text: string) => createHmac('sha256', pem).update(text).digest('base64url');
        return forge({ alg: 'HS256', kid: publishedKey().kid }, make);
      }),
      /algorithm/,
    ],
    ['of an unknown key', forged(() => forge({ kid: 'unknown' })), /does not publish the key/],
    ['of its own key with a published id', forged(() => forge({ kid: publishedKey().kid })), /signature is invalid/],
    [
      'with its own key in the header',
      forged(() => {
        const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        const jwk = publicKey.export({ format: 'jwk' });
        const make = (text: string) => sign('sha256', Buffer.from(text), privateKey).toString('base64url');
        return forge({ kid: 'own', jwk, jku: `${provider.issuer}/own` }, make);
      }),
      /does not publish the key/,
    ],
    [
      'with changed claims',
      async () => {
        const [header = '', , signature = ''] = (await provider.issue()).split('.');
        const payload = {
          iss: provider.issuer,
          aud: AUDIENCE,
          sub: 'x',
          repository: 'acme/shop',
          exp: seconds() + HOUR,
        };
        return `${header}.${encode(payload)}.${signature}`;
      },
      /signature is invalid/,
    ],
    ['that is not a token', async () => 'nonsense', /not a JSON Web Token/],
  ])('%s', async (_reason, make, message) => {
    await put();
    const token = await make();
    await expect(exchange(token)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(message) as string,
    });
    const entry = (await listEntries()).find(({ action }) => action === 'denied');
    expect(entry).toMatchObject({ id: 'exchangeToken', type: 'request', reason: 'invalid_input', count: 1 });
    const { iss, sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as {
      iss?: unknown;
      sub?: unknown;
    };
    expect(entry).toMatchObject({
      ...(typeof iss === 'string' && { issuer: iss }),
      ...(typeof sub === 'string' && { subject: sub }),
    });
    expect(await stage.database.selectFrom('tokens').selectAll().execute()).toEqual([]);
  });

  test('a clock that differs by less than a minute is accepted', async () => {
    await put();
    await exchange(await provider.issue({ claims: { nbf: seconds() + 30 } }));
    await exchange(await provider.issue({ claims: { iat: seconds() - HOUR, exp: seconds() - 30 } }));
  });

  test('control characters of a subject are not part of the description of its token', async () => {
    await put();
    await exchange(await provider.issue({ claims: { sub: 'repo:acme/shop:\0\u001b[2J' } }));
    const { label } = await stage.database.selectFrom('tokens').select('label').executeTakeFirstOrThrow();
    expect(label).toBe('shop: repo:acme/shop: [2J');
  });

  test('claims that no rule accepts are forbidden', async () => {
    await put({
      claims: [
        { name: 'repository', patterns: ['acme/shop'] },
        { name: 'ref', patterns: ['refs/heads/*'] },
      ],
    });
    for (const change of [{ repository: 'acme/shop-fork' }, { ref: 'refs/heads/a/b' }, { ref: undefined }]) {
      await expect(exchange(await provider.issue({ claims: change }))).rejects.toMatchObject({ code: 'forbidden' });
    }
    const entry = (await listEntries()).at(-1);
    expect(entry).toMatchObject({
      action: 'denied',
      reason: 'forbidden',
      subject: 'repo:acme/shop:ref:refs/heads/main',
    });
  });

  test('the audience of one rule does not satisfy another', async () => {
    await put({ name: 'shop', audience: 'https://one.example' });
    await put({ name: 'other', audience: AUDIENCE, claims: [{ name: 'repository', patterns: ['acme/other'] }] });
    await expect(exchange(await provider.issue())).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('a token that several rules accept needs the name of one', async () => {
    await put({ name: 'one' });
    await put({ name: 'two', consumer: 'acme/two' });
    const token = await provider.issue();
    await expect(exchange(token)).rejects.toMatchObject({ code: 'conflict', field: 'rule' });
    expect(await exchange(token, 'two')).toMatchObject({ rule: 'two' });
    await expect(exchange(token, 'three')).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('a token for single use is accepted once, also by concurrent requests', async () => {
    await put({ singleUse: true });
    const token = await provider.issue();
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => exchange(token)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(exchange(token)).rejects.toMatchObject({ message: 'The token was used before.' });
    await expect(exchange(await provider.issue({ claims: { jti: undefined } }))).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await exchange(await provider.issue());
    // RFC 7519 allows fractions of a second.
    await exchange(await provider.issue({ claims: { exp: seconds() + HOUR + 0.0005 } }));
    // The record is deleted with the token that it is about.
    await deleteExpiredWorkloadTokens(stage.database, Date.now() + 2 * HOUR * 1_000);
    expect(await stage.database.selectFrom('workload_used_tokens').selectAll().execute()).toEqual([]);
    expect(await stage.database.selectFrom('tokens').selectAll().execute()).toEqual([]);
  });
});

describe('an issuer', () => {
  const UNAVAILABLE = { code: 'unavailable' };

  test.each<[name: string, fault: OidcProvider['fault'], message: RegExp]>([
    ['that fails', (_, response) => void response.writeHead(500).end(), /status 500/],
    ['that redirects', (_, response) => void response.writeHead(302, { location: '/x' }).end(), /status 302/],
    ['that ends connections', (request) => void request.socket.destroy(), /could not be reached/],
    ['whose response is too large', (_, response) => void response.end('x'.repeat(300_000)), /exceeds/],
    ['whose response is not JSON', (_, response) => void response.end('<html>'), /not JSON/],
    ['that names another issuer', (_, response) => void response.end('{"issuer":"https://x"}'), /different issuer/],
    [
      'that names keys without https',
      (_, response) =>
        void response.end(JSON.stringify({ issuer: provider.issuer, jwks_uri: 'http://keys.example/jwks' })),
      /no https URL/,
    ],
  ])('%s issues no token, until it works again', async (_name, fault, message) => {
    await put();
    provider.fault = fault;
    const token = await provider.issue();
    const error = { ...UNAVAILABLE, message: expect.stringMatching(message) as string };
    await expect(exchange(token)).rejects.toMatchObject(error);
    expect((await listEntries()).at(-1)).toMatchObject({ action: 'denied', reason: 'unavailable' });
    provider.fault = undefined;
    await exchange(token);
  });

  test.each([
    ['too short', { n: 'cars' }],
    ['incomplete', { n: undefined }],
    ['malformed', { n: '' }],
    ['of an unknown type', { kty: 'X' }],
  ])('whose key is %s issues no token', async (_name, change) => {
    await put();
    const keys = provider.listKeys().map((key) => ({ ...key, ...change }));
    provider.fault = (request, response) => {
      const configuration = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks` };
      response.end(JSON.stringify(request.url === '/jwks' ? { keys } : configuration));
    };
    await expect(exchange(await provider.issue())).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:unavailable|invalid_input)$/) as string,
      message: expect.stringMatching(/key/) as string,
    });
  });

  test('that is away does not matter while its keys are cached', async () => {
    await put();
    await exchange(await provider.issue());
    const token = await provider.issue();
    await provider.close();
    await exchange(token);
  });

  test('with a private address is not contacted, unless it is allowed', async () => {
    await put();
    tokens = openTokens({}, []);
    await expect(exchange(await provider.issue())).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining('private') as string,
    });
    expect(provider.requests).toEqual([]);
  });
});

describe('a rule', () => {
  test('ends its tokens when it is replaced or deleted', async () => {
    await put();
    const first = await exchange(await provider.issue());
    await put({ ttlSeconds: 60 });
    expect(await findCaller(first.token)).toBeUndefined();
    const second = await exchange(await provider.issue());
    await rules.remove(stage.from(owner), 'shop');
    expect(await findCaller(second.token)).toBeUndefined();
    await expect(rules.remove(stage.from(owner), 'shop')).rejects.toMatchObject({ code: 'not_found' });
    const actions = (await listEntries()).filter(({ type }) => type === 'workload_rule').map(({ action }) => action);
    expect(actions).toEqual(['create', 'update', 'delete']);
  });

  test('follows its consumer, and ends with it', async () => {
    await put();
    const consumers = createConsumerStore(stage.database);
    await consumers.add(stage.from(owner), { name: 'acme/shop' });
    await consumers.update(stage.from(owner), 'acme/shop', { name: 'acme/store' });
    expect((await rules.list(owner))[0]?.consumer).toBe('acme/store');
    const { token } = await exchange(await provider.issue());
    await consumers.remove(stage.from(owner), 'acme/store');
    expect(await rules.list(owner)).toEqual([]);
    expect(await findCaller(token)).toBeUndefined();
    expect((await listEntries()).at(-1)).toMatchObject({ action: 'delete', type: 'workload_rule', id: 'shop' });
  });

  test('requires the session of the owner', async () => {
    const error = { code: 'session_required' };
    await expect(rules.list(script)).rejects.toMatchObject(error);
    await expect(rules.remove(stage.from(script), 'shop')).rejects.toMatchObject(error);
    await expect(rules.put(stage.from(script), {} as NewWorkloadRule)).rejects.toMatchObject(error);
  });

  const claim = (...patterns: string[]) => ({ claims: [{ name: 'sub', patterns }] });

  test.each<[string, Partial<NewWorkloadRule>, field: string]>([
    ['a name with capitals', { name: 'Shop' }, 'name'],
    ['an issuer without https', { issuer: 'http://issuer.example' }, 'issuer'],
    ['an issuer with a query', { issuer: 'https://issuer.example?a' }, 'issuer'],
    ['an issuer with a password', { issuer: 'https://a:b@issuer.example' }, 'issuer'],
    ['an empty audience', { audience: '' }, 'audience'],
    ['no claims', { claims: [] }, 'claims'],
    ['claims of every workload', claim('**'), 'claims'],
    ['claims of every owner', claim('repo:*/shop:ref:refs/heads/main'), 'claims'],
    ['claims of owners with the same beginning', claim('repo:acme*'), 'claims'],
    ['a pattern of every owner among others', claim('repo:acme/shop', '*'), 'claims'],
    ['a claim without patterns', claim(), 'claims'],
    ['a lifetime of a second', { ttlSeconds: 1 }, 'ttl_seconds'],
    ['a lifetime of a day', { ttlSeconds: 86_400 }, 'ttl_seconds'],
    ['write tokens without permissions', { consumer: undefined, access: { tags: ['a'] } }, 'access.permissions'],
    ['permissions of a consumer', { access: { permissions: ['manage'] } }, 'access'],
    ['an invalid address', { access: { addresses: ['x'] } }, 'addresses.0'],
  ])('is rejected with %s', async (_name, rule, field) => {
    await expect(put(rule)).rejects.toMatchObject({ code: 'invalid_input', field });
  });
});
