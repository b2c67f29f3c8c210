import { once } from 'node:events';
import { stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import prettyBytes from 'pretty-bytes';
import type { Config } from '../../config.js';
import { fail, ok, warn } from './finding.js';
import type { Finding } from './finding.js';

/** What `engines` in package.json says. */
const OLDEST_NODE = [20, 19] as const;

/** A site's images take some hundred megabytes; a database that can't grow stops every write. */
const ENOUGH_BYTES = 1e9;
const TOO_FEW_BYTES = 1e8;

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return ok('node', `Node.js ${version}`);
  return fail('node', `Node.js ${version}`, `install Node.js ${OLDEST_NODE.join('.')} or later`);
}

/** Where the state folder is, or will be. */
export async function checkDisk(state: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await findExisting(state));
  const free = bavail * bsize;
  const found = `${prettyBytes(free)} free for the state folder`;
  if (free < TOO_FEW_BYTES) return fail('disk', found, 'make room, or move the folder by TRELLIS_STATE');
  return free < ENOUGH_BYTES ? warn('disk', found, 'make room before it is needed') : ok('disk', found);
}

async function findExisting(path: string): Promise<string> {
  return stat(path).then(
    () => path,
    () => findExisting(dirname(path)),
  );
}

/** @param isServerRunning Whether it is our own server that may have the port. */
export async function checkPort({ host, port }: Config, isServerRunning: boolean): Promise<Finding> {
  if (port === 0) return ok('port', 'any port that is free');
  const code = await tryListening(host, port);
  const place = `port ${port} at ${host}`;
  if (code === undefined) return ok('port', `${place} is free`);
  if (code === 'EADDRINUSE' && isServerRunning) return ok('port', `${place} is taken, while a server runs`);
  if (code === 'EADDRINUSE') return fail('port', `${place} is taken`, 'stop what uses it, or choose another by PORT');
  if (code === 'EACCES') return fail('port', `${place} is not for this user`, 'choose one above 1023 by PORT');
  return fail('port', `${host} is no address of this machine`, 'mend HOST');
}

async function tryListening(host: string, port: number): Promise<string | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  } finally {
    server.close();
  }
}
