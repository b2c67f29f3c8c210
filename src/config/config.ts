import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { product } from '../product.js';
import { type AccountHolders, isProjectFile, type ProjectConfig } from '../project/project.js';
import { parseS3Url } from '../storage/objects/s3-location.js';
import { Ajv2020 } from './ajv.js';
import { readEnvironment, findUnknownVariables } from './environment.js';
import { importScript } from './import-script.js';
import {
  CONFIG_FORMATS,
  CONFIG_OPTION_NAMES,
  CONFIG_OPTIONS,
  type ConfigValues,
  type LogLevel,
  parseDataSize,
  parseListenAddress,
} from './options.js';
import { oneLine, StartupError } from './startup-error.js';

export interface Config {
  /** The services that can run, and where their code is. */
  readonly project: ProjectConfig;
  /** Files that are never part of a site: the configuration file and the files of secrets. */
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
  /** The number of processes that serve requests. */
  readonly workers: number;
  /** The absolute path of the site's folder, or the address of an index that another server publishes. */
  readonly site: string;
  /** The address of the index that another server publishes, as `s3://bucket/prefix`; `undefined` for a folder. */
  readonly siteIndex: string | undefined;
  /** The bucket that the index and the files of the site are published to; `undefined` for none. */
  readonly sitePublish: string | undefined;
  /** The absolute path of the state folder. */
  readonly state: string;
  /** A PostgreSQL database, with its password; `undefined` for SQLite in the state folder. */
  readonly databaseUrl: string | undefined;
  /** The largest number of PostgreSQL connections; `undefined` for the default. */
  readonly postgresPool: number | undefined;
  /** The limits of transactions on PostgreSQL in seconds; `undefined` for the defaults. */
  readonly postgresLockSeconds: number | undefined;
  readonly postgresStatementSeconds: number | undefined;
  readonly postgresIdleSeconds: number | undefined;
  /** The database past a pooler, with its password; `undefined` for `databaseUrl`. */
  readonly postgresDirectUrl: string | undefined;
  /** The bucket of derived images, as `s3://bucket/prefix`; `undefined` for the state folder alone. */
  readonly objects: string | undefined;
  /** The variables of AWS. */
  readonly awsEnvironment: Readonly<Record<string, string | undefined>>;
  /** The names of the services that run. */
  readonly services: readonly string[];
  readonly accounts: AccountHolders;
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
  /** The time for which the server still serves after the signal to stop. */
  readonly drainSeconds: number;
  /** Requests per minute of one credential, or of one address without a credential; 0 turns off all limits. */
  readonly rateLimit: number;
  /** The limit per minute for each of: sign-in steps, failed credentials and created credentials. */
  readonly tightRateLimit: number;
  /** GraphQL requests and pages per minute of one address. */
  readonly siteRateLimit: number;
  /** The time for which a shared cache may serve a response of a public site without asking. */
  readonly siteCacheSeconds: number;
  /** The number of subscriptions of the site that may be open in one process; 0 for none. */
  readonly siteStreams: number;
  /** The number of pixels that a source image may have, over all frames. */
  readonly imagePixels: number;
  /** Whether previews of images are rendered ahead of queries. */
  readonly imagePreviews: boolean;
  /** Images per minute that are generated for one address. */
  readonly imageRateLimit: number;
  /** The time from the end of one refresh of a board to the start of the next. */
  readonly refreshMinutes: number;
  /** The key of the server; `undefined` for that in the state folder. */
  readonly serverKey: string | undefined;
  /** The command that prints the key; `withServerKey` runs it. */
  readonly serverKeyCommand: string | undefined;
  /** The folder of scheduled backups; `undefined` for none. */
  readonly backup: string | undefined;
  /** The age public keys to which backups are encrypted; none for backups in clear. */
  readonly backupRecipients: readonly string[];
  readonly backupHours: number;
  /** The number of scheduled backups to retain. */
  readonly backupKeep: number;
  /** The places that get the end of the audit log every hour. */
  readonly auditExport: readonly string[];
  /** The months of the audit log to keep, and the place of older ones; `undefined` to keep all. */
  readonly auditRetention: { readonly months: number; readonly place: string } | undefined;
  /** The GitHub App of this server. Its key is PEM; its URL is empty for github.com. */
  readonly githubApp: { readonly id: number; readonly privateKey: string; readonly url: string } | undefined;
  /** Private addresses that forges may have: CIDR ranges, addresses and host names, the latter two also with a port. */
  readonly forgeAllow: readonly string[];
  /** The mail server of notifications, with its password, and their sender; `undefined` for no e-mail. */
  readonly smtp: { readonly url: string; readonly from: string } | undefined;
  /** Private addresses that notifications may be sent to, as in `forgeAllow`. */
  readonly notificationAllow: readonly string[];
  /** Private addresses that issuers of workload tokens may have, as in `forgeAllow`. */
  readonly issuerAllow: readonly string[];
  readonly logLevel: LogLevel;
  /** Database statements that take at least this long are logged; 0 for none. */
  readonly slowQueryMs: number;
  /** The address that serves metrics; `undefined` for none. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
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
export interface SourcedValue {
  readonly value: unknown;
  readonly source: string;
  /** The file that contained the value. */
  readonly secretFile?: string;
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

/** Far more than any statement takes, except on a machine or database with a problem. */
const SLOW_QUERY_MS = 500;

/** Longer than two health checks of a load balancer, which are 1 to 2 seconds apart where restarts are frequent. */
const DRAIN_SECONDS = 5;

/** The file with the services of a project. */
const PROJECT_FILE = 'trellis.config.ts';

const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Loads the server configuration. Flags take precedence over the environment, the environment over the configuration
 * file, and the file over the defaults.
 *
 * @throws StartError of one line for the first invalid option: its source, the expected value and the received value.
 */
export async function loadConfig(sources: ConfigSources = {}): Promise<Config> {
  const { config, mistakes } = await inspectConfig(sources);
  if (config === undefined) throw mistakes[0] ?? new StartupError('The configuration is not valid');
  return config;
}

/** The configuration, or all its mistakes. */
interface ConfigInspection {
  /** Absent if there are mistakes. */
  readonly config: Config | undefined;
  /** The values that are not defaults, by the name of their option. */
  readonly given: ReadonlyMap<string, SourcedValue>;
  readonly mistakes: readonly StartupError[];
}

/** Loads the configuration as {@link loadConfig} does, and reports all mistakes in the values of options. */
export async function inspectConfig(sources: ConfigSources = {}): Promise<ConfigInspection> {
  const given = new Map<string, SourcedValue>();
  const mistakes: StartupError[] = [];
  try {
    const config = await inspect(sources, given, mistakes);
    return { config: mistakes.length === 0 ? config : undefined, given, mistakes };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return { config: undefined, given, mistakes: [...mistakes, error] };
  }
}

async function inspect(
  { flags = {}, env = readEnvironment(), folder = process.cwd() }: ConfigSources,
  given: Map<string, SourcedValue>,
  mistakes: StartupError[],
): Promise<Config | undefined> {
  mistakes.push(...findUnknownVariables(env));
  const file = await readConfigFile(folder, flags.config);
  const project = file?.project ?? product;
  for (const layer of [fromFile(file), fromEnvironment(env, folder), fromFlags(flags, folder)]) {
    addLayer(given, layer, mistakes);
  }
  await readSecretFiles(given, mistakes);
  const { settings, invalid } = validate(given, listServiceNames(project));
  const awsEnvironment = readAwsEnvironment(env);
  mistakes.push(...(invalid.length > 0 ? invalid : findInvalidBuckets(given, awsEnvironment)));
  if (mistakes.length > 0) return undefined;
  const defaults = withDefaults(settings, project, { folder, production: env.NODE_ENV === 'production' });
  const siteAccess = toSiteAccess(settings, given, { ...defaults, isProject: file?.project !== undefined });
  if (defaults.sitePublish !== undefined && defaults.siteIndex !== undefined) {
    throw new StartupError('TRELLIS_SITE_PUBLISH: requires a folder as TRELLIS_SITE; received the address of an index');
  }
  const secretFiles = [...given.values()].map(({ secretFile }) => secretFile);
  const configFiles = [file?.file, ...secretFiles].filter((path) => path !== undefined);
  return { ...defaults, project, siteAccess, configFiles, awsEnvironment };
}

const readAwsEnvironment = (env: NodeJS.ProcessEnv): Config['awsEnvironment'] =>
  Object.fromEntries(Object.entries(env).filter(([name, value]) => name.startsWith('AWS_') && value !== ''));

/** The options that can name a bucket. */
const BUCKET_OPTIONS: readonly (keyof ConfigValues)[] = [
  'site',
  'sitePublish',
  'objects',
  'backup',
  'auditArchive',
  'auditExport',
];

/** Returns the mistakes in the parameters of buckets, which their first use would report too late. */
function findInvalidBuckets(given: Layer, awsEnvironment: Config['awsEnvironment']): StartupError[] {
  return BUCKET_OPTIONS.flatMap((key) => {
    const { value, source = key } = given.get(key) ?? {};
    const places = [value].flat().filter((place) => typeof place === 'string' && place.startsWith('s3://'));
    return (places as string[]).flatMap((place) => {
      try {
        parseS3Url(place, awsEnvironment);
        return [];
      } catch (error) {
        return [new StartupError(`${source}: ${oneLine(error)}`)];
      }
    });
  });
}

type Layer = ReadonlyMap<string, SourcedValue>;

function fromFile({ file, content }: Pick<ConfigFile, 'content' | 'file'> = { file: '', content: {} }): Layer {
  const layer = new Map<string, SourcedValue>();
  for (const [key, value] of Object.entries(content)) {
    // As an empty variable, "port:" without a value sets nothing.
    if (value === null || value === undefined) continue;
    const isList = Object.hasOwn(CONFIG_OPTIONS, key) && CONFIG_OPTIONS[key as keyof ConfigValues].isList;
    // The validator would convert true to the number 1, but converts no text of a boolean.
    const written = typeof value === 'boolean' ? String(value) : value;
    const parsed = isList && typeof written === 'string' ? splitList(written) : written;
    layer.set(key, { value: inFolder(key, parsed, dirname(file)), source: `${key} in ${file}` });
  }
  return layer;
}

const splitList = (text: string): string[] => text.split(',').map((part) => part.trim());

function fromEnvironment(env: NodeJS.ProcessEnv, folder: string): Layer {
  const layer = new Map<string, SourcedValue>();
  for (const key of CONFIG_OPTION_NAMES) {
    const { env: variable } = CONFIG_OPTIONS[key];
    if (env[variable]) layer.set(key, fromText(key, env[variable], variable, folder));
  }
  return layer;
}

function fromFlags(flags: NonNullable<ConfigSources['flags']>, folder: string): Layer {
  const layer = new Map<string, SourcedValue>();
  for (const key of CONFIG_OPTION_NAMES) {
    const text = flags[key];
    if (text !== undefined) layer.set(key, fromText(key, text, CONFIG_OPTIONS[key].flag.split(' ')[0] ?? key, folder));
  }
  return layer;
}

/** Adds values that take precedence. A secret replaces its file, or its command, of an earlier layer, and the reverse. */
function addLayer(given: Map<string, SourcedValue>, layer: Layer, mistakes: StartupError[]): void {
  for (const ways of WAYS_OF_SECRETS) {
    const [one, other] = ways.filter((key) => layer.has(key));
    if (one === undefined) continue;
    for (const key of ways) given.delete(key);
    if (other === undefined) continue;
    mistakes.push(
      new StartupError(`${CONFIG_OPTIONS[one].env}: set either this or ${CONFIG_OPTIONS[other].env}, not both`),
    );
  }
  for (const [key, value] of layer) given.set(key, value);
}

/** The options of each secret: its value, the file that contains it, and the command that prints it. */
const WAYS_OF_SECRETS = CONFIG_OPTION_NAMES.filter((name) => CONFIG_OPTIONS[name].isSecret).map((name) =>
  CONFIG_OPTION_NAMES.filter(
    (key) => key === name || [CONFIG_OPTIONS[key].fileOf, CONFIG_OPTIONS[key].commandOf].includes(name as never),
  ),
);

/** Replaces the files of secrets by the values in them. */
async function readSecretFiles(given: Map<string, SourcedValue>, mistakes: StartupError[]): Promise<void> {
  for (const key of CONFIG_OPTION_NAMES) {
    const { fileOf } = CONFIG_OPTIONS[key];
    const { value: file, source = '' } = given.get(key) ?? {};
    if (fileOf === undefined || typeof file !== 'string' || file === '') continue;
    given.delete(key);
    try {
      const text = await readFile(file, 'utf8');
      given.set(fileOf, { value: text.trim(), source, secretFile: file });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      mistakes.push(new StartupError(`${source}: ${file} can't be read: ${code ?? message}`, { cause }));
    }
  }
}

/** Lists the names of the services of a project. */
const listServiceNames = ({ site, services }: ProjectConfig): string[] => [
  ...(site ? ['site'] : []),
  ...Object.keys(services),
];

function fromText(key: keyof ConfigValues, text: string, source: string, folder: string): SourcedValue {
  const value = CONFIG_OPTIONS[key].isList ? splitList(text) : text;
  return { value: inFolder(key, value, folder), source };
}

function inFolder(key: string, value: unknown, folder: string): unknown {
  if (!Object.hasOwn(CONFIG_OPTIONS, key) || !CONFIG_OPTIONS[key as keyof ConfigValues].isPath) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => inFolder(key, item, folder));
  return typeof value === 'string' && value !== '' && !HAS_SCHEME.test(value) ? resolve(folder, value) : value;
}

