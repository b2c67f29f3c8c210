import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@trellis/server/http/request';
import { loadConfig } from '../../src/config/config.js';
import { createApp } from '../../src/startup/app.js';
import { openServices } from '../../src/startup/open-services.js';
import type { Services } from '../../src/startup/services.js';
import { LOOPBACK } from '../forges/forge-server.js';

export interface TrellisServer {
  readonly url: string;
  readonly services: Services;
  /** Creates a user, and returns headers with a session. */
  signIn(username: string): Promise<{ readonly personId: string; readonly headers: Readonly<Record<string, string>> }>;
  close(): Promise<void>;
}

export interface TrellisOptions {
  readonly flags?: Readonly<Record<string, string>>;
  /** Replaces services, for example with fakes. */
  readonly adapt?: (services: Services) => Services;
}

/** Starts a server with the dashboard in this process, with a temporary state folder. */
export async function serveTrellis({
  flags,
  adapt = (services) => services,
}: TrellisOptions = {}): Promise<TrellisServer> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-served-'));
  const settings = { state, services: 'dashboard', logLevel: 'silent', forgeAllow: LOOPBACK.join(','), ...flags };
  const config = await loadConfig({ flags: settings, env: {}, folder: state });
  let origin = '';
  const log = createLog({ level: config.logLevel });
  const app = createApp({ config, log, origin: () => origin });
  const server = app.server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { version: '1.2.3', log, terminal: process.stderr };
  const services = await openServices(config, { ...options, origin: () => origin });
  await services.site?.firstAttempt;
  await app.open(adapt(services));
  return {
    url: origin,
    services,
    async signIn(username) {
      const { users, sessions } = services.accounts;
      const { id } = await users.add({ username, displayName: username });
      const session = await sessions.start(id);
      return { personId: id, headers: { Cookie: `trellis_session=${session}`, 'Sec-Fetch-Site': 'same-origin' } };
    },
    async close() {
      server.close().closeAllConnections();
      await services.close();
      await rm(state, { recursive: true });
    },
  };
}
