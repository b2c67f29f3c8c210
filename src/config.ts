import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { readConfigFile } from './config-file.js';
import { FORMATS, SETTINGS, SETTING_NAMES, parseDataSize } from './settings.js';
import type { LogLevel, ServiceName, Settings } from './settings.js';
import { loadSiteAccess } from './site-access.js';
import type { SiteAccess } from './site-access.js';
import { StartError } from './start-error.js';

export interface Config {
  /** The files that configure the server, which are never part of a site: the configuration file and the token's. */
  readonly configFiles: readonly string[];
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  /** Whether the host is a loopback address or name, which no other machine reaches. */
  readonly isLoopback: boolean;
  /** The origin that people use; `undefined` for localhost at whatever port was taken. */
  readonly publicUrl: string | undefined;
  /** Host names that requests may use in addition to that of the public URL, in lower case. */
  readonly allowedHosts: readonly string[];
  /** What tells this server from others; '' for nothing. */
  readonly instanceLabel: string;
  /** Absolute. */
  readonly site: string;
  /** Absolute. */
  readonly state: string;
  /** A PostgreSQL database, with its password; `undefined` for SQLite in the state folder. */
  readonly databaseUrl: string | undefined;
  readonly services: readonly ServiceName[];
  readonly siteAccess: SiteAccess;
  /** Whether the site's folders are followed while the server runs. */
  readonly watch: boolean;
  /** Whether queries may ask about the schema itself. */
  readonly introspection: boolean;
  /** How many values the answer to one query may hold. */
  readonly queryValues: number;
  /** How long one query may keep the process busy. */
  readonly queryWorkMs: number;
  /** How long one query may take, with all that it waits for. */
  readonly queryTimeoutMs: number;
  /** What derived images and public copies may take on the disk, in bytes. */
  readonly imagesQuota: number;
  /** How many proxies in front may name the client. */
  readonly trustProxy: number;
  /** Requests a minute of one credential, or of one address without; 0 for no limits at all. */
  readonly rateLimit: number;
  /** The same for sign-in, credentials that fail and credentials that are made. */
  readonly tightRateLimit: number;
  /** GraphQL requests and pages a minute of one address. */
  readonly siteRateLimit: number;
  /** Images a minute that are generated for one address. */
  readonly imageRateLimit: number;
  /** From the end of one refresh of a board to the next. */
  readonly refreshMinutes: number;
  /** The GitHub App of this server; its key is PEM, its URL empty for github.com. */
  readonly githubApp: { readonly id: number; readonly privateKey: string; readonly url: string } | undefined;
  /** Private addresses that forges may have: CIDR ranges, addresses and host names, the last two also with a port. */
  readonly forgeAllow: readonly string[];
  readonly logLevel: LogLevel;
  /** Whether what goes out is trusted to fit the contract (`NODE_ENV=production`). */
  readonly production: boolean;
}

