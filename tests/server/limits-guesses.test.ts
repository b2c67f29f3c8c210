import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { createToken } from '../../src/accounts/token-format.js';
import type { Services } from '../../src/services.js';
import { serveTrellis } from '../client/trellis-server.js';
import type { TrellisServer } from '../client/trellis-server.js';

const GUESSES = 10_000;
/** At any moment, each over a connection of its own. */
const UNDER_WAY = 50;
const LIMIT = 60;

const GUESSER = '203.0.113.1';
const USER = '198.51.100.7';

let server: TrellisServer;
let user: Readonly<Record<string, string>>;
let lookedUp = 0;

/** The whole server behind a proxy that names the client. */
beforeAll(async () => {
  server = await serveTrellis({ flags: { trustProxy: '1' }, adapt: countLookUps });
  user = (await server.signIn('ada')).headers;
});
afterAll(() => server.close());

/** Counts what reaches the real one, which asks the database. */
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

/** Sends every guess, over some connections at once, and counts the answers by status. */
async function guess(): Promise<Readonly<Record<string, number>>> {
  let nth = 0;
  const { statusCodeStats = {} } = await autocannon({
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

test('of 10,000 guessed tokens and sessions the first alone are looked up, and a user elsewhere is served', async () => {
  const served = new Set<number>();
  const startedAt = performance.now();
  const guesses = guess();
  const isOver = guesses.then(() => true);
  while (!(await Promise.race([isOver, sleep(20, false)]))) served.add(await askAs(USER));

  // In each minute, and with them those that were under way when the last was found wrong.
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  expect(lookedUp).toBeGreaterThanOrEqual(LIMIT);
  expect(lookedUp).toBeLessThanOrEqual((LIMIT + UNDER_WAY) * minutes);
  expect(await guesses).toEqual({ 401: lookedUp, 429: GUESSES - lookedUp });
  expect([...served]).toEqual([200]);
  // Whoever was let in before is let in from there too, and nobody else, as a guess that is right would look the same.
  expect(await askAs(GUESSER)).toBe(200);
  expect(await askAs(GUESSER, (await server.signIn('bob')).headers)).toBe(429);
});