const HAS_SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;

interface Validation {
  readonly settings: ConfigValues;
  readonly invalid: readonly StartupError[];
}

function validate(given: ReadonlyMap<string, SourcedValue>, services: readonly string[]): Validation {
  const formats = { ...CONFIG_FORMATS, service: (name: string) => services.includes(name) };
  // Validating the schema itself would take longer than all of its uses.
  const ajv = new Ajv2020({ allErrors: true, coerceTypes: true, strict: true, validateSchema: false, formats });
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
  if (isValid(settings)) return { settings, invalid: [] };
  // An option may violate several parts of its schema, which its expected value describes together.
  const messages = new Set(isValid.errors?.map((error) => toMistake(given, services, error)));
  return { settings, invalid: [...messages].map((message) => new StartupError(message)) };
}

function toMistake(given: ReadonlyMap<string, SourcedValue>, services: readonly string[], error: ErrorObject): string {
  if (error.keyword === 'dependentRequired') return toMissing(given, error);
  const { additionalProperty = '' } = error.params as { additionalProperty?: string };
  const key = error.instancePath.split('/')[1] ?? additionalProperty;
  const { value, source, secretFile } = given.get(key) ?? { value: undefined, source: key };
  if (!Object.hasOwn(CONFIG_OPTIONS, key)) {
    return `${source}: unknown option; the options are ${CONFIG_OPTION_NAMES.join(', ')}`;
  }
  const { isSecret, isList, ...option } = CONFIG_OPTIONS[key as keyof ConfigValues];
  const expected = key === 'services' ? `one or more of ${listed(services)}, separated by commas` : option.expected;
  if (secretFile !== undefined) return `${source}: expected ${expected} in ${secretFile}`;
  // URLs may contain credentials by mistake, and an identity of age may be mistaken for its public key.
  const text = JSON.stringify((isList && Array.isArray(value) ? value.join(',') : value) ?? null);
  const shown = text.replace(/\/\/[^/@]*@/g, '//…@');
  const isHidden = isSecret === true || /age-(?:secret-key|plugin)-/i.test(text);
  return `${source}: expected ${expected}; received ${isHidden ? 'a value' : shown}`;
}