export interface ConfigSources {
  /** By setting, and `config` for the file. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
}

/** A value, and where a person would look for it. */
interface Given {
  readonly value: unknown;
  readonly source: string;
}

/** Half a million values are read, put together and written in about a second, in which nobody else is answered. */
const QUERY_VALUES = 500_000;

/** The largest answer fits in just so; a regex on 100,000 names takes a sixth of it. */
const QUERY_WORK_MS = 1_000;

/** Longer than anybody waits for a page of a site; images that are yet to be made may take some seconds. */
const QUERY_TIMEOUT_MS = 10_000;

/** Ten a second: a page asks once in half a minute, a script that reads all it can is told to wait. */
const RATE_LIMIT = 600;

/** Thirty people behind one address may sign in within a minute, two steps each; who guesses gets nowhere. */
const TIGHT_RATE_LIMIT = 60;

/** Fifty a second: enough for the build of a static site that sends a query for each page. */
const SITE_RATE_LIMIT = 3_000;

/** Ten a second, about what two processors generate; a gallery of some hundred images is shown at once. */
const IMAGE_RATE_LIMIT = 600;

/** Webhooks tell of most changes at once; a large board costs a hundredth of an hour's budget each time. */
const REFRESH_MINUTES = 20;

const PACKAGE_ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * The settings of this start: of flags, environment, file and defaults, the
 * first that says something.
 *
 * @throws StartError of one line for a wrong setting: its name, what was expected, what came.
 */
export async function loadConfig(sources: ConfigSources = {}): Promise<Config> {
  const { flags = {}, env = process.env, folder = process.cwd() } = sources;
  const file = await readConfigFile(folder, flags.config);
  const given = new Map<string, Given>();
  for (const [key, value] of Object.entries(file?.content ?? {})) {
    given.set(key, { value: inFolder(key, value, dirname(file?.file ?? '')), source: `${key} in ${file?.file ?? ''}` });
  }
  for (const key of SETTING_NAMES) {
    const { env: variable, flag } = SETTINGS[key];
    if (env[variable]) given.set(key, fromText(key, env[variable], variable, folder));
    if (flags[key] !== undefined) given.set(key, fromText(key, flags[key], flag.split(' ')[0] ?? key, folder));
  }
  const settings = validate(given);
  const siteAccess = await loadSiteAccess(settings);
  const defaults = withDefaults(settings, folder, env.NODE_ENV === 'production');
  const configFiles = [file?.file, settings.siteTokenFile].filter((path) => path !== undefined);
  return { ...defaults, siteAccess, configFiles };
}

function fromText(key: keyof Settings, text: string, source: string, folder: string): Given {
  const value = SETTINGS[key].list ? text.split(',').map((part) => part.trim()) : text;
  return { value: inFolder(key, value, folder), source };
}

function inFolder(key: string, value: unknown, folder: string): unknown {
  const isPath = Object.hasOwn(SETTINGS, key) && SETTINGS[key as keyof Settings].path;
  return isPath && typeof value === 'string' && value !== '' ? resolve(folder, value) : value;
}

function validate(given: ReadonlyMap<string, Given>): Settings {
  const ajv = new Ajv2020({ coerceTypes: true, strict: true, formats: { ...FORMATS } });
  const isValid = ajv.compile({
    type: 'object',
    properties: Object.fromEntries(SETTING_NAMES.map((key) => [key, SETTINGS[key].schema])),
    additionalProperties: false,
    dependentRequired: Object.fromEntries(
      SETTING_NAMES.flatMap((key) => (SETTINGS[key].needs ? [[key, [SETTINGS[key].needs]]] : [])),
    ),
  });
  const settings = Object.fromEntries([...given].map(([key, { value }]) => [key, structuredClone(value)]));
  if (!isValid(settings)) throw toStartError(given, isValid.errors?.[0]);
  return settings;
}

function toStartError(given: ReadonlyMap<string, Given>, error: ErrorObject | undefined): StartError {
  if (error?.keyword === 'dependentRequired') return toMissingError(given, error);
  const key = error?.instancePath.split('/')[1] ?? (error?.params as { additionalProperty: string }).additionalProperty;
  const { value, source } = given.get(key) ?? { value: undefined, source: key };
  if (!Object.hasOwn(SETTINGS, key)) {
    return new StartError(`${source}: expected one of the settings ${SETTING_NAMES.join(', ')}`);
  }
  const { expected, secret, list } = SETTINGS[key as keyof Settings];
  const shown = JSON.stringify(list && Array.isArray(value) ? value.join(',') : value);
  return new StartError(`${source}: expected ${expected}; received ${secret ? 'a value' : shown}`);
}

function toMissingError(given: ReadonlyMap<string, Given>, { params }: ErrorObject): StartError {
  const { property, missingProperty } = params as { property: string; missingProperty: keyof Settings };
  const { env } = SETTINGS[missingProperty];
  return new StartError(`${given.get(property)?.source ?? property}: expected ${env} beside it; there is none`);
}

type Defaults = Omit<Config, 'configFiles' | 'siteAccess'>;

const withDefaults = (settings: Settings, folder: string, production: boolean): Defaults => ({
  port: settings.port ?? 4000,
  host: settings.host ?? '127.0.0.1',
  isLoopback: /^(localhost|127\.|::1$)/.test(settings.host ?? '127.0.0.1'),
  publicUrl: settings.publicUrl?.replace(/\/$/, ''),
  allowedHosts: (settings.allowedHosts ?? []).map((name) => name.toLowerCase()),
  instanceLabel: settings.instanceLabel ?? '',
  site: settings.site ?? resolve(PACKAGE_ROOT, 'examples/site'),
  state: settings.state ?? resolve(folder, '.trellis'),
  databaseUrl: settings.databaseUrl,
  services: settings.services ?? ['site', 'dashboard', 'secrets'],
  watch: settings.watch ?? true,
  introspection: settings.introspection ?? true,
  queryValues: settings.queryValues ?? QUERY_VALUES,
  queryWorkMs: settings.queryWorkMs ?? QUERY_WORK_MS,
  queryTimeoutMs: settings.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
  imagesQuota: parseDataSize(settings.imagesQuota ?? '2GB') ?? 0,
  trustProxy: settings.trustProxy ?? 0,
  rateLimit: settings.rateLimit ?? RATE_LIMIT,
  tightRateLimit: settings.tightRateLimit ?? TIGHT_RATE_LIMIT,
  siteRateLimit: settings.siteRateLimit ?? SITE_RATE_LIMIT,
  imageRateLimit: settings.imageRateLimit ?? IMAGE_RATE_LIMIT,
  refreshMinutes: settings.refreshMinutes ?? REFRESH_MINUTES,
  githubApp: toGithubApp(settings),
  forgeAllow: settings.forgeAllow ?? [],
  logLevel: settings.logLevel ?? 'info',
  production,
});

function toGithubApp({ githubAppId: id, githubAppPrivateKeyBase64: key, githubAppUrl }: Settings): Config['githubApp'] {
  if (id === undefined || key === undefined) return undefined;
  return { id, privateKey: Buffer.from(key, 'base64').toString(), url: githubAppUrl?.replace(/\/+$/, '') ?? '' };
}

/** The environment as it is, for commands with settings of their own, and for what they start. */
export const readEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;
