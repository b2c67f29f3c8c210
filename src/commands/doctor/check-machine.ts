import { once } from 'node:events';
import { stat, statfs } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import { dirname } from 'node:path';
import prettyBytes from 'pretty-bytes';
import type { Config } from '../../config/config.js';
import { type CheckResult, failed, passed, warning } from './check-result.js';

/** The minimum of `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

/** A site's images need some hundred megabytes. */
const ENOUGH_BYTES = 1e9;

/** On a full disk every write fails. */
const TOO_FEW_BYTES = 1e6;

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

const HTTPS = 'set PUBLIC_URL to the https:// origin of your reverse proxy';

/** Browsers allow passkeys for https and localhost only, and not for IP addresses. */
export function checkAddress({ publicUrl, host, isLoopback }: Config): CheckResult {
  if (publicUrl === undefined) {
    return isLoopback
      ? passed('address', 'http://localhost, for this machine only')
      : warning('address', `listens at ${host}, but users can sign in at localhost only`, HTTPS);
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    return warning(
      'address',
      `${publicUrl} is an IP address: passkeys need a host name`,
      'use a host name in PUBLIC_URL',
    );
  }
  const isSafe = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isSafe) return passed('address', publicUrl);
  return warning('address', `${publicUrl} is not https: passkey sign-in won't work`, HTTPS);
}

/** The server speaks http, so an https origin implies a proxy. */
export function checkProxy({ publicUrl, trustProxy }: Config): CheckResult {
  const isBehind = publicUrl?.startsWith('https:') ?? false;
  if (isBehind && trustProxy === 0) {
    const advice =
      'set TRUST_PROXY to the number of proxies, or all users count as one address in rate limits and logs';
    return warning('proxy', 'PUBLIC_URL is https, but no proxies are trusted', advice);
  }
  return passed('proxy', trustProxy === 0 ? 'none trusted' : `${trustProxy} trusted`);
}

/** Warns when the site is readable by more callers than its operator may expect. */
export function checkSiteAccess({ services, siteAccess: { kind }, isLoopback, host }: Config): CheckResult {
  if (!services.includes('site')) return passed('site access', 'the site service is off');
  if (kind !== 'public' || isLoopback) return passed('site access', kind);
  const advice = 'set TRELLIS_SITE_ACCESS to people or token, unless the site is meant to be public';
  return warning('site access', `public: anyone who can reach ${host} can read the site`, advice);
}