function toMissing(given: ReadonlyMap<string, SourcedValue>, { params }: ErrorObject): string {
  const { property, missingProperty } = params as { property: string; missingProperty: keyof ConfigValues };
  const { env } = CONFIG_OPTIONS[missingProperty];
  return `${given.get(property)?.source ?? property}: requires ${env} as well`;
}

const listed = (names: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(names);

type Defaults = Omit<Config, 'accounts' | 'awsEnvironment' | 'configFiles' | 'project' | 'siteAccess'>;

function withDefaults(
  settings: ConfigValues,
  project: ProjectConfig,
  { folder, production }: { readonly folder: string; readonly production: boolean },
): Defaults & Pick<Config, 'accounts'> {
  const services = settings.services ?? listServiceNames(project);
  const accounts = findAccountHolders(settings, project, services);
  const defaults = toDefaults(settings, folder);
  const site = settings.site ?? resolve(folder, project.site?.folder ?? defaults.site);
  const siteIndex = site.startsWith('s3://') ? site : undefined;
  return { ...defaults, site, siteIndex, services, accounts, production };
}

function findAccountHolders(
  { siteAccess }: ConfigValues,
  project: ProjectConfig,
  services: readonly string[],
): AccountHolders {
  const hasAccounts = project.accounts ?? services.some((name) => Object.hasOwn(product.services, name));
  if (!hasAccounts) return 'none';
  // The secrets belong to the admin, and a site needs no accounts unless only signed-in users may read it.
  const needUsers = services.some((name) => name !== 'secrets' && name !== 'site');
  return needUsers || siteAccess === 'people' || project.accounts === true ? 'users' : 'admin';
}

function toAuditRetention({ auditMonths, auditArchive }: ConfigValues): Config['auditRetention'] {
  return auditMonths === undefined || auditArchive === undefined
    ? undefined
    : { months: auditMonths, place: auditArchive };
}

const toDefaults = (
  settings: ConfigValues,
  folder: string,
): Omit<Defaults, 'production' | 'services' | 'siteIndex'> => ({
  port: settings.port ?? 4000,
  host: settings.host ?? '127.0.0.1',
  isLoopback: /^(localhost$|127\.|::1$)/.test(settings.host ?? '127.0.0.1'),
  publicUrl: settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).origin,
  allowedHosts: (settings.allowedHosts ?? []).map((name) => name.toLowerCase()),
  instanceLabel: settings.instanceLabel ?? '',
  workers: settings.workers === 'auto' ? availableParallelism() : Number(settings.workers ?? 1),
  site: settings.site ?? resolve(PACKAGE_ROOT, 'examples/site'),
  sitePublish: settings.sitePublish,
  state: settings.state ?? resolve(folder, '.trellis'),
  databaseUrl: settings.databaseUrl,
  postgresPool: settings.postgresPool,
  postgresLockSeconds: settings.postgresLockSeconds,
  postgresStatementSeconds: settings.postgresStatementSeconds,
  postgresIdleSeconds: settings.postgresIdleSeconds,
  postgresDirectUrl: settings.postgresDirectUrl,
  objects: settings.objects === 'file:' ? undefined : settings.objects,
  watch: settings.watch ?? true,
  introspection: settings.introspection ?? true,
  queryValues: settings.queryValues ?? QUERY_VALUES,
  queryWorkMs: settings.queryWorkMs ?? QUERY_WORK_MS,
  queryTimeoutMs: settings.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
  imagesQuota: parseDataSize(settings.imagesQuota ?? '2GB') ?? 0,
  trustProxy: settings.trustProxy ?? 0,
  // Without a proxy, no other server could serve meanwhile.
  drainSeconds: settings.drainSeconds ?? ((settings.trustProxy ?? 0) > 0 ? DRAIN_SECONDS : 0),
  rateLimit: settings.rateLimit ?? RATE_LIMIT,
  tightRateLimit: settings.tightRateLimit ?? TIGHT_RATE_LIMIT,
  siteRateLimit: settings.siteRateLimit ?? SITE_RATE_LIMIT,
  siteCacheSeconds: settings.siteCacheSeconds ?? 0,
  siteStreams: settings.siteStreams ?? 1000,
  imagePixels: settings.imagePixels ?? 2 ** 27,
  imagePreviews: settings.imagePreviews ?? true,
  imageRateLimit: settings.imageRateLimit ?? IMAGE_RATE_LIMIT,
  refreshMinutes: settings.refreshMinutes ?? REFRESH_MINUTES,
  serverKey: settings.serverKey,
  serverKeyCommand: settings.serverKeyCommand,
  backup: settings.backup,
  backupRecipients: settings.backupRecipients ?? [],
  backupHours: settings.backupHours ?? 24,
  backupKeep: settings.backupKeep ?? 14,
  auditRetention: toAuditRetention(settings),
  auditExport: settings.auditExport ?? [],
  githubApp: toGithubApp(settings),
  forgeAllow: settings.forgeAllow ?? [],
  smtp: toSmtp(settings),
  notificationAllow: settings.notificationAllow ?? [],
  issuerAllow: settings.issuerAllow ?? [],
  logLevel: settings.logLevel ?? 'info',
  slowQueryMs: settings.slowQueryMs ?? SLOW_QUERY_MS,
  metrics: settings.metrics === undefined ? undefined : parseListenAddress(settings.metrics),
});

