/** The options of the server, from which the environment variables, configuration keys, flags and help are derived. */
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The options with secret values. Each can also be given as a file that contains the value. */
type SecretName =
  'databaseUrl' | 'githubAppPrivateKeyBase64' | 'postgresDirectUrl' | 'serverKey' | 'siteToken' | 'smtp';

type SecretFiles = { readonly [Name in SecretName as `${Name}File`]?: string };

/** The configured values, before defaults are applied. */
export interface ConfigValues extends SecretFiles {
  readonly port?: number;
  readonly host?: string;
  readonly publicUrl?: string;
  readonly allowedHosts?: readonly string[];
  readonly instanceLabel?: string;
  /** A number as text, or `auto`. */
  readonly workers?: string;
  readonly site?: string;
  readonly sitePublish?: string;
  readonly state?: string;
  readonly services?: readonly string[];
  readonly siteAccess?: 'people' | 'public' | 'token';
  readonly siteToken?: string;
  readonly watch?: boolean;
  readonly introspection?: boolean;
  readonly queryValues?: number;
  readonly queryWorkMs?: number;
  readonly queryTimeoutMs?: number;
  readonly databaseUrl?: string;
  readonly postgresPool?: number;
  readonly postgresLockSeconds?: number;
  readonly postgresStatementSeconds?: number;
  readonly postgresIdleSeconds?: number;
  readonly postgresDirectUrl?: string;
  readonly objects?: string;
  /** Text such as `500MB`. */
  readonly imagesQuota?: string;
  readonly trustProxy?: number;
  readonly drainSeconds?: number;
  readonly rateLimit?: number;
  readonly tightRateLimit?: number;
  readonly siteRateLimit?: number;
  readonly siteCacheSeconds?: number;
  readonly siteStreams?: number;
  readonly imagePixels?: number;
  readonly imagePreviews?: boolean;
  readonly imageRateLimit?: number;
  readonly refreshMinutes?: number;
  readonly serverKey?: string;
  readonly serverKeyCommand?: string;
  readonly backup?: string;
  readonly backupRecipients?: readonly string[];
  readonly backupHours?: number;
  readonly backupKeep?: number;
  readonly auditMonths?: number;
  readonly auditArchive?: string;
  readonly auditExport?: readonly string[];
  readonly githubAppId?: number;
  readonly githubAppPrivateKeyBase64?: string;
  readonly githubAppUrl?: string;
  readonly forgeAllow?: readonly string[];
  readonly smtp?: string;
  readonly smtpFrom?: string;
  readonly notificationAllow?: readonly string[];
  readonly issuerAllow?: readonly string[];
  readonly logLevel?: LogLevel;
  readonly slowQueryMs?: number;
  /** Text such as `9464` or `0.0.0.0:9464`. */
  readonly metrics?: string;
}

export interface ConfigOption {
  readonly env: string;
  /** The flag with its placeholder: `--port <number>`. */
  readonly flag: string;
  readonly description: string;
  /** JSON Schema of the value. Text from the environment and from flags is coerced to it. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The schema in words, as error messages show it after "expected". */
  readonly expected: string;
  /** Whether text is split at commas. */
  readonly isList?: true;
  /** An option that this one requires. */
  readonly requires?: keyof ConfigValues;
  /** Whether text without a scheme is a path, relative to the working directory or to the folder of the configuration file. */
  readonly isPath?: true;
  /** Whether the value is secret, so that no message shows it. */
  readonly isSecret?: true;
  /** The option whose value the file contains that this one names. */
  readonly fileOf?: SecretName;
  /** The option whose value the command prints that this one names. */
  readonly commandOf?: SecretName;
}

const TEXT = { type: 'string', minLength: 1, maxLength: 4096 };

const BUCKET_PATTERN = 's3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#\\s]*)?(\\?[^#\\s]*)?';

/** Text with a scheme is not a path: a backup to gs:// would otherwise go to a folder of that name. */
const PATH_PATTERN = '^(?![A-Za-z][A-Za-z0-9+.-]*://)';

/** A path, or a bucket. */
const PLACE_PATTERN = `${PATH_PATTERN}|^${BUCKET_PATTERN}$`;

