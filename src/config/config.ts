import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { product } from '../product.js';
import { isProjectFile, type ProjectConfig } from '../project/project.js';
import { Ajv2020 } from './ajv.js';
import { importScript } from './import-script.js';
import {
  CONFIG_FORMATS,
  CONFIG_OPTION_NAMES,
  CONFIG_OPTIONS,
  type ConfigValues,
  type LogLevel,
  parseDataSize,
  SITE_TOKEN_PATTERN,
} from './options.js';
import { StartupError } from './startup-error.js';
import { assertKnownVariables } from './variables.js';

export interface Config {
  /** The services that can run, and where their code is. */
  readonly project: ProjectConfig;
  /** Files that are never part of a site: the configuration file and the file of the site token. */
  readonly configFiles: readonly string[];
  /** 0 lets the operating system choose. */
  readonly port: number;
  readonly host: string;
  /** Whether the host is a loopback address or name, which no other machine reaches. */
  readonly isLoopback: boolean;
  /** The origin that browsers use; `undefined` for localhost with the port that the server listens on. */
  readonly publicUrl: string | undefined;
  /** Host names that requests may use in addition to that of the public URL, in lower case. */
  readonly allowedHosts: readonly string[];
  /** A label that distinguishes this server from others, shown on every page; '' for none. */
  readonly instanceLabel: string;
  /** The absolute path of the site's folder. */
  readonly site: string;
  /** The absolute path of the state folder. */
  readonly state: string;
  /** A PostgreSQL database, with its password; `undefined` for SQLite in the state folder. */
  readonly databaseUrl: string | undefined;
  /** The names of the services that run. */
  readonly services: readonly string[];
  /** Whether users can sign in. */
  readonly hasAccounts: boolean;
  readonly siteAccess: SiteAccess;
  /** Whether the site's folders are watched while the server runs. */
  readonly watch: boolean;
  /** Whether queries may use introspection. */
  readonly introspection: boolean;
  /** The largest number of values in the response to one query. */
  readonly queryValues: number;
  /** The processor time that one query may use. */
  readonly queryWorkMs: number;
  /** The duration of one query, waiting included. */
  readonly queryTimeoutMs: number;
  /** The disk space of derived images, inline images and public copies, in bytes. */
  readonly imagesQuota: number;
  /** The number of trusted reverse proxies. */
  readonly trustProxy: number;
  /** The time for which the server still serves after it was told to stop. */
  readonly drainSeconds: number;
  /** Requests per minute of one credential, or of one address without a credential; 0 turns off all limits. */
  readonly rateLimit: number;
  /** The limit per minute for each of: sign-in steps, failed credentials and created credentials. */
  readonly tightRateLimit: number;
  /** GraphQL requests and pages per minute of one address. */
  readonly siteRateLimit: number;
  /** Images per minute that are generated for one address. */
  readonly imageRateLimit: number;
  /** The time from the end of one refresh of a board to the start of the next. */
  readonly refreshMinutes: number;
  /** The GitHub App of this server. Its key is PEM; its URL is empty for github.com. */
  readonly githubApp: { readonly id: number; readonly privateKey: string; readonly url: string } | undefined;
  /** Private addresses that forges may have: CIDR ranges, addresses and host names, the latter two also with a port. */
  readonly forgeAllow: readonly string[];
  readonly logLevel: LogLevel;
  /** Whether responses are sent without validating them against the contract (`NODE_ENV=production`). */
  readonly production: boolean;
}

