/** The settings of Trellis: the one list behind the environment, the configuration file, the flags and the help. */
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';

export type ServiceName = 'dashboard' | 'secrets' | 'site';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The settings as they are given, before defaults. */
export interface Settings {
  readonly port?: number;
  readonly host?: string;
  readonly publicUrl?: string;
  readonly allowedHosts?: readonly string[];
  readonly instanceLabel?: string;
  readonly site?: string;
  readonly state?: string;
  readonly services?: readonly ServiceName[];
  readonly siteAccess?: 'people' | 'public' | 'token';
  readonly siteToken?: string;
  readonly siteTokenFile?: string;
  readonly watch?: boolean;
  readonly introspection?: boolean;
  readonly queryValues?: number;
  readonly queryWorkMs?: number;
  readonly queryTimeoutMs?: number;
  readonly databaseUrl?: string;
  readonly objects?: never;
  /** Text such as `500MB`. */
  readonly imagesQuota?: string;
  readonly trustProxy?: number;
  readonly rateLimit?: number;
  readonly tightRateLimit?: number;
  readonly siteRateLimit?: number;
  readonly imageRateLimit?: number;
  readonly refreshMinutes?: number;
  readonly githubAppId?: number;
  readonly githubAppPrivateKeyBase64?: string;
  readonly githubAppUrl?: string;
  readonly forgeAllow?: readonly string[];
  readonly logLevel?: LogLevel;
}

export interface Setting {
  readonly env: string;
  /** With its placeholder: `--port <number>`. */
  readonly flag: string;
  readonly description: string;
  /** JSON Schema of the value. Text from the environment and from flags is coerced to it. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The schema in words, after "expected". */
  readonly expected: string;
  /** Text with commas becomes a list. */
  readonly list?: true;
  /** Another setting without which it means nothing. */
  readonly needs?: keyof Settings;
  /** A path, which is taken from where it is written: the working directory, or the configuration file's. */
  readonly path?: true;
  /** Never shown, not even when it is wrong. */
  readonly secret?: true;
}

const TEXT = { type: 'string', minLength: 1, maxLength: 4096 };
const UNSUPPORTED = { not: {} };

/** Text that a bearer credential may have (RFC 6750), too long to be guessed. */
export const SITE_TOKEN = /^[\w.~+/-]{32,1024}=*$/;

/** Formats of JSON Schema that are ours. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'rsa-key-base64': isRsaKey,
  'address-rule': isAddressRule,
  'quota-size': (text) => (parseDataSize(text) ?? 0) >= MIN_QUOTA_BYTES,
};

/** Room for a few images at a time. */
const MIN_QUOTA_BYTES = 10 * 10 ** 6;

const UNIT_BYTES: Readonly<Record<string, number>> = { MB: 10 ** 6, GB: 10 ** 9, TB: 10 ** 12 };

/** Reads a size such as `500MB` or `1.5GB`, in bytes; `undefined` for other text. */
export function parseDataSize(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?) ?(MB|GB|TB)$/iu.exec(text) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (UNIT_BYTES[unit.toUpperCase()] ?? 0));
}

