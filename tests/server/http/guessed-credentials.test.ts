import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type autocannon from 'autocannon';
import { createToken } from '../../../src/accounts/bearer-tokens.js';
import type { Services } from '../../../src/startup/services.js';
import { importFromTool } from '../../../tools/install.js';
import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';

const tool = (await importFromTool('bench', 'autocannon')) as { default: typeof autocannon };

/** Many times the limit; `GUESSES=10000` sends more. */
const GUESSES = Number(process.env.GUESSES ?? 2_000);
/** The number of concurrent guesses, each on its own connection. */
const UNDER_WAY = 50;
const LIMIT = 60;

const GUESSER = '203.0.113.1';
const USER = '198.51.100.7';

let server: TrellisServer;
let user: Readonly<Record<string, string>>;
let lookedUp = 0;

/** The whole server behind a proxy that reports the client address. */
beforeAll(async () => {
  server = await serveTrellis({ flags: { trustProxy: '1' }, adapt: countLookUps });
  user = (await server.signIn('ada')).headers;
});
afterAll(() => server.close());

/** Counts the calls of the real authenticator, which queries the database. */
const countLookUps = (services: Services): Services => ({
  ...services,
  authenticatorFor(kinds) {
    const authenticate = services.authenticatorFor(kinds);
    return (message) => {
      if (message.headers['x-forwarded-for'] === GUESSER) lookedUp += 1;
      return authenticate(message);
    };
  },
});

const FORGERS = [
  () => ({ Authorization: `Bearer ${createToken('personal')}` }),
  () => ({ Cookie: `trellis_session=${randomBytes(32).toString('base64url')}` }),
];

/** Sends every guess over some concurrent connections, and counts the responses by status. */
async function guess(): Promise<Readonly<Record<string, number>>> {
  let nth = 0;
  const { statusCodeStats = {} } = await tool.default({
    url: server.url,
    connections: UNDER_WAY,
    amount: GUESSES,
    requests: [
      {
        path: '/api/settings',
        setupRequest: (request) => {
          nth += 1;
          return { ...request, headers: { 'X-Forwarded-For': GUESSER, ...FORGERS[nth % 2]!() } };
        },
      },
    ],
  });
  return Object.fromEntries(Object.entries(statusCodeStats).map(([status, { count }]) => [status, count ?? 0]));
}

const askAs = async (address: string, credential = user) =>
  (await fetch(`${server.url}/api/settings`, { headers: { ...credential, 'X-Forwarded-For': address } })).status;

test(`of ${GUESSES} guessed credentials only the first are looked up, and users at other addresses are served`, async () => {
  const served = new Set<number>();
  const startedAt = performance.now();
  const guesses = guess();
  const isOver = guesses.then(() => true);
  while (!(await Promise.race([isOver, sleep(20, false)]))) served.add(await askAs(USER));

  // In each minute, including those in progress when the limit was reached.
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  expect(lookedUp).toBeGreaterThanOrEqual(LIMIT);
  expect(lookedUp).toBeLessThanOrEqual((LIMIT + UNDER_WAY) * minutes);
  expect(await guesses).toEqual({ 401: lookedUp, 429: GUESSES - lookedUp });
  expect([...served]).toEqual([200]);
  // Only callers who were admitted before are still admitted from there, because a correct guess would look the same.
  expect(await askAs(GUESSER)).toBe(200);
  expect(await askAs(GUESSER, (await server.signIn('bob')).headers)).toBe(429);
});
