// Runs built servers for `replicas.ts`, several in one process, so that the server's modules are loaded only once. Unlike
// the command line, it does not refresh boards by itself, because tests store boards that no forge has.
import process from 'node:process';
import { createLog } from '@trellis/server/http/request';
import { loadConfig } from '../../dist/config/config.js';
import { start } from '../../dist/startup/start-server.js';

/** The running servers by the number that the parent has given them. */
const servers = new Map();

const ACTIONS = {
  async start({ id, flags, env, version }) {
    const config = await loadConfig({ flags, env, folder: flags.state });
    const destination = { write: (line) => process.send({ id, line }) };
    const log = createLog({ level: config.logLevel, destination });
    const server = await start(config, { version, log, terminal: process.stderr, newDatabase: true });
    servers.set(id, server);
    await server.services.site?.firstAttempt;
    return server.server.address().port;
  },
  async stop({ id }) {
    servers.get(id).services.readiness.stop();
  },
  async close({ id }) {
    await servers.get(id).close();
    servers.delete(id);
  },
};

process.on('message', async ({ action, ...message }) => {
  const { id } = message;
  try {
    process.send({ id, action, value: await ACTIONS[action](message) });
  } catch (error) {
    process.send({ id, action, error: String(error.stack) });
  }
});
// The module that ends this process with its parent has released the channel.
process.channel.ref();
