import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLog } from '@trellis/server/http/request';
import { createApp } from './app.js';
import { loadConfig } from './config/config.js';
import { openServices } from './services.js';

/** A server of a project that runs in the process of a test. */
export interface TestServer {
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves the project in the working directory at a free port of this machine.
 *
 * @param flags Options by name, such as `state`, the state folder.
 */
export async function startServer(flags: Readonly<Record<string, string>>): Promise<TestServer> {
  const config = await loadConfig({ flags: { logLevel: 'warn', ...flags }, env: {} });
  let origin = '';
  const log = createLog({ level: config.logLevel });
  const app = createApp({ config, log, origin: () => origin });
  const server = app.server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const services = await openServices(config, { version: 'test', origin: () => origin, log, terminal: process.stderr });
  await services.site?.firstAttempt;
  await app.open(services);
  return {
    origin,
    async close() {
      server.close().closeAllConnections();
      await services.close();
    },
  };
}
