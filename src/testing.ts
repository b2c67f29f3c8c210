import { createLog } from '@trellis/server/http/request';
import { loadConfig } from './config/config.js';
import { start } from './startup/start-server.js';

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
  const config = await loadConfig({ flags: { logLevel: 'warn', port: '0', ...flags }, env: {} });
  const log = createLog({ level: config.logLevel });
  const { services, origin, close } = await start(config, { version: 'test', log, terminal: process.stderr });
  await services.site?.firstAttempt;
  return { origin, close };
}