function isRsaKey(text: string): boolean {
  try {
    return createPrivateKey(Buffer.from(text, 'base64')).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

/** A CIDR range, an IP address or a host name; the last two also with a port. */
function isAddressRule(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (prefix !== undefined) {
    return rest.length === 0 && family !== 0 && /^\d+$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
  }
  return family !== 0 || (/^[^\s?#@]+$/.test(text) && URL.canParse(`http://${text}`));
}

export const SETTINGS: Readonly<Record<keyof Settings, Setting>> = {
  port: {
    env: 'PORT',
    flag: '--port <number>',
    description: 'where to listen; 0 picks a free port (default: 4000)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
    expected: 'a whole number from 0 to 65535',
  },
  host: {
    env: 'HOST',
    flag: '--host <address>',
    description: 'the address to listen on (default: 127.0.0.1)',
    schema: { type: 'string', pattern: '^[A-Za-z0-9.:_-]{1,253}$' },
    expected: 'a host name or an IP address',
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    flag: '--public-url <origin>',
    description: 'the origin that people use (default: http://localhost:<port>)',
    schema: { type: 'string', pattern: '^https?://[^\\s/?#@]+/?$' },
    expected: 'an origin such as https://trellis.example.org, without a path',
  },
  allowedHosts: {
    env: 'TRELLIS_ALLOWED_HOSTS',
    flag: '--allowed-hosts <names>',
    description: "host names that requests may use in addition to PUBLIC_URL's, separated by commas (default: none)",
    schema: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,253}$' },
      maxItems: 100,
      uniqueItems: true,
    },
    expected: 'host names without ports, separated by commas',
    list: true,
  },
  instanceLabel: {
    env: 'INSTANCE_LABEL',
    flag: '--instance-label <text>',
    description: 'what tells this server from others at the top of every page, such as "staging" (default: nothing)',
    // A word or two; more would push the navigation away on a phone.
    schema: { type: 'string', minLength: 1, maxLength: 24, pattern: '^[^\\p{C}]+$' },
    expected: 'a text of 1 to 24 characters',
  },
  site: {
    env: 'TRELLIS_SITE',
    flag: '--site <folder>',
    description: "the site's folder (default: the example site)",
    schema: TEXT,
    expected: 'the path of a folder',
    path: true,
  },
  state: {
    env: 'TRELLIS_STATE',
    flag: '--state <folder>',
    description: 'databases, keys and derived files (default: .trellis)',
    schema: TEXT,
    expected: 'the path of a folder',
    path: true,
  },
  services: {
    env: 'TRELLIS_SERVICES',
    flag: '--services <names>',
    description: 'which services to run (default: site,dashboard,secrets)',
    schema: { type: 'array', items: { enum: ['site', 'dashboard', 'secrets'] }, minItems: 1, uniqueItems: true },
    expected: 'one or more of site, dashboard and secrets, separated by commas',
    list: true,
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
    description: 'the bearer token of the site with the access "token"; a flag is visible to other processes',
    schema: { type: 'string', pattern: SITE_TOKEN.source },
    expected: 'a token of 32 to 1024 letters, digits and -._~+/',
    secret: true,
  },
  siteTokenFile: {
    env: 'TRELLIS_SITE_TOKEN_FILE',
    flag: '--site-token-file <file>',
    description: 'a file that holds the token, read at the start',
    schema: TEXT,
    expected: 'the path of a file',
    path: true,
  },
  watch: {
    env: 'TRELLIS_WATCH',
    flag: '--watch <boolean>',
    description: "whether the site's folders are followed while the server runs (default: true)",
    schema: { type: 'boolean' },
    expected: 'true or false',
  },
  introspection: {
    env: 'TRELLIS_INTROSPECTION',
    flag: '--introspection <boolean>',
    description: 'whether queries may ask about the schema, as the explorer does (default: true)',
    schema: { type: 'boolean' },
    expected: 'true or false',
  },
  queryValues: {
    env: 'TRELLIS_QUERY_VALUES',
    flag: '--query-values <number>',
    description: 'how many values the answer to one query may hold (default: 500000)',
    schema: { type: 'integer', minimum: 1000, maximum: 1e9 },
    expected: 'a whole number from 1000 to 1000000000',
  },
  queryWorkMs: {
    env: 'TRELLIS_QUERY_WORK_MS',
    flag: '--query-work-ms <number>',
    description: 'how much processor time one query may use, in milliseconds (default: 1000)',
    schema: { type: 'integer', minimum: 10, maximum: 600_000 },
    expected: 'a whole number of milliseconds from 10 to 600000',
  },
  queryTimeoutMs: {
    env: 'TRELLIS_QUERY_TIMEOUT_MS',
    flag: '--query-timeout-ms <number>',
    description: 'how long one query may take, with all that it waits for (default: 10000)',
    schema: { type: 'integer', minimum: 10, maximum: 600_000 },
    expected: 'a whole number of milliseconds from 10 to 600000',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    flag: '--database-url <url>',
    description:
      'a PostgreSQL database (15 or later) for accounts, boards and secrets (default: SQLite in the state folder)',
    schema: { type: 'string', pattern: '^postgres(ql)?://[^\\s]+$', maxLength: 4096 },
    expected: 'an address such as postgres://user:password@host:5432/database',
    secret: true,
  },
  objects: {
    env: 'TRELLIS_OBJECTS',
    flag: '--objects <url>',
    description: 'reserved: this version keeps derived files in the state folder',
    schema: UNSUPPORTED,
    expected: 'to be unset, as this version keeps derived files in the state folder',
  },
  imagesQuota: {
    env: 'TRELLIS_IMAGES_QUOTA',
    flag: '--images-quota <size>',
    description: 'disk space of derived images, inline images and public copies; old ones are evicted (default: 2GB)',
    schema: { type: 'string', format: 'quota-size' },
    expected: 'a size of at least 10MB, such as 500MB or 2GB',
  },
  trustProxy: {
    env: 'TRUST_PROXY',
    flag: '--trust-proxy <number>',
    description: 'how many proxies stand in front and may name the client (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 9 },
    expected: 'the number of proxies in front, from 0 to 9',
  },
  rateLimit: {
    env: 'TRELLIS_RATE_LIMIT',
    flag: '--rate-limit <number>',
    description:
      'requests a minute of one credential, or of one address without; 0 turns every limit off (default: 600)',
    schema: { type: 'integer', minimum: 0, maximum: 1e9 },
    expected: 'a whole number from 0 to 1000000000',
  },
  tightRateLimit: {
    env: 'TRELLIS_TIGHT_RATE_LIMIT',
    flag: '--tight-rate-limit <number>',
    description: 'the same for sign-in, credentials that fail and credentials that are made (default: 60)',
    schema: { type: 'integer', minimum: 1, maximum: 1e9 },
    expected: 'a whole number from 1 to 1000000000',
  },
  siteRateLimit: {
    env: 'TRELLIS_SITE_RATE_LIMIT',
    flag: '--site-rate-limit <number>',
    description: 'GraphQL requests and pages a minute of one address (default: 3000)',
    schema: { type: 'integer', minimum: 1, maximum: 1e9 },
    expected: 'a whole number from 1 to 1000000000',
  },
  imageRateLimit: {
    env: 'TRELLIS_IMAGE_RATE_LIMIT',
    flag: '--image-rate-limit <number>',
    description: 'images a minute that are generated for one address; images that exist do not count (default: 600)',
    schema: { type: 'integer', minimum: 1, maximum: 1e9 },
    expected: 'a whole number from 1 to 1000000000',
  },
  refreshMinutes: {
    env: 'TRELLIS_REFRESH_MINUTES',
    flag: '--refresh-minutes <number>',
    description: "how often people's forges are read; webhooks and pending CI are seen sooner (default: 20)",
    schema: { type: 'integer', minimum: 1, maximum: 1440 },
    expected: 'a whole number of minutes from 1 to 1440',
  },
  githubAppId: {
    env: 'GITHUB_APP_ID',
    flag: '--github-app-id <number>',
    description: 'the id of a GitHub App, by whose installations people may read their boards (default: none)',
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    expected: 'a whole number from 1',
    needs: 'githubAppPrivateKeyBase64',
  },
  githubAppPrivateKeyBase64: {
    env: 'GITHUB_APP_PRIVATE_KEY_BASE64',
    flag: '--github-app-private-key-base64 <text>',
    description: 'the private key of that App, the whole PEM file in base64',
    // A key of 8,192 bits takes half of it.
    schema: { type: 'string', maxLength: 16_384, format: 'rsa-key-base64' },
    expected: 'an RSA private key, the whole PEM file in base64',
    needs: 'githubAppId',
    secret: true,
  },
  githubAppUrl: {
    env: 'GITHUB_APP_URL',
    flag: '--github-app-url <url>',
    description: 'the GitHub Enterprise server on which that App is (default: github.com)',
    schema: { type: 'string', pattern: '^https?://[^\\s?#@]+$', maxLength: 2048 },
    expected: 'an address such as https://github.example.org',
    needs: 'githubAppId',
  },
  forgeAllow: {
    env: 'TRELLIS_FORGE_ALLOW',
    flag: '--forge-allow <list>',
    description: 'private addresses that forges may have, such as 10.0.0.0/8,git.example:3000 (default: none)',
    schema: { type: 'array', items: { type: 'string', maxLength: 300, format: 'address-rule' }, maxItems: 100 },
    expected: 'CIDR ranges, IP addresses or host names with or without a port, separated by commas',
    list: true,
  },
  logLevel: {
    env: 'LOG_LEVEL',
    flag: '--log-level <level>',
    description: `one of ${LOG_LEVELS.join(', ')} (default: info)`,
    schema: { enum: LOG_LEVELS },
    expected: `one of ${LOG_LEVELS.join(', ')}`,
  },
};

export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof Settings)[];
