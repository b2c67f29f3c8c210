import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { createToken } from '../../src/accounts/token-format.js';
import { createApp } from '../../src/app.js';
import type { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { openServices } from '../../src/services.js';
import type { Services } from '../../src/services.js';

const GUESSES = 10_000;
const CONNECTIONS = 50;
const LIMIT = 60;

let state: string;
let app: App;
let services: Services;
let port: number;
let lookedUp = 0;
let cookie: string;

/** The whole server behind a proxy that names the client. */
beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'trellis-guesses-'));
  const flags = { state, services: 'dashboard', trustProxy: '1', logLevel: 'silent' };
  const config = await loadConfig({ flags, env: {}, folder: state });
  const origin = () => 'http://localhost:4000';
  app = createApp({ config, origin });
  services = await openServices(config, { version: '1.2.3', origin, terminal: process.stderr });
  app.open({ ...services, authenticatorFor });
  await new Promise<void>((resolve) => app.server.listen(0, '127.0.0.1', resolve));
  port = (app.server.address() as AddressInfo).port;
  const { people, sessions } = services.accounts;
  const ada = await people.add({ username: 'ada', displayName: 'Ada' });
  cookie = `trellis_session=${await sessions.start(ada.id)}`;
});
afterAll(async () => {
  app.server.close().closeAllConnections();
  await services.close();
  await rm(state, { recursive: true });
});

/** Counts what reaches the real one, which asks the database. */
const authenticatorFor: Services['authenticatorFor'] = (kinds) => {
  const authenticate = services.authenticatorFor(kinds);
  return (message) => {
    if (message.headers['x-forwarded-for'] !== USER) lookedUp += 1;
    return authenticate(message);
  };
};

const GUESSER = '203.0.113.1';
const USER = '198.51.100.7';
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS + 1 });

const ask = (headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const call = request({ agent, port, host: '127.0.0.1', path: '/api/tokens', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    call.once('error', reject).end();
  });

const FORGERS = [
  () => ({ Authorization: `Bearer ${createToken('personal')}` }),
  () => ({ Cookie: `trellis_session=${randomBytes(32).toString('base64url')}` }),
];

test('of 10,000 guessed tokens and sessions the first alone are looked up, and a user elsewhere is served', async () => {
  const guessed = new Map<number, number>();
  const served = new Set<number>();
  const work = async (connection: number) => {
    for (let nth = 0; nth < GUESSES / CONNECTIONS; nth += 1) {
      const status = await ask({ 'X-Forwarded-For': GUESSER, ...FORGERS[nth % 2]!() });
      guessed.set(status, (guessed.get(status) ?? 0) + 1);
      if (connection === 0 && nth % 10 === 0) served.add(await ask({ 'X-Forwarded-For': USER, Cookie: cookie }));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => work(connection)));

  expect([...guessed.keys()].sort()).toEqual([401, 429]);
  expect(guessed.get(401)).toBe(lookedUp);
  expect(lookedUp).toBeGreaterThanOrEqual(LIMIT);
  // Those that were under way when the last was found wrong.
  expect(lookedUp).toBeLessThanOrEqual(LIMIT + CONNECTIONS);
  expect([...served]).toEqual([200]);
  // Nobody is let in from that address for a while, as a guess that is right would look the same.
  expect(await ask({ 'X-Forwarded-For': GUESSER, Cookie: cookie })).toBe(429);
});
