import { AppError } from '@trellis/core/errors';
import {
  createRateCounter,
  createRateLimiter,
  type RateLimitName,
  toRateLimitKey,
} from '../../src/http/rate-limits.js';
import type { Caller } from '../../src/http/security.js';
import type { OperationSpec } from '../../src/rest/operation.js';
import { contractRouter } from '../../src/rest/router.js';
import { serve, type TestServer } from '../serve.js';

const ada = { personId: 'p1', username: 'ada', isAdmin: false };
/** Callers of an application, which have more properties than the server reads. */
const callers: Readonly<Record<string, Caller & { readonly sessionId?: string }>> = {
  session: { kind: 'session', sessionId: 's1', ...ada },
  otherSession: { kind: 'session', sessionId: 's2', ...ada },
  token: { kind: 'token', tokenId: 't1', scopes: ['read'], ...ada },
};

const operation = (id: string, rateLimit?: RateLimitName, isOpen = false): OperationSpec => ({
  id,
  method: 'get',
  path: `/${id}`,
  security: isOpen ? [] : ['session', 'token'].map((scheme) => ({ scheme, roles: [] })),
  ...(rateLimit === undefined ? {} : { rateLimit }),
  parameters: [],
  responses: { 204: { contentTypes: [] } },
  validate: {},
});

const operations = [
  operation('read'),
  operation('mint', 'create'),
  operation('enter', 'sign-in', true),
  operation('health', 'none', true),
  operation('version', 'default', true),
  { ...operation('picky'), validate: { query: Object.assign(() => false, { errors: [] }) } },
];

let time: number;
let lookedUp: number;
let server: TestServer;

/** A fake of the counter that servers on one database share. */
type Shared = NonNullable<Parameters<typeof createRateLimiter>[0]['shared']>;

async function start(perMinute: number, tightPerMinute: number, shared?: Shared): Promise<void> {
  server = await serve(
    contractRouter({
      basePath: '',
      revision: 'r1',
      operations,
      handlers: Object.fromEntries(operations.map(({ id }) => [id, async () => ({ status: 204 })])),
      schemes: { session: 'session', token: 'token' },
      async authenticate({ headers: { authorization } }) {
        if (authorization === undefined) return undefined;
        lookedUp += 1;
        const caller = callers[authorization];
        if (caller === undefined) throw new AppError('unauthenticated', 'Expected a token that is valid.');
        return caller;
      },
      limits: createRateLimiter({ perMinute, tightPerMinute, shared, now: () => time }),
      replays: { answerOnce: (_request, answer) => answer() },
      validateResponses: true,
    }),
  );
}

beforeEach(() => {
  time = 1_000_000;
  lookedUp = 0;
});
afterEach(() => server.close());

const get = (path: string, credential?: string) =>
  fetch(`${server.url}/${path}`, credential === undefined ? {} : { headers: { Authorization: credential } });

async function statuses(times: number, path: string, credential?: string): Promise<number[]> {
  const found: number[] = [];
  for (let nth = 0; nth < times; nth += 1) found.push((await get(path, credential)).status);
  return found;
}

