import { once } from 'node:events';
import { stat, statfs } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import { dirname } from 'node:path';
import { Command } from 'commander';
import prettyBytes from 'pretty-bytes';
import { type Config, loadConfig, inspectConfig } from '../../config/config.js';
import { CONFIG_OPTIONS, CONFIG_OPTION_NAMES, type ConfigValues } from '../../config/options.js';
import { withServerKey } from '../../config/server-key-command.js';
import { addServerOptions } from '../server-options.js';
import { type CheckResult, failed, passed, warning } from './check-result.js';

interface Flags extends Readonly<Record<string, string | true | undefined>> {
  readonly json?: true;
}

/** `trellis doctor`: checks the requirements of a start, and suggests fixes. */
export function doctorCommand(out: NodeJS.WritableStream): Command {
  const doctor = new Command('doctor')
    .description('Check configuration, database, permissions, port and disk, and suggest fixes')
    .option('--config <file>', 'configuration file (default: trellis.config.* in the working directory)')
    .option('--json', 'print JSON');
  for (const { flag, description, env } of Object.values(CONFIG_OPTIONS))
    doctor.option(flag, `${description} [${env}]`);
  return doctor.action(async ({ json, ...flags }: Flags) => {
    process.exitCode = await runDoctor({ flags: flags as Record<string, string>, json: json === true, out });
  });
}

interface DoctorOptions {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly out: NodeJS.WritableStream;
}

/** Runs every check and prints its result, without changing anything but a probe in the bucket. @returns the exit code: 1 when a check failed. */
export async function runDoctor({ flags, json, out }: DoctorOptions): Promise<number> {
  const findings = await examine(flags);
  out.write(json ? `${JSON.stringify(findings, undefined, 2)}\n` : findings.map(toLine).join(''));
  return findings.some(({ status }) => status === 'fail') ? 1 : 0;
}

async function examine(flags: DoctorOptions['flags']): Promise<CheckResult[]> {
  const config = await loadConfig({ flags }).catch((error: unknown) => error as Error);
  // The other checks need the configuration.
  if (config instanceof Error) return [checkNode(), failed('settings', config.message, 'fix it, see --help')];
  return [checkNode(), passed('settings', `services ${config.services.join(', ')}`), ...(await examineAll(config))];
}

async function examineAll(settings: Config): Promise<CheckResult[]> {
  const keyed = await withServerKey(settings).catch((error: unknown) => error as Error);
  const config = keyed instanceof Error ? settings : keyed;
  // Loaded late, so that --help does not wait for the modules of database and site.
  const checks = await import('./checks.js');
  const { isRunning, ...server } = await checks.checkServer(config);
  return [
    await checks.checkStateFolder(config),
    await checkDisk(config.state),
    keyed instanceof Error
      ? failed('key', keyed.message, 'run the command as the user of the server, and fix it')
      : await checks.checkKey(config),
    await checks.checkDatabase(config),
    // A project without the service has no secrets, whichever services run.
    ...(config.project.services.secrets === undefined
      ? []
      : [await checks.checkAuditLog(config), await checks.checkWorkloadRules(config)]),
    await checks.checkDerivedData(config),
    await checks.checkObjects(config),
    await checks.checkBackups(config),
    await checks.checkSite(config),
    checkSiteAccess(config),
    server,
    await checkPort(config, isRunning),
    checkAddress(config),
    checkProxy(config),
  ];
}

function toLine({ check, status, found, advice }: CheckResult): string {
  const line = `${status.padEnd(5)} ${check}: ${found}`;
  return advice === undefined ? `${line}\n` : `${line}\n      ${advice}\n`;
}

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

async function checkDisk(state: string): Promise<CheckResult> {
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
async function checkPort({ host, port }: Config, isServerRunning: boolean): Promise<CheckResult> {
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
function checkSiteAccess({ services, siteAccess: { kind }, isLoopback, host }: Config): CheckResult {
  if (!services.includes('site')) return passed('site access', 'the site service is off');
  if (kind !== 'public' || isLoopback) return passed('site access', kind);
  const advice = 'set TRELLIS_SITE_ACCESS to people or token, unless the site is meant to be public';
  return warning('site access', `public: anyone who can reach ${host} can read the site`, advice);
}

/** `trellis check-config`: validates all settings and prints them, without opening or starting anything. */
export function checkConfigCommand(out: NodeJS.WritableStream): Command {
  return addServerOptions(new Command('check-config'), ...Object.values(CONFIG_OPTIONS))
    .description('Validate all settings, and print their values and sources; secrets are not shown')
    .option('--json', 'print JSON')
    .action(async ({ json, ...flags }: Flags) => {
      process.exitCode = await checkConfig({ flags: flags as Record<string, string>, json: json === true, out });
    });
}

interface CheckOptions {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly json: boolean;
  readonly out: NodeJS.WritableStream;
}

/** Prints the settings, or all mistakes. @returns the exit code: 1 for mistakes. */
export async function checkConfig({ json, out, ...sources }: CheckOptions): Promise<number> {
  const inspection = await inspectConfig(sources);
  const mistakes = inspection.mistakes.map(({ message }) => message);
  const settings = inspection.config === undefined ? [] : listSettings(inspection.config, inspection.given);
  if (json) out.write(`${JSON.stringify({ settings, mistakes }, undefined, 2)}\n`);
  else out.write([...settings.map(toSettingLine), ...mistakes].map((line) => `${line}\n`).join(''));
  return mistakes.length === 0 ? 0 : 1;
}

interface Setting {
  readonly name: string;
  readonly variable: string;
  /** Absent for a setting without a value. */
  readonly value?: unknown;
  /** A variable, a flag, a key of the configuration file, or `default`. */
  readonly source: string;
}

type Given = Awaited<ReturnType<typeof inspectConfig>>['given'];

const listSettings = (config: Config, given: Given): Setting[] =>
  CONFIG_OPTION_NAMES.filter((name) => CONFIG_OPTIONS[name].fileOf === undefined).map((name) => ({
    name,
    variable: CONFIG_OPTIONS[name].env,
    value: readValue(name, config, given),
    source: toSource(given.get(name)),
  }));

function readValue(name: keyof ConfigValues, config: Config, given: Given): unknown {
  const received = given.get(name)?.value;
  if (CONFIG_OPTIONS[name].isSecret) return received === undefined ? undefined : SECRET;
  if (name === 'siteAccess') return config.siteAccess.kind;
  if (name === 'auditExport') return config.auditExport.map(withoutPath);
  if (name === 'metrics') return received;
  return (config as unknown as Readonly<Record<string, unknown>>)[name] ?? received;
}

/** The URL of a receiver may contain a credential. */
const withoutPath = (place: string): string => place.replace(/^(https?:\/\/)(?:[^/]*@)?([^/?#]*).+$/, '$1$2/…');

const SECRET = '(secret)';

function toSource(given: ReturnType<Given['get']>): string {
  if (given === undefined) return 'default';
  return given.secretFile === undefined ? given.source : `${given.source} (${given.secretFile})`;
}

function toSettingLine({ variable, value, source }: Setting): string {
  const text = Array.isArray(value) ? value.join(',') : `${(value as boolean | number | string | undefined) ?? ''}`;
  return `${variable}=${text}  # ${source}`;
}