function toGithubApp({
  githubAppId: id,
  githubAppPrivateKeyBase64: key,
  githubAppUrl,
}: ConfigValues): Config['githubApp'] {
  if (id === undefined || key === undefined) return undefined;
  return { id, privateKey: Buffer.from(key, 'base64').toString(), url: githubAppUrl?.replace(/\/+$/, '') ?? '' };
}

function toSmtp({ smtp: url, smtpFrom: from }: ConfigValues): Config['smtp'] {
  return url === undefined || from === undefined ? undefined : { url, from };
}

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
  const { site } = content;
  const placed = site?.folder === undefined ? site : { ...site, folder: resolve(dirname(file), site.folder) };
  return { file, content: { ...content.settings }, project: { ...content, generated, site: placed } };
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
  // A file whose lines are all comments sets nothing.
  return parse(text) ?? {};
}

/** The callers that may read the site: all, signed-in users and their API tokens, or those with the site token. */
type SiteAccess =
  { readonly kind: 'public' } | { readonly kind: 'people' } | { readonly kind: 'token'; readonly token: string };

/**
 * Combines the options for access to the site.
 *
 * @throws StartError when they contradict each other. No message contains the token.
 */
function toSiteAccess(
  { siteAccess: kind = 'public', siteToken: token }: ConfigValues,
  given: ReadonlyMap<string, SourcedValue>,
  { accounts, isProject }: Pick<Config, 'accounts'> & { readonly isProject: boolean },
): SiteAccess {
  if (kind === 'token') {
    if (token !== undefined) return { kind, token };
    throw new StartupError('TRELLIS_SITE_ACCESS: "token" requires TRELLIS_SITE_TOKEN or TRELLIS_SITE_TOKEN_FILE');
  }
  if (token !== undefined) {
    // Otherwise the operator would assume that the token restricts access.
    throw new StartupError(
      `${given.get('siteToken')?.source ?? ''}: the token has no effect while TRELLIS_SITE_ACCESS is "${kind}"; set TRELLIS_SITE_ACCESS to token`,
    );
  }
  if (kind === 'people' && accounts === 'none') {
    throw new StartupError(
      isProject
        ? 'TRELLIS_SITE_ACCESS: "people" requires accounts; set accounts: true in trellis.config.ts, or use "token"'
        : 'TRELLIS_SITE_ACCESS: "people" requires accounts; add dashboard or secrets to TRELLIS_SERVICES, or use "token"',
    );
  }
  return { kind };
}