const limitHeaders = ({ headers }: Response) =>
  ['RateLimit-Policy', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'].map((name) => headers.get(name));

describe('rate limiter', () => {
  test('every response reports the remaining requests, and a 429 the time to wait', async () => {
    await start(2, 1);
    expect(limitHeaders(await get('read', 'token'))).toEqual(['2;w=60', '1', '60', null]);
    time += 20_500;
    expect(limitHeaders(await get('read', 'token'))).toEqual(['2;w=60', '0', '40', null]);
    const refusal = await get('read', 'token');
    expect(limitHeaders(refusal)).toEqual(['2;w=60', '0', '40', '40']);
    expect(refusal.headers.get('RateLimit-Limit')).toBe('2');
    expect([refusal.status, await refusal.json()]).toEqual([
      429,
      {
        error: 'Rate limit exceeded: at most 2 requests per minute. Retry in 40 s.',
        code: 'rate_limited',
        requestId: refusal.headers.get('X-Request-Id'),
      },
    ]);
  });

  test('a request succeeds after the time in Retry-After', async () => {
    await start(1, 1);
    await get('read', 'token');
    time += 100;
    time += Number((await get('read', 'token')).headers.get('Retry-After')) * 1000;
    expect((await get('read', 'token')).status).toBe(204);
  });

  test('requests above the limit do not extend the wait', async () => {
    await start(1, 1);
    expect(await statuses(5, 'read', 'token')).toEqual([204, 429, 429, 429, 429]);
    time += 60_000;
    expect(await statuses(1, 'read', 'token')).toEqual([204]);
  });

  test('each API token has its own limit, and all sessions of a user share one', async () => {
    await start(2, 1);
    expect(await statuses(3, 'read', 'token')).toEqual([204, 204, 429]);
    expect(await statuses(1, 'read', 'session')).toEqual([204]);
    expect(await statuses(2, 'read', 'otherSession')).toEqual([204, 429]);
  });

  test('requests without a credential are counted by address', async () => {
    await start(2, 1);
    expect(await statuses(3, 'version')).toEqual([204, 204, 429]);
    // A credential that the operation does not check does not get a separate limit.
    expect(await statuses(1, 'version', 'token')).toEqual([429]);
  });

  test.each<[string, string | undefined]>([
    ['enter', undefined],
    ['mint', 'session'],
  ])('"%s" has a tighter limit, separate from that of other requests', async (path, credential) => {
    await start(9, 2);
    expect(await statuses(3, path, credential)).toEqual([204, 204, 429]);
    expect(await statuses(1, 'read', 'session')).toEqual([204]);
  });

  test('an operation without a rate limit is never rejected and sends no RateLimit headers', async () => {
    await start(1, 1);
    expect(await statuses(5, 'health')).toEqual([204, 204, 204, 204, 204]);
    expect(limitHeaders(await get('health'))).toEqual([null, null, null, null]);
  });

  test('the rate limit is checked before the request is validated', async () => {
    await start(1, 1);
    expect(await statuses(2, 'picky', 'token')).toEqual([400, 429]);
  });

  test('credentials of an address with too many failures are no longer looked up', async () => {
    await start(9, 3);
    expect(await statuses(5, 'read', 'wrong')).toEqual([401, 401, 401, 429, 429]);
    expect(lookedUp).toBe(3);
    const refusal = await get('read', 'token');
    expect([refusal.status, limitHeaders(refusal)]).toEqual([429, ['3;w=60', '0', '60', '60']]);
    time += 60_000;
    expect(await statuses(1, 'read', 'token')).toEqual([204]);
  });

  test('a credential that was valid before is still looked up, until it becomes invalid', async () => {
    await start(9, 2);
    await get('read', 'token');
    expect(await statuses(3, 'read', 'wrong')).toEqual([401, 401, 429]);
    expect(await statuses(1, 'read', 'token')).toEqual([204]);
    expect(await statuses(1, 'read', 'session')).toEqual([429]);
  });

  test('requests without a credential do not count as failed credentials', async () => {
    await start(9, 1);
    expect(await statuses(3, 'read')).toEqual([401, 401, 401]);
  });

  test('a limit of 0 turns off all limits', async () => {
    await start(0, 1);
    expect(await statuses(3, 'mint', 'session')).toEqual([204, 204, 204]);
    expect(await statuses(3, 'read', 'wrong')).toEqual([401, 401, 401]);
    expect(limitHeaders(await get('read', 'token'))).toEqual([null, null, null, null]);
  });

  describe('with a shared counter', () => {
    /** Starts with a count of other servers. */
    const others = (taken: number, asked: string[] = []): Shared => ({
      async take(key) {
        asked.push(key);
        return { taken: taken + asked.length, resetsInMs: 30_000 };
      },
    });

    test('a tight limit is shared until it is known to be exceeded', async () => {
      const asked: string[] = [];
      await start(9, 3, others(2, asked));
      expect(await statuses(3, 'enter')).toEqual([204, 429, 429]);
      expect(asked).toEqual(['sign-in 127.0.0.1']);
      time += 30_000;
      expect((await get('enter')).headers.get('RateLimit-Remaining')).toBe('0');
    });

    test('failed credentials are counted together', async () => {
      await start(9, 3, others(1));
      expect(await statuses(4, 'read', 'wrong')).toEqual([401, 401, 429, 429]);
    });

    /** A counter that several limiters of a test share. */
    const together = (asked: number[] = []): Shared => {
      let taken = 0;
      return {
        async take(_key, amount = 1) {
          asked.push(amount);
          taken += amount;
          return { taken, resetsInMs: 60_000 };
        },
      };
    };

    test('the default limit applies to all servers together', async () => {
      const shared = together();
      await start(3, 1, shared);
      expect(await statuses(2, 'read', 'token')).toEqual([204, 204]);
      await server.close();
      await start(3, 1, shared);
      expect(await statuses(2, 'read', 'token')).toEqual([204, 429]);
    });

    test('the default limit is reserved in parts, and a flood does not reach the shared counter', async () => {
      const asked: number[] = [];
      await start(120, 1, together(asked));
      const found = await statuses(130, 'read', 'token');
      expect(found.filter((status) => status === 204)).toHaveLength(120);
      expect(asked).toEqual(Array<number>(60).fill(2));
    });

    test('concurrent requests are each counted once', async () => {
      await start(5, 1, together());
      const found = await Promise.all(Array.from({ length: 12 }, () => statuses(1, 'read', 'token')));
      expect(found.flat().filter((status) => status === 204)).toHaveLength(5);
    });

    test('a counter that does not respond delays requests once', async () => {
      let asked = 0;
      await start(2, 1, { take: () => new Promise(() => (asked += 1)) });
      expect(await statuses(3, 'read', 'token')).toEqual([204, 204, 429]);
      expect(asked).toBe(1);
    });

    test('each server counts locally while the database is unavailable', async () => {
      await start(9, 1, { take: () => Promise.reject(new Error('away')) });
      expect(await statuses(2, 'enter')).toEqual([204, 429]);
      expect(await statuses(10, 'read', 'token')).toEqual([...Array<number>(9).fill(204), 429]);
    });
  });
});

test('the rate counter evicts the least recently used key, so that its memory is bounded', () => {
  const counter = createRateCounter(() => 0);
  counter.take('first');
  counter.take('second');
  for (let key = 0; key < 99_998; key += 1) counter.take(String(key));
  counter.take('first');
  counter.take('one more');
  expect(counter.find('first')?.taken).toBe(2);
  expect(counter.find('second')).toBeUndefined();
});

test.each([
  ['an IPv4 address', '192.0.2.7', '192.0.2.7'],
  ['a whole IPv6 address', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['a different address of the same subscriber', '2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['an address of the next subscriber', '2001:db8:1:3::9', '2001:db8:1:3::/64'],
  ['an address that begins with zeros', '::1', '0:0:0:0::/64'],
  ['an address that ends with zeros', '2001:db8::', '2001:db8:0:0::/64'],
  ['an address with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['an address that ends with an IPv4 address', '64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
  ['an empty address', '', 'unknown'],
  ['invalid text from a proxy', 'x'.repeat(10_000), 'unknown'],
])('toRateLimitKey: %s is counted by its network', (_reason, address, network) => {
  expect(toRateLimitKey(address)).toBe(network);
});