interface ConfigSources {
  /** Values by the name of their option; `config` is the path of the configuration file. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
}

/** A value and its source as error messages name it: a variable, a flag or a key of the file. */
interface SourcedValue {
  readonly value: unknown;
  readonly source: string;
}

/** Half a million values take about a second to read, assemble and write, which blocks all other requests. */
const QUERY_VALUES = 500_000;

/** Just enough for a response of {@link QUERY_VALUES}; a regex on 100,000 names takes a sixth of it. */
const QUERY_WORK_MS = 1_000;

/** Longer than visitors wait for a page of a site. Generating missing images may take some seconds. */
const QUERY_TIMEOUT_MS = 10_000;

/** Ten per second: a page sends one request in half a minute, and a script that sends more has to wait. */
const RATE_LIMIT = 600;

/** Thirty users behind one address can sign in within a minute, with two steps each. Guessing remains infeasible. */
const TIGHT_RATE_LIMIT = 60;

/** Fifty per second: enough for the build of a static site that sends a query for each page. */
const SITE_RATE_LIMIT = 3_000;

/** Ten per second, about as many as two processors generate. A gallery of some hundred images loads without a wait. */
const IMAGE_RATE_LIMIT = 600;

/** Webhooks report most changes at once. Each refresh of a large board uses a hundredth of the hourly API quota. */
const REFRESH_MINUTES = 20;

/** Longer than two health checks of a load balancer, which are 1 to 2 seconds apart where restarts are frequent. */
const DRAIN_SECONDS = 5;

/** The file with the services of a project. */
const PROJECT_FILE = 'trellis.config.ts';

const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Loads the server configuration. Flags take precedence over the environment, the environment over the configuration
 * file, and the file over the defaults.
 *
 * @throws StartError of one line for an invalid option: its source, the expected value and the received value.
 */
export async function loadConfig(sources: ConfigSources = {}): Promise<Config> {
  const { flags = {}, env = process.env, folder = process.cwd() } = sources;
  assertKnownVariables(env);
  const file = await readConfigFile(folder, flags.config);
  const given = new Map<string, SourcedValue>();
  const project = file?.project ?? product;
  for (const [key, value] of Object.entries(file?.content ?? {})) {
    given.set(key, { value: inFolder(key, value, dirname(file?.file ?? '')), source: `${key} in ${file?.file ?? ''}` });
  }
  for (const key of CONFIG_OPTION_NAMES) {
    const { env: variable, flag } = CONFIG_OPTIONS[key];
    if (env[variable]) given.set(key, fromText(key, env[variable], variable, folder));
    if (flags[key] !== undefined) given.set(key, fromText(key, flags[key], flag.split(' ')[0] ?? key, folder));
  }
  const settings = validate(given, listServiceNames(project));
  const defaults = withDefaults(settings, project, { folder, production: env.NODE_ENV === 'production' });
  const siteAccess = await loadSiteAccess(settings, defaults);
  const configFiles = [file?.file, settings.siteTokenFile].filter((path) => path !== undefined);
  return { ...defaults, project, siteAccess, configFiles };
}

/** Lists the names of the services of a project. */
const listServiceNames = ({ site, services }: ProjectConfig): string[] => [
  ...(site ? ['site'] : []),
  ...Object.keys(services),
];

function fromText(key: keyof ConfigValues, text: string, source: string, folder: string): SourcedValue {
  const value = CONFIG_OPTIONS[key].isList ? text.split(',').map((part) => part.trim()) : text;
  return { value: inFolder(key, value, folder), source };
}

function inFolder(key: string, value: unknown, folder: string): unknown {
  const isPath = Object.hasOwn(CONFIG_OPTIONS, key) && CONFIG_OPTIONS[key as keyof ConfigValues].isPath;
  return isPath && typeof value === 'string' && value !== '' ? resolve(folder, value) : value;
}

function validate(given: ReadonlyMap<string, SourcedValue>, services: readonly string[]): ConfigValues {
  const formats = { ...CONFIG_FORMATS, service: (name: string) => services.includes(name) };
  // Validating the schema itself would take longer than all of its uses.
  const ajv = new Ajv2020({ coerceTypes: true, strict: true, validateSchema: false, formats });
  // Compiling the schemas of all options takes longer than everything else here.
  const names = CONFIG_OPTION_NAMES.filter((key) => given.has(key));
  const isValid = ajv.compile({
    type: 'object',
    properties: Object.fromEntries(names.map((key) => [key, CONFIG_OPTIONS[key].schema])),
    additionalProperties: false,
    dependentRequired: Object.fromEntries(
      names.flatMap((key) => (CONFIG_OPTIONS[key].requires ? [[key, [CONFIG_OPTIONS[key].requires]]] : [])),
    ),
  });
  const settings = Object.fromEntries([...given].map(([key, { value }]) => [key, structuredClone(value)]));
  if (!isValid(settings)) throw toStartError(given, services, isValid.errors?.[0]);
  return settings;
}

function toStartError(
  given: ReadonlyMap<string, SourcedValue>,
  services: readonly string[],
  error: ErrorObject | undefined,
): StartupError {
  if (error?.keyword === 'dependentRequired') return toMissingError(given, error);
  const { additionalProperty = '' } = (error?.params ?? {}) as { additionalProperty?: string };
  const key = error?.instancePath.split('/')[1] ?? additionalProperty;
  const { value, source } = given.get(key) ?? { value: undefined, source: key };
  if (!Object.hasOwn(CONFIG_OPTIONS, key)) {
    return new StartupError(`${source}: unknown option; the options are ${CONFIG_OPTION_NAMES.join(', ')}`);
  }
  const { isSecret, isList, ...option } = CONFIG_OPTIONS[key as keyof ConfigValues];
  const expected = key === 'services' ? `one or more of ${listed(services)}, separated by commas` : option.expected;
  const shown = JSON.stringify(isList && Array.isArray(value) ? value.join(',') : value);
  return new StartupError(`${source}: expected ${expected}; received ${isSecret ? 'a value' : shown}`);
}

function toMissingError(given: ReadonlyMap<string, SourcedValue>, { params }: ErrorObject): StartupError {
  const { property, missingProperty } = params as { property: string; missingProperty: keyof ConfigValues };
  const { env } = CONFIG_OPTIONS[missingProperty];
  return new StartupError(`${given.get(property)?.source ?? property}: requires ${env} as well`);
}

const listed = (names: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(names);

type Defaults = Omit<Config, 'configFiles' | 'hasAccounts' | 'project' | 'siteAccess'>;

function withDefaults(
  settings: ConfigValues,
  project: ProjectConfig,
  { folder, production }: { readonly folder: string; readonly production: boolean },
): Defaults & Pick<Config, 'hasAccounts'> {
  const services = settings.services ?? listServiceNames(project);
  const hasAccounts = project.accounts ?? services.some((name) => Object.hasOwn(product.services, name));
  const defaults = toDefaults(settings, folder);
  const site = settings.site ?? resolve(folder, project.site?.folder ?? defaults.site);
  return { ...defaults, site, services, hasAccounts, production };
}

const toDefaults = (settings: ConfigValues, folder: string): Omit<Defaults, 'production' | 'services'> => ({
  port: settings.port ?? 4000,
  host: settings.host ?? '127.0.0.1',
  isLoopback: /^(localhost|127\.|::1$)/.test(settings.host ?? '127.0.0.1'),
  publicUrl: settings.publicUrl?.replace(/\/$/, ''),
  allowedHosts: (settings.allowedHosts ?? []).map((name) => name.toLowerCase()),
  instanceLabel: settings.instanceLabel ?? '',
  site: settings.site ?? resolve(PACKAGE_ROOT, 'examples/site'),
  state: settings.state ?? resolve(folder, '.trellis'),
  databaseUrl: settings.databaseUrl,
  watch: settings.watch ?? true,
  introspection: settings.introspection ?? true,
  queryValues: settings.queryValues ?? QUERY_VALUES,
  queryWorkMs: settings.queryWorkMs ?? QUERY_WORK_MS,
  queryTimeoutMs: settings.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
  imagesQuota: parseDataSize(settings.imagesQuota ?? '2GB') ?? 0,
  trustProxy: settings.trustProxy ?? 0,
  // Without a proxy nobody else could serve meanwhile.
  drainSeconds: settings.drainSeconds ?? ((settings.trustProxy ?? 0) > 0 ? DRAIN_SECONDS : 0),
  rateLimit: settings.rateLimit ?? RATE_LIMIT,
  tightRateLimit: settings.tightRateLimit ?? TIGHT_RATE_LIMIT,
  siteRateLimit: settings.siteRateLimit ?? SITE_RATE_LIMIT,
  imageRateLimit: settings.imageRateLimit ?? IMAGE_RATE_LIMIT,
  refreshMinutes: settings.refreshMinutes ?? REFRESH_MINUTES,
  githubApp: toGithubApp(settings),
  forgeAllow: settings.forgeAllow ?? [],
  logLevel: settings.logLevel ?? 'info',
});

function toGithubApp({
  githubAppId: id,
  githubAppPrivateKeyBase64: key,
  githubAppUrl,
}: ConfigValues): Config['githubApp'] {
  if (id === undefined || key === undefined) return undefined;
  return { id, privateKey: Buffer.from(key, 'base64').toString(), url: githubAppUrl?.replace(/\/+$/, '') ?? '' };
}

/** Returns the environment unchanged, for commands with options of their own and for the processes that they start. */
export const readEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;

const NAMES = ['ts', 'json', 'yaml', 'yml', 'js', 'mjs'].map((extension) => `trellis.config.${extension}`);

interface ConfigFile {
  readonly file: string;
  /** The project that the file describes; absent if it has settings only. */
  readonly project: ProjectConfig | undefined;
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * Reads the named configuration file, or else the one in the folder. The content of a script is its default export.
 *
 * @returns `undefined` when no file is named and the folder has none.
 * @throws StartError when the file can't be read, does not contain an object, or the folder has several.
 */
async function readConfigFile(folder: string, named?: string): Promise<ConfigFile | undefined> {
  const file = named === undefined ? find(folder) : resolve(folder, named);
  // The file of this repository is for the generators: the server has the same services.
  if (file === undefined || file === join(PACKAGE_ROOT, PROJECT_FILE)) return undefined;
  const content = await read(file).catch((cause: unknown) => {
    throw new StartupError(`${file}: not a valid configuration file: ${oneLine(cause)}`, { cause });
  });
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new StartupError(`${file}: not a valid configuration file: the content must be an object`);
  }
  if (!isProjectFile(content)) return { file, content: { ...content }, project: undefined };
  const generated = pathToFileURL(join(dirname(file), 'src/generated/'));
  return { file, content: { ...content.settings }, project: { ...content, generated } };
}

function find(folder: string): string | undefined {
  const [file, other] = NAMES.map((name) => join(folder, name)).filter((candidate) => existsSync(candidate));
  if (file && other) throw new StartupError(`Found two configuration files: ${file} and ${other}. Remove one`);
  return file;
}

async function read(file: string): Promise<unknown> {
  if (['.ts', '.js', '.mjs'].includes(extname(file))) return importScript(file);
  const text = await readFile(file, 'utf8');
  if (extname(file) === '.json') return JSON.parse(text);
  const { parse } = await import('yaml');
  return parse(text);
}

const oneLine = (cause: unknown) =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, ' ').trim();

/** The callers that may read the site: all, signed-in users and their API tokens, or those with the site token. */
type SiteAccess =
  { readonly kind: 'public' } | { readonly kind: 'people' } | { readonly kind: 'token'; readonly token: string };

type AccessSettings = Pick<ConfigValues, 'siteAccess' | 'siteToken' | 'siteTokenFile'>;

/**
 * Combines the options for access to the site, and reads the token file.
 *
 * @throws StartError when they contradict each other, or the file has no valid token. No message contains the token.
 */
async function loadSiteAccess(
  settings: AccessSettings,
  { hasAccounts }: Pick<Config, 'hasAccounts'>,
): Promise<SiteAccess> {
  const { siteAccess: kind = 'public', siteToken, siteTokenFile } = settings;
  if (siteToken !== undefined && siteTokenFile !== undefined) {
    throw new StartupError('TRELLIS_SITE_TOKEN: set either this or TRELLIS_SITE_TOKEN_FILE, not both');
  }
  if (kind === 'token') return { kind, token: siteToken ?? (await readToken(siteTokenFile)) };
  if (siteToken !== undefined || siteTokenFile !== undefined) {
    const { env } = siteToken === undefined ? CONFIG_OPTIONS.siteTokenFile : CONFIG_OPTIONS.siteToken;
    // Otherwise the operator would assume that the token restricts access.
    throw new StartupError(
      `${env}: the token has no effect while TRELLIS_SITE_ACCESS is "${kind}"; set TRELLIS_SITE_ACCESS to token`,
    );
  }
  if (kind === 'people' && !hasAccounts) {
    throw new StartupError(
      'TRELLIS_SITE_ACCESS: "people" requires accounts; add dashboard or secrets to TRELLIS_SERVICES, or use "token"',
    );
  }
  return { kind };
}

async function readToken(file: string | undefined): Promise<string> {
  if (file === undefined) {
    throw new StartupError('TRELLIS_SITE_ACCESS: "token" requires TRELLIS_SITE_TOKEN or TRELLIS_SITE_TOKEN_FILE');
  }
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new StartupError(`TRELLIS_SITE_TOKEN_FILE: ${file} can't be read: ${code ?? message}`, { cause });
  });
  const token = text.trim();
  if (SITE_TOKEN_PATTERN.test(token)) return token;
  throw new StartupError(`TRELLIS_SITE_TOKEN_FILE: expected ${CONFIG_OPTIONS.siteToken.expected} in ${file}`);
}
