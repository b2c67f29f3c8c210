import { once } from 'node:events';
import { stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import prettyBytes from 'pretty-bytes';
import type { Config } from '../../config/config.js';
import { failed, passed, warning } from './check-result.js';
import type { CheckResult } from './check-result.js';

/** The minimum of `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

/** A site's images need some hundred megabytes. On a full disk every write fails. */
const ENOUGH_BYTES = 1e9;
const TOO_FEW_BYTES = 1e8;

export function checkNode(version = process.versions.node): CheckResult {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return passed('node', `Node.js ${version}`);
  return failed('node', `Node.js ${version}`, `install Node.js ${OLDEST_NODE.join('.')} or later`);
}

export async function checkDisk(state: string): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(await findExisting(state));
  const free = bavail * bsize;
  const found = `${prettyBytes(free)} free for the state folder`;
  if (free < TOO_FEW_BYTES) return failed('disk', found, 'free some space, or move the folder with TRELLIS_STATE');
  return free < ENOUGH_BYTES ? warning('disk', found, 'free some space soon') : passed('disk', found);
}

/** Returns the path itself, or its nearest existing parent. */
async function findExisting(path: string): Promise<string> {
  return stat(path).then(
    () => path,
    () => findExisting(dirname(path)),
  );
}

/** @param isServerRunning Whether a server on this state folder may use the port. */
export async function checkPort({ host, port }: Config, isServerRunning: boolean): Promise<CheckResult> {
  if (port === 0) return passed('port', 'any free port');
  const code = await tryListening(host, port);
  const place = `port ${port} at ${host}`;
  if (code === undefined) return passed('port', `${place} is free`);
  if (code === 'EADDRINUSE' && isServerRunning) return passed('port', `${place} is in use; a server is running`);
  if (code === 'EADDRINUSE')
    return failed('port', `${place} is already in use`, 'stop the process that uses it, or set PORT');
  if (code === 'EACCES') return failed('port', `${place} is not allowed for this user`, 'set PORT to one above 1023');
  return failed('port', `${host} is not an address of this machine`, 'fix HOST');
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