/** The state folder alone, or a bucket. */
const OBJECTS_PATTERN = `^(file:|${BUCKET_PATTERN})$`;

/** The syntax of a bearer credential (RFC 6750), with a minimum length that makes guessing infeasible. */
const SITE_TOKEN_PATTERN = /^[\w.~+/-]{32,1024}=*$/;

/** Custom formats of JSON Schema. */
export const CONFIG_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'rsa-key-base64': isRsaKey,
  'address-rule': isAddressRule,
  'audit-place': isAuditPlace,
  'listen-address': (text) => parseListenAddress(text) !== undefined,
  // The socket of "user@/database?host=/run/postgresql" needs no host name.
  'postgres-url': (text) => URL.canParse(text.replace('@/', '@localhost/')),
  'quota-size': (text) => (parseDataSize(text) ?? 0) >= MIN_QUOTA_BYTES,
  'valid-url': (text) => URL.canParse(text),
};

/** Enough for a few images at a time. */
const MIN_QUOTA_BYTES = 10 * 10 ** 6;

const UNIT_BYTES: Readonly<Record<string, number>> = { MB: 10 ** 6, GB: 10 ** 9, TB: 10 ** 12 };

/** Parses a size such as `500MB` or `1.5GB` into bytes; returns `undefined` for other text. */
export function parseDataSize(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?) ?(MB|GB|TB)$/iu.exec(text) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (UNIT_BYTES[unit.toUpperCase()] ?? 0));
}

/** Parses `port` or `host:port`. A port alone is that of the loopback address. */
export function parseListenAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(\[[\da-f:.]+\]|[\w.-]{1,253}):)?(\d{1,5})$/iu.exec(text) ?? [];
  const port = Number(digits);
  return digits === '' || port > 65_535 ? undefined : { host: host.replace(/^\[(.*)\]$/u, '$1'), port };
}

function isRsaKey(text: string): boolean {
  try {
    return createPrivateKey(Buffer.from(text, 'base64')).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

/** Returns whether the text is a CIDR range, an IP address or a host name; the latter two also with a port. */
function isAddressRule(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (prefix !== undefined) {
    return rest.length === 0 && family !== 0 && /^\d+$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
  }
  return family !== 0 || (/^[^\s?#@]+$/.test(text) && URL.canParse(`http://${text}`));
}

/** Returns whether the audit log can be copied there: a path, a bucket, or the URL of a receiver. */
function isAuditPlace(text: string): boolean {
  if (/^(https?|syslog):\/\/[^/]/.test(text)) return URL.canParse(text);
  return new RegExp(PLACE_PATTERN, 'u').test(text);
}

type OwnName = Exclude<keyof ConfigValues, keyof SecretFiles>;

const OPTIONS: Readonly<Record<Exclude<OwnName, SecretName>, ConfigOption & { readonly isSecret?: never }>> &
  Readonly<Record<SecretName, ConfigOption & { readonly isSecret: true }>> = {
  port: {
    env: 'PORT',
    flag: '--port <number>',
    description: 'port to listen on; 0 picks a free port (default: 4000)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
    expected: 'a whole number from 0 to 65535',
  },
  host: {
    env: 'HOST',
    flag: '--host <address>',
    description: 'address to listen on (default: 127.0.0.1)',
    schema: { type: 'string', pattern: '^[A-Za-z0-9.:_-]{1,253}$' },
    expected: 'a host name or an IP address',
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    flag: '--public-url <origin>',
    description: 'origin at which browsers reach the server (default: http://localhost:<port>)',
    schema: { type: 'string', pattern: '^https?://[^\\s/?#@\\\\]+/?$', format: 'valid-url' },
    expected: 'an origin such as https://trellis.example.org, without a path',
  },
  allowedHosts: {
    env: 'TRELLIS_ALLOWED_HOSTS',
    flag: '--allowed-hosts <names>',
    description:
      'host names that requests may use in addition to that of PUBLIC_URL, separated by commas (default: none)',
    schema: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,253}$' },
      maxItems: 100,
      uniqueItems: true,
    },
    expected: 'host names without ports, separated by commas',
    isList: true,
  },
  instanceLabel: {
    env: 'INSTANCE_LABEL',
    flag: '--instance-label <text>',
    description: 'label at the top of every page, such as "staging" (default: none)',
    // A longer label would leave no space for the navigation on a phone.
    schema: { type: 'string', minLength: 1, maxLength: 24, pattern: '^[^\\p{C}]+$' },
    expected: 'text of 1 to 24 characters',
  },
  workers: {
    env: 'TRELLIS_WORKERS',
    flag: '--workers <number>',
    description: 'processes that serve requests on this machine: a number, or auto for one per core (default: 1)',
    schema: { type: 'string', pattern: '^(auto|[1-9]|[1-9]\\d|1[01]\\d|12[0-8])$' },
    expected: 'a whole number from 1 to 128, or "auto"',
  },
  site: {
    env: 'TRELLIS_SITE',
    flag: '--site <folder>',
    description:
      'folder of the site, or the s3:// address of an index that another server publishes (default: the example site)',
    // A replica follows the index in a bucket.
    schema: { ...TEXT, pattern: PLACE_PATTERN },
    expected: 'the path of a folder, or an address such as s3://bucket/prefix',
    isPath: true,
  },
  sitePublish: {
    env: 'TRELLIS_SITE_PUBLISH',
    flag: '--site-publish <url>',
    description:
      'bucket to publish the index and the files of the site to, for replicas, such as s3://bucket/prefix (default: none)',
    schema: { type: 'string', pattern: `^${BUCKET_PATTERN}$`, maxLength: 4096 },
    expected: 'an address such as s3://bucket/prefix?region=eu-west-1',
  },
  state: {
    env: 'TRELLIS_STATE',
    flag: '--state <folder>',
    description: 'state folder with databases, keys and derived files (default: .trellis)',
    schema: { ...TEXT, pattern: PATH_PATTERN },
    expected: 'the path of a folder',
    isPath: true,
  },
  services: {
    env: 'TRELLIS_SERVICES',
    flag: '--services <names>',
    description: 'services to run (default: site,dashboard,secrets)',
    // The project determines the names.
    schema: { type: 'array', items: { type: 'string', format: 'service' }, minItems: 1, uniqueItems: true },
    expected: 'services',
    isList: true,
  },
  siteAccess: {
    env: 'TRELLIS_SITE_ACCESS',
    flag: '--site-access <who>',
    description:
      'who may read the site: public, people (signed-in users and their API tokens) or token (default: public)',
    schema: { enum: ['public', 'people', 'token'] },
    expected: '"public", "people" or "token"',
  },
  siteToken: {
    env: 'TRELLIS_SITE_TOKEN',
    flag: '--site-token <token>',
    description: 'bearer token of the site if its access is "token"; other processes can see flags',
    schema: { type: 'string', pattern: SITE_TOKEN_PATTERN.source },
    expected: 'a token of 32 to 1024 letters, digits and -._~+/',
    isSecret: true,
  },
  watch: {
    env: 'TRELLIS_WATCH',
    flag: '--watch <boolean>',
    description: "watch the site's folders while the server runs (default: true)",
    schema: { type: 'boolean' },
    expected: 'true or false',
  },
  introspection: {
    env: 'TRELLIS_INTROSPECTION',
    flag: '--introspection <boolean>',
    description: 'allow introspection queries, which the GraphQL explorer uses (default: true)',
    schema: { type: 'boolean' },
    expected: 'true or false',
  },
  queryValues: {
    env: 'TRELLIS_QUERY_VALUES',
    flag: '--query-values <number>',
    description: 'maximum number of values in the response to one query (default: 500000)',
    schema: { type: 'integer', minimum: 1000, maximum: 1e9 },
    expected: 'a whole number from 1000 to 1000000000',
  },
  queryWorkMs: {
    env: 'TRELLIS_QUERY_WORK_MS',
    flag: '--query-work-ms <number>',
    description: 'maximum processor time of one query, in milliseconds (default: 1000)',
    schema: { type: 'integer', minimum: 10, maximum: 600_000 },
    expected: 'a whole number of milliseconds from 10 to 600000',
  },
  queryTimeoutMs: {
    env: 'TRELLIS_QUERY_TIMEOUT_MS',
    flag: '--query-timeout-ms <number>',
    description: 'maximum duration of one query, waiting included, in milliseconds (default: 10000)',
    schema: { type: 'integer', minimum: 10, maximum: 600_000 },
    expected: 'a whole number of milliseconds from 10 to 600000',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    flag: '--database-url <url>',
    description:
      'PostgreSQL database (15 or later) for accounts, boards and secrets (default: SQLite in the state folder)',
    schema: { type: 'string', pattern: '^postgres(ql)?://[^\\s]+$', maxLength: 4096, format: 'postgres-url' },
    expected: 'a URL such as postgres://user:password@host:5432/database',
    isSecret: true,
  },
  postgresPool: {
    env: 'TRELLIS_POSTGRES_POOL',
    flag: '--postgres-pool <number>',
    description: 'maximum number of PostgreSQL connections, and so of transactions at a time (default: 10)',
    schema: { type: 'integer', minimum: 2, maximum: 1000 },
    expected: 'a whole number from 2 to 1000',
  },
  postgresLockSeconds: {
    env: 'TRELLIS_POSTGRES_LOCK_SECONDS',
    flag: '--postgres-lock-seconds <number>',
    description: 'seconds that a transaction on PostgreSQL waits for a lock (default: 2)',
    schema: { type: 'integer', minimum: 1, maximum: 15 },
    expected: 'a whole number from 1 to 15',
  },
  postgresStatementSeconds: {
    env: 'TRELLIS_POSTGRES_STATEMENT_SECONDS',
    flag: '--postgres-statement-seconds <number>',
    description: 'seconds that a statement of a request may take on PostgreSQL (default: 4)',
    schema: { type: 'integer', minimum: 1, maximum: 15 },
    expected: 'a whole number from 1 to 15',
  },
  postgresIdleSeconds: {
    env: 'TRELLIS_POSTGRES_IDLE_SECONDS',
    flag: '--postgres-idle-seconds <number>',
    description: 'seconds after which PostgreSQL ends a transaction of a server that hangs (default: 3)',
    schema: { type: 'integer', minimum: 1, maximum: 15 },
    expected: 'a whole number from 1 to 15',
  },
  postgresDirectUrl: {
    env: 'TRELLIS_POSTGRES_DIRECT_URL',
    flag: '--postgres-direct-url <url>',
    description:
      'PostgreSQL database past a pooler, for notifications between servers; other processes can see flags (default: DATABASE_URL)',
    schema: { type: 'string', pattern: '^postgres(ql)?://[^\\s]+$', maxLength: 4096, format: 'postgres-url' },
    expected: 'a URL such as postgres://user:password@host:5432/database',
    requires: 'databaseUrl',
    isSecret: true,
  },
  objects: {
    env: 'TRELLIS_OBJECTS',
    flag: '--objects <url>',
    description: 'bucket that shares derived images with other servers, such as s3://bucket/prefix (default: none)',
    schema: { type: 'string', pattern: OBJECTS_PATTERN, maxLength: 4096 },
    expected: '"file:" or an address such as s3://bucket/prefix?region=eu-west-1',
  },
  imagesQuota: {
    env: 'TRELLIS_IMAGES_QUOTA',
    flag: '--images-quota <size>',
    description: 'disk space of derived images, inline images and public copies (default: 2GB)',
    schema: { type: 'string', format: 'quota-size' },
    expected: 'a size of at least 10MB, such as 500MB or 2GB',
  },
  trustProxy: {
    env: 'TRUST_PROXY',
    flag: '--trust-proxy <number>',
    description: 'number of trusted reverse proxies (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 9 },
    expected: 'a number of proxies from 0 to 9',
  },
  drainSeconds: {
    env: 'TRELLIS_DRAIN_SECONDS',
    flag: '--drain-seconds <number>',
    description:
      'seconds for which a server that stops still serves, so that load balancers notice (default: 5 with TRUST_PROXY, else 0)',
    schema: { type: 'integer', minimum: 0, maximum: 600 },
    expected: 'a whole number of seconds from 0 to 600',
  },
  rateLimit: {
    env: 'TRELLIS_RATE_LIMIT',
    flag: '--rate-limit <number>',
    description:
      'requests per minute of one credential, or of one address without a credential; 0 turns off all limits (default: 600)',
    schema: { type: 'integer', minimum: 0, maximum: 1e9 },
    expected: 'a whole number from 0 to 1000000000',
  },
  tightRateLimit: {
    env: 'TRELLIS_TIGHT_RATE_LIMIT',
    flag: '--tight-rate-limit <number>',
    description: 'limit per minute for each of: sign-in steps, failed credentials, created credentials (default: 60)',
    schema: { type: 'integer', minimum: 1, maximum: 1e9 },
    expected: 'a whole number from 1 to 1000000000',
  },
  siteRateLimit: {
    env: 'TRELLIS_SITE_RATE_LIMIT',
    flag: '--site-rate-limit <number>',
    description: 'GraphQL requests and pages per minute of one address (default: 3000)',
    schema: { type: 'integer', minimum: 1, maximum: 1e9 },
    expected: 'a whole number from 1 to 1000000000',
  },
  siteCacheSeconds: {
    env: 'TRELLIS_SITE_CACHE_SECONDS',
    flag: '--site-cache-seconds <number>',
    description: 'how long shared caches may serve a GET query of a public site without asking again (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 31_536_000 },
    expected: 'a whole number from 0 to 31536000',
  },
  siteStreams: {
    env: 'TRELLIS_SITE_STREAMS',
    flag: '--site-streams <number>',
    description:
      'open subscriptions and live queries of one process, of which one address may have a tenth (default: 1000)',
    schema: { type: 'integer', minimum: 0, maximum: 1e6 },
    expected: 'a whole number from 0 to 1000000',
  },
  imagePixels: {
    env: 'TRELLIS_IMAGE_PIXELS',
    flag: '--image-pixels <number>',
    description: 'pixels that a source image may have, over all frames (default: 134217728)',
    schema: { type: 'integer', minimum: 1e6, maximum: 2 ** 29 },
    expected: 'a whole number from 1000000 to 536870912',
  },
  imagePreviews: {
    env: 'TRELLIS_IMAGE_PREVIEWS',
    flag: '--image-previews <boolean>',
    description: 'render the previews (base64) of all images ahead of queries (default: true)',
    schema: { type: 'boolean' },
    expected: 'true or false',
  },
  imageRateLimit: {
    env: 'TRELLIS_IMAGE_RATE_LIMIT',
    flag: '--image-rate-limit <number>',
    description: 'images generated per minute for one address; existing images do not count (default: 600)',
    schema: { type: 'integer', minimum: 1, maximum: 1e9 },
    expected: 'a whole number from 1 to 1000000000',
  },
  refreshMinutes: {
    env: 'TRELLIS_REFRESH_MINUTES',
    flag: '--refresh-minutes <number>',
    description: 'minutes between refreshes of a board; webhooks and pending CI shorten this (default: 20)',
    schema: { type: 'integer', minimum: 1, maximum: 1440 },
    expected: 'a whole number of minutes from 1 to 1440',
  },
  serverKey: {
    env: 'TRELLIS_SERVER_KEY',
    flag: '--server-key <key>',
    description: 'key of the server, instead of server.key in the state folder; other processes can see flags',
    schema: { type: 'string', pattern: '^[\\w-]{43}$' },
    expected: 'a key of 43 characters, the content of a file server.key',
    isSecret: true,
  },
  serverKeyCommand: {
    env: 'TRELLIS_SERVER_KEY_COMMAND',
    flag: '--server-key-command <command>',
    description: 'command that prints the key of the server, run once at the start',
    schema: TEXT,
    expected: 'a command of at most 4096 characters',
    commandOf: 'serverKey',
  },
  backup: {
    env: 'TRELLIS_BACKUP',
    flag: '--backup <place>',
    description: 'folder or s3://bucket/prefix of scheduled backups (default: none)',
    schema: { ...TEXT, pattern: PLACE_PATTERN },
    expected: 'the path of a folder, or s3://bucket/prefix',
    isPath: true,
  },
  backupRecipients: {
    env: 'TRELLIS_BACKUP_RECIPIENTS',
    flag: '--backup-recipients <keys>',
    description: 'age public keys to which backups are encrypted, separated by commas (default: none)',
    schema: { type: 'array', items: { type: 'string', pattern: '^age1[02-9ac-hj-np-z]{58,}$' }, maxItems: 20 },
    expected: 'age public keys (age1…), separated by commas',
    isList: true,
  },
  backupHours: {
    env: 'TRELLIS_BACKUP_HOURS',
    flag: '--backup-hours <number>',
    description: 'hours between scheduled backups (default: 24)',
    schema: { type: 'integer', minimum: 1, maximum: 720 },
    expected: 'a whole number of hours from 1 to 720',
  },
  backupKeep: {
    env: 'TRELLIS_BACKUP_KEEP',
    flag: '--backup-keep <number>',
    description: 'number of scheduled backups to retain; older ones are deleted (default: 14)',
    schema: { type: 'integer', minimum: 1, maximum: 10_000 },
    expected: 'a whole number from 1 to 10000',
  },
  auditMonths: {
    env: 'TRELLIS_AUDIT_MONTHS',
    flag: '--audit-months <number>',
    description: 'whole months of the audit log to keep in the database; older ones are archived (default: all)',
    schema: { type: 'integer', minimum: 1, maximum: 1_200 },
    expected: 'a whole number of months from 1 to 1200',
    requires: 'auditArchive',
  },
  auditArchive: {
    env: 'TRELLIS_AUDIT_ARCHIVE',
    flag: '--audit-archive <place>',
    description: 'folder or s3://bucket/prefix of the archived audit log (default: none)',
    schema: { ...TEXT, pattern: PLACE_PATTERN },
    expected: 'the path of a folder, or s3://bucket/prefix',
    isPath: true,
    requires: 'auditMonths',
  },
  auditExport: {
    env: 'TRELLIS_AUDIT_EXPORT',
    flag: '--audit-export <places>',
    description: 'places that get the end of the audit log every hour, separated by commas (default: none)',
    schema: { type: 'array', items: { ...TEXT, maxLength: 2_048, format: 'audit-place' }, maxItems: 8 },
    expected: 'files, s3://bucket/prefix, https:// or syslog://host:port, separated by commas',
    isList: true,
    isPath: true,
  },
  githubAppId: {
    env: 'GITHUB_APP_ID',
    flag: '--github-app-id <number>',
    description: 'GitHub App id; lets users connect through its installations (default: none)',
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    expected: 'a whole number from 1',
    requires: 'githubAppPrivateKeyBase64',
  },
  githubAppPrivateKeyBase64: {
    env: 'GITHUB_APP_PRIVATE_KEY_BASE64',
    flag: '--github-app-private-key-base64 <text>',
    description: 'private key of the GitHub App: the whole PEM file in base64',
    // Twice the length of a key of 8,192 bits.
    schema: { type: 'string', maxLength: 16_384, format: 'rsa-key-base64' },
    expected: 'an RSA private key, the whole PEM file in base64',
    requires: 'githubAppId',
    isSecret: true,
  },
  githubAppUrl: {
    env: 'GITHUB_APP_URL',
    flag: '--github-app-url <url>',
    description: 'GitHub Enterprise server of the GitHub App (default: github.com)',
    schema: { type: 'string', pattern: '^https?://[^\\s?#@\\\\]+$', maxLength: 2048, format: 'valid-url' },
    expected: 'a URL such as https://github.example.org',
    requires: 'githubAppId',
  },
  forgeAllow: {
    env: 'TRELLIS_FORGE_ALLOW',
    flag: '--forge-allow <list>',
    description: 'allowed private addresses of forges, such as 10.0.0.0/8,git.example:3000 (default: none)',
    schema: { type: 'array', items: { type: 'string', maxLength: 300, format: 'address-rule' }, maxItems: 100 },
    expected: 'CIDR ranges, IP addresses or host names with or without a port, separated by commas',
    isList: true,
  },
  smtp: {
    env: 'TRELLIS_SMTP',
    flag: '--smtp <url>',
    description: 'mail server of notifications, such as smtp://user:password@mail.example:587 (default: none)',
    schema: { type: 'string', pattern: '^smtps?://[^\\s/?#]+/?(\\?[^\\s#]*)?$', maxLength: 4096, format: 'valid-url' },
    expected: 'a URL such as smtp://user:password@mail.example:587 or smtps://mail.example',
    requires: 'smtpFrom',
    isSecret: true,
  },
  smtpFrom: {
    env: 'TRELLIS_SMTP_FROM',
    flag: '--smtp-from <address>',
    description: 'sender of notifications by e-mail, such as trellis@example.org (default: none)',
    schema: { type: 'string', pattern: '^[^\\s@<>,;:"]{1,64}@[A-Za-z0-9.-]{1,253}$' },
    expected: 'an e-mail address',
    requires: 'smtp',
  },
  notificationAllow: {
    env: 'TRELLIS_NOTIFICATION_ALLOW',
    flag: '--notification-allow <list>',
    description: 'allowed private addresses of webhooks that receive notifications, as for forges (default: none)',
    schema: { type: 'array', items: { type: 'string', maxLength: 300, format: 'address-rule' }, maxItems: 100 },
    expected: 'CIDR ranges, IP addresses or host names with or without a port, separated by commas',
    isList: true,
  },
  issuerAllow: {
    env: 'TRELLIS_ISSUER_ALLOW',
    flag: '--issuer-allow <list>',
    description: 'allowed private addresses of issuers of workload tokens, as for forges (default: none)',
    schema: { type: 'array', items: { type: 'string', maxLength: 300, format: 'address-rule' }, maxItems: 100 },
    expected: 'CIDR ranges, IP addresses or host names with or without a port, separated by commas',
    isList: true,
  },
  logLevel: {
    env: 'LOG_LEVEL',
    flag: '--log-level <level>',
    description: `log level: ${LOG_LEVELS.join(', ')} (default: info)`,
    schema: { enum: LOG_LEVELS },
    expected: `one of ${LOG_LEVELS.join(', ')}`,
  },
  slowQueryMs: {
    env: 'TRELLIS_SLOW_QUERY_MS',
    flag: '--slow-query-ms <number>',
    description: 'log database statements that take at least this long, with their plan; 0 for none (default: 500)',
    schema: { type: 'integer', minimum: 0, maximum: 600_000 },
    expected: 'a whole number of milliseconds from 0 to 600000',
  },
  metrics: {
    env: 'TRELLIS_METRICS',
    flag: '--metrics <address>',
    description: 'port, or host:port, that serves metrics for Prometheus at /metrics (default: none)',
    schema: { type: 'string', format: 'listen-address' },
    expected: 'a port such as 9464, or a host with a port such as 0.0.0.0:9464',
  },
};

/** All options. Each secret is followed by an option for a file: `DATABASE_URL` by `DATABASE_URL_FILE`. */
export const CONFIG_OPTIONS = Object.fromEntries(
  Object.entries<ConfigOption>(OPTIONS).flatMap(([key, option]) =>
    option.isSecret ? [[key, option], toFileOption(key as SecretName, option)] : [[key, option]],
  ),
) as Readonly<Record<keyof ConfigValues, ConfigOption>>;

function toFileOption(key: SecretName, { env, flag }: ConfigOption): [string, ConfigOption] {
  const option: ConfigOption = {
    env: `${env}_FILE`,
    flag: `${flag.split(' ')[0] ?? ''}-file <file>`,
    description: `file that contains ${env}, read at startup`,
    schema: TEXT,
    expected: 'the path of a file',
    isPath: true,
    fileOf: key,
  };
  return [`${key}File`, option];
}

export const CONFIG_OPTION_NAMES = Object.keys(CONFIG_OPTIONS) as (keyof ConfigValues)[];
