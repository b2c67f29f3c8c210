import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/config.js';
import { createAddressPolicy } from '../src/dashboard/forges/http/fetch-response.js';
import { product } from '../src/product.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-config-'));
});
afterEach(() => rm(folder, { recursive: true }));

const TOKEN = 'abcdefghijklmnopqrstuvwxyz-012345';

describe('loadConfig', () => {
  test('has a default for every option', async () => {
    await expect(loadConfig({ env: {}, folder })).resolves.toEqual({
      port: 4000,
      host: '127.0.0.1',
      isLoopback: true,
      publicUrl: undefined,
      auditExport: [],
      allowedHosts: [],
      instanceLabel: '',
      workers: 1,
      site: expect.stringMatching(/\/examples\/site$/) as string,
      state: join(folder, '.trellis'),
      services: ['site', 'dashboard', 'secrets'],
      project: product,
      accounts: 'users',
      awsEnvironment: {},
      siteAccess: { kind: 'public' },
      watch: true,
      introspection: true,
      queryValues: 500_000,
      queryWorkMs: 1_000,
      queryTimeoutMs: 10_000,
      trustProxy: 0,
      drainSeconds: 0,
      rateLimit: 600,
      refreshMinutes: 20,
      tightRateLimit: 60,
      forgeAllow: [],
      smtp: undefined,
      notificationAllow: [],
      issuerAllow: [],
      siteRateLimit: 3_000,
      siteCacheSeconds: 0,
      siteStreams: 1000,
      imagePixels: 134_217_728,
      imagePreviews: true,
      imageRateLimit: 600,
      imagesQuota: 2_000_000_000,
      serverKey: undefined,
      serverKeyCommand: undefined,
      backup: undefined,
      backupRecipients: [],
      backupHours: 24,
      backupKeep: 14,
      configFiles: [],
      logLevel: 'info',
      slowQueryMs: 500,
      production: false,
    });
  });

  test.each([
    [
      'a missing letter',
      { TRELLIS_RATE_LIMT: '5' },
      'TRELLIS_RATE_LIMT: unknown variable; did you mean TRELLIS_RATE_LIMIT?',
    ],
    ['a misspelt prefix', { TRELIS_STATE: '/x' }, 'TRELIS_STATE: unknown variable; did you mean TRELLIS_STATE?'],
    [
      'any other name',
      { TRELLIS_COLOUR: 'red' },
      'TRELLIS_COLOUR: unknown variable; "trellis serve --help" lists the variables',
    ],
  ])('rejects a variable with %s', async (_what, env, message) => {
    await expect(loadConfig({ env, folder })).rejects.toThrow(message);
  });

  test('accepts the variables of clients and of Kubernetes, and empty ones', async () => {
    const kubernetes = {
      TRELLIS_SERVICE_HOST: '10.0.0.1',
      TRELLIS_PORT_4000_TCP_ADDR: '10.0.0.1',
      TRELLIS_PORT: 'tcp://x',
    };
    const env = {
      ...kubernetes,
      TRELLIS_TOKEN: 'x',
      TRELLIS_SECRETS_SERVER: 'x',
      TRELLIS_STAT: '',
      TRELLO_STATES: 'x',
    };
    await expect(loadConfig({ env, folder })).resolves.toMatchObject({ port: 4000 });
  });

  test('drains for five seconds behind a proxy, unless the setting says otherwise', async () => {
    await expect(loadConfig({ env: { TRUST_PROXY: '1' }, folder })).resolves.toMatchObject({ drainSeconds: 5 });
    const env = { TRUST_PROXY: '1', TRELLIS_DRAIN_SECONDS: '0' };
    await expect(loadConfig({ env, folder })).resolves.toMatchObject({ drainSeconds: 0 });
  });

  test('starts one worker per core with TRELLIS_WORKERS=auto', async () => {
    await expect(loadConfig({ env: { TRELLIS_WORKERS: 'auto' }, folder })).resolves.toMatchObject({
      workers: availableParallelism(),
    });
    await writeFile(join(folder, 'trellis.config.json'), '{"workers": 3}');
    await expect(loadConfig({ env: {}, folder })).resolves.toMatchObject({ workers: 3 });
    await rm(join(folder, 'trellis.config.json'));
  });

  test('prefers flags to the environment, and the environment to the file', async () => {
    await writeFile(join(folder, 'trellis.config.json'), '{"port": 1, "host": "::1", "logLevel": "warn"}');
    const config = await loadConfig({ flags: { port: '3' }, env: { PORT: '2', HOST: '0.0.0.0' }, folder });
    expect(config).toMatchObject({ port: 3, host: '0.0.0.0', logLevel: 'warn' });
  });

  test('ignores empty variables', async () => {
    await expect(loadConfig({ env: { PORT: '', TRELLIS_SITE: '' }, folder })).resolves.toMatchObject({ port: 4000 });
  });

  test('accepts ranges, addresses and hosts in TRELLIS_FORGE_ALLOW', async () => {
    const rules = [
      '10.0.0.0/8',
      'fd00::/8',
      '::1',
      '127.0.0.1',
      '127.0.0.1:3000',
      '[::1]:3000',
      'git.example',
      'git.example:8443',
    ];
    const { forgeAllow } = await loadConfig({ env: { TRELLIS_FORGE_ALLOW: rules.join(', ') }, folder });
    expect(forgeAllow).toEqual(rules);
    expect(() => createAddressPolicy({ allow: forgeAllow })).not.toThrow();
  });

  test.each([
    ['json', '{"services": ["secrets"], "site": "pages"}'],
    ['yaml', 'services: [secrets]\nsite: pages\n'],
    ['mjs', "export default { services: ['secrets'], site: 'pages' };"],
  ])('reads trellis.config.%s and resolves its paths relative to its folder', async (extension, text) => {
    await writeFile(join(folder, `trellis.config.${extension}`), text);
    const config = await loadConfig({ env: {}, flags: { config: join(folder, `trellis.config.${extension}`) } });
    expect(config).toMatchObject({ services: ['secrets'], site: join(folder, 'pages') });
  });

  test('finds the folder of the site beside the file of a project', async () => {
    const config = join(folder, 'trellis.config.mjs');
    await writeFile(config, "export default { services: {}, settings: {}, site: { folder: 'content' } };");
    await expect(loadConfig({ env: {}, flags: { config } })).resolves.toMatchObject({ site: join(folder, 'content') });
  });

  test.each([
    ['an option of the file without a value has its default', 'port:\nrateLimit: null\nwatch: ~\nservices:\n'],
    ['a file of comments sets nothing', '# port: 5000\n'],
  ])('%s', async (_title, text) => {
    await writeFile(join(folder, 'trellis.config.yaml'), text);
    const config = await loadConfig({ env: {}, folder });
    expect(config).toMatchObject({ port: 4000, rateLimit: 600, watch: true, publicUrl: undefined });
    expect(config.services).toEqual(['site', 'dashboard', 'secrets']);
  });

  test('the file may have the text of a list, and true is not a number', async () => {
    const file = join(folder, 'trellis.config.yaml');
    await writeFile(file, 'services: site, secrets\nwatch: false\n');
    expect(await loadConfig({ env: {}, folder })).toMatchObject({ services: ['site', 'secrets'], watch: false });
    await writeFile(file, 'trustProxy: true\n');
    await expect(loadConfig({ env: {}, folder })).rejects.toThrow(
      `trustProxy in ${file}: expected a number of proxies from 0 to 9; received "true"`,
    );
  });

  test.each([
    ['500MB', 500_000_000],
    ['1.5 gb', 1_500_000_000],
    ['2TB', 2_000_000_000_000],
  ])('parses the image quota %s', async (TRELLIS_IMAGES_QUOTA, imagesQuota) => {
    await expect(loadConfig({ env: { TRELLIS_IMAGES_QUOTA }, folder })).resolves.toMatchObject({ imagesQuota });
  });

  test.each<[string, Record<string, string>, string]>([
    ...['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', 'git.example/path', 'a b', 'http://git.example', '10.0.0.0/8/8'].map(
      (rule): [string, Record<string, string>, string] => [
        `an address rule ${rule}`,
        { TRELLIS_FORGE_ALLOW: rule },
        `TRELLIS_FORGE_ALLOW: expected CIDR ranges, IP addresses or host names with or without a port, separated by commas; received "${rule}"`,
      ],
    ),
    ['a port that is not a number', { PORT: 'http' }, 'PORT: expected a whole number from 0 to 65535; received "http"'],
    ['a fractional port', { PORT: '80.5' }, 'PORT: expected a whole number from 0 to 65535; received "80.5"'],
    ['a port out of range', { PORT: '65536' }, 'PORT: expected a whole number from 0 to 65535; received "65536"'],
    [
      'a size without a unit',
      { TRELLIS_IMAGES_QUOTA: '500' },
      'TRELLIS_IMAGES_QUOTA: expected a size of at least 10MB, such as 500MB or 2GB; received "500"',
    ],
    [
      'an unknown unit',
      { TRELLIS_IMAGES_QUOTA: '2GiB' },
      'TRELLIS_IMAGES_QUOTA: expected a size of at least 10MB, such as 500MB or 2GB; received "2GiB"',
    ],
    [
      'a size that is too small',
      { TRELLIS_IMAGES_QUOTA: '9.9MB' },
      'TRELLIS_IMAGES_QUOTA: expected a size of at least 10MB, such as 500MB or 2GB; received "9.9MB"',
    ],
    [
      'a negative size',
      { TRELLIS_IMAGES_QUOTA: '-2GB' },
      'TRELLIS_IMAGES_QUOTA: expected a size of at least 10MB, such as 500MB or 2GB; received "-2GB"',
    ],
    ['a host with a line break', { HOST: 'a\nb' }, 'HOST: expected a host name or an IP address; received "a\\nb"'],
    [
      'a public URL without a scheme',
      { PUBLIC_URL: 'example.org' },
      'PUBLIC_URL: expected an origin such as https://trellis.example.org, without a path; received "example.org"',
    ],
    [
      'a path',
      { PUBLIC_URL: 'https://example.org/trellis' },
      'PUBLIC_URL: expected an origin such as https://trellis.example.org, without a path; received "https://example.org/trellis"',
    ],
    [
      'a public URL with a port that does not exist',
      { PUBLIC_URL: 'https://example.org:99999' },
      'PUBLIC_URL: expected an origin such as https://trellis.example.org, without a path; received "https://example.org:99999"',
    ],
    [
      'a database with a port that does not exist',
      { DATABASE_URL: 'postgres://trellis@db.example:99999/trellis' },
      'DATABASE_URL: expected a URL such as postgres://user:password@host:5432/database; received a value',
    ],
    ...['gs://bucket/backups', 'S3://bucket', 's3://b'].map((place): [string, Record<string, string>, string] => [
      'a place of backups that is no folder and no bucket',
      { TRELLIS_BACKUP: place },
      `TRELLIS_BACKUP: expected the path of a folder, or s3://bucket/prefix; received "${place}"`,
    ]),
    ...['TRELLIS_SITE', 'TRELLIS_SITE_PUBLISH', 'TRELLIS_OBJECTS', 'TRELLIS_BACKUP', 'TRELLIS_AUDIT_EXPORT'].map(
      (variable): [string, Record<string, string>, string] => [
        'an unknown parameter of a bucket',
        { [variable]: 's3://bucket/x?zone=1' },
        `${variable}: unknown parameter "zone"; the parameters are region, endpoint, style`,
      ],
    ),
    [
      'an invalid endpoint of buckets',
      { TRELLIS_BACKUP: 's3://bucket', AWS_ENDPOINT_URL: 'storage.example:9000' },
      'TRELLIS_BACKUP: expected an endpoint such as https://storage.example.org',
    ],
    [
      'a state folder with a scheme',
      { TRELLIS_STATE: 'file:///var/lib/trellis' },
      'TRELLIS_STATE: expected the path of a folder; received "file:///var/lib/trellis"',
    ],
    ...['ftp://log.example', 'syslog://log.example:99999', 's3://b'].map(
      (place): [string, Record<string, string>, string] => [
        'a place of the audit log that does not exist',
        { TRELLIS_AUDIT_EXPORT: `/var/audit.jsonl,${place}` },
        `TRELLIS_AUDIT_EXPORT: expected files, s3://bucket/prefix, https:// or syslog://host:port, separated by commas; received "/var/audit.jsonl,${place}"`,
      ],
    ),
    [
      'a label of several lines',
      { INSTANCE_LABEL: 'a\nb' },
      'INSTANCE_LABEL: expected text of 1 to 24 characters; received "a\\nb"',
    ],
    [
      'no worker',
      { TRELLIS_WORKERS: '0' },
      'TRELLIS_WORKERS: expected a whole number from 1 to 128, or "auto"; received "0"',
    ],
    [
      'an unknown service',
      { TRELLIS_SERVICES: 'site,mail' },
      'TRELLIS_SERVICES: expected one or more of site, dashboard and secrets, separated by commas; received "site,mail"',
    ],
    [
      'a service named twice',
      { TRELLIS_SERVICES: 'site,site' },
      'TRELLIS_SERVICES: expected one or more of site, dashboard and secrets, separated by commas; received "site,site"',
    ],
    [
      'an unknown access',
      { TRELLIS_SITE_ACCESS: 'private' },
      'TRELLIS_SITE_ACCESS: expected "public", "people" or "token"; received "private"',
    ],
    [
      'people without a service that has accounts',
      { TRELLIS_SITE_ACCESS: 'people', TRELLIS_SERVICES: 'site' },
      'TRELLIS_SITE_ACCESS: "people" requires accounts; add dashboard or secrets to TRELLIS_SERVICES, or use "token"',
    ],
    [
      'the access "token" without a token',
      { TRELLIS_SITE_ACCESS: 'token' },
      'TRELLIS_SITE_ACCESS: "token" requires TRELLIS_SITE_TOKEN or TRELLIS_SITE_TOKEN_FILE',
    ],
    [
      'a short token, without showing it',
      { TRELLIS_SITE_ACCESS: 'token', TRELLIS_SITE_TOKEN: 'x'.repeat(31) },
      'TRELLIS_SITE_TOKEN: expected a token of 32 to 1024 letters, digits and -._~+/; received a value',
    ],
    [
      'a token without effect',
      { TRELLIS_SITE_TOKEN: TOKEN },
      'TRELLIS_SITE_TOKEN: the token has no effect while TRELLIS_SITE_ACCESS is "public"; set TRELLIS_SITE_ACCESS to token',
    ],
    [
      'a token and a file',
      { TRELLIS_SITE_ACCESS: 'token', TRELLIS_SITE_TOKEN: TOKEN, TRELLIS_SITE_TOKEN_FILE: '/run/secrets/site' },
      'TRELLIS_SITE_TOKEN: set either this or TRELLIS_SITE_TOKEN_FILE, not both',
    ],
    [
      'a key and the command that prints it',
      { TRELLIS_SERVER_KEY: 'k'.repeat(43), TRELLIS_SERVER_KEY_COMMAND: 'vault' },
      'TRELLIS_SERVER_KEY: set either this or TRELLIS_SERVER_KEY_COMMAND, not both',
    ],
    [
      'the file of a key and the command that prints it',
      { TRELLIS_SERVER_KEY_FILE: '/run/secrets/key', TRELLIS_SERVER_KEY_COMMAND: 'vault' },
      'TRELLIS_SERVER_KEY_FILE: set either this or TRELLIS_SERVER_KEY_COMMAND, not both',
    ],
    [
      'a missing token file',
      { TRELLIS_SITE_ACCESS: 'token', TRELLIS_SITE_TOKEN_FILE: '/nowhere/at/all' },
      "TRELLIS_SITE_TOKEN_FILE: /nowhere/at/all can't be read: ENOENT",
    ],
    [
      'a host with a port',
      { TRELLIS_ALLOWED_HOSTS: 'a.example,b.example:80' },
      'TRELLIS_ALLOWED_HOSTS: expected host names without ports, separated by commas; received "a.example,b.example:80"',
    ],
    [
      'an unsupported database, without showing its password',
      { DATABASE_URL: 'mysql://me:password@db' },
      'DATABASE_URL: expected a URL such as postgres://user:password@host:5432/database; received a value',
    ],
    [
      'an object store, without showing keys that it contains by mistake',
      { TRELLIS_OBJECTS: 's3://key:secret@bucket' },
      'TRELLIS_OBJECTS: expected "file:" or an address such as s3://bucket/prefix?region=eu-west-1; received "s3://…@bucket"',
    ],
    [
      'an identity in place of a public key, without showing it',
      { TRELLIS_BACKUP_RECIPIENTS: 'AGE-SECRET-KEY-1QQQQ' },
      'TRELLIS_BACKUP_RECIPIENTS: expected age public keys (age1…), separated by commas; received a value',
    ],
    [
      'a word for a number',
      { TRUST_PROXY: 'true' },
      'TRUST_PROXY: expected a number of proxies from 0 to 9; received "true"',
    ],
    [
      'an unknown level',
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent; received "loud"',
    ],
    [
      'an address without a port',
      { TRELLIS_METRICS: '0.0.0.0' },
      'TRELLIS_METRICS: expected a port such as 9464, or a host with a port such as 0.0.0.0:9464; received "0.0.0.0"',
    ],
  ])('rejects %s with a one-line error', async (_reason, env, message) => {
    await expect(loadConfig({ env, folder })).rejects.toMatchObject({ name: 'StartError', message });
  });

  test('reads the site token from a file, without the line break', async () => {
    const file = join(folder, 'token');
    await writeFile(file, `${TOKEN}\n`);
    const env = { TRELLIS_SITE_ACCESS: 'token', TRELLIS_SITE_TOKEN_FILE: 'token' };
    const { siteAccess } = await loadConfig({ env, folder });
    expect(siteAccess).toEqual({ kind: 'token', token: TOKEN });
    await writeFile(file, 'two words, which is not a valid token');
    const message = `TRELLIS_SITE_TOKEN_FILE: expected a token of 32 to 1024 letters, digits and -._~+/ in ${file}`;
    await expect(loadConfig({ env, folder })).rejects.toMatchObject({ name: 'StartError', message });
  });

  test('reads every secret from a file, which a flag replaces', async () => {
    const url = 'postgres://me:password@db/trellis';
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(join(folder, 'url'), `${url}\n`);
    await writeFile(join(folder, 'key'), Buffer.from(key).toString('base64'));
    const env = { DATABASE_URL_FILE: 'url', GITHUB_APP_PRIVATE_KEY_BASE64_FILE: 'key', GITHUB_APP_ID: '7' };
    await expect(loadConfig({ env, folder })).resolves.toMatchObject({
      databaseUrl: url,
      githubApp: { id: 7, privateKey: key },
      configFiles: [join(folder, 'url'), join(folder, 'key')],
    });
    const flags = { databaseUrl: 'postgres://other/db' };
    await expect(loadConfig({ env, folder, flags })).resolves.toMatchObject(flags);
    await writeFile(join(folder, 'trellis.config.yaml'), 'databaseUrl: postgres://file/db\n');
    await expect(loadConfig({ env, folder })).resolves.toMatchObject({ databaseUrl: url });
  });

  test('names the setting that gives accounts to a project, which may have none of the other services', async () => {
    await writeFile(join(folder, 'trellis.config.mjs'), 'export default { services: { notes: {} }, settings: {} };');
    const message =
      'TRELLIS_SITE_ACCESS: "people" requires accounts; set accounts: true in trellis.config.ts, or use "token"';
    const env = { TRELLIS_SITE_ACCESS: 'people' };
    await expect(loadConfig({ env, folder })).rejects.toMatchObject({ name: 'StartError', message });
  });

  test.each<[string, NodeJS.ProcessEnv, string]>([
    ['site', {}, 'none'],
    ['secrets', {}, 'admin'],
    ['site,secrets', {}, 'admin'],
    ['site,secrets', { TRELLIS_SITE_ACCESS: 'people' }, 'users'],
    ['dashboard', {}, 'users'],
  ])('decides from the services %s with %j that the accounts are for: %s', async (services, env, accounts) => {
    await expect(loadConfig({ env: { TRELLIS_SERVICES: services, ...env }, folder })).resolves.toMatchObject({
      accounts,
    });
  });

  test.each([
    ['{ notes: {} }', 'undefined', 'none'],
    ['{ notes: {} }', 'true', 'users'],
    ['{ notes: {}, secrets: {} }', 'undefined', 'users'],
    ['{ secrets: {} }', 'undefined', 'admin'],
    ['{ notes: {}, secrets: {} }', 'false', 'none'],
  ])(
    'decides from the services %s of a project, and accounts: %s, that the accounts are for: %s',
    async (services, given, accounts) => {
      const text = `export default { services: ${services}, accounts: ${given}, settings: {} };`;
      await writeFile(join(folder, 'trellis.config.mjs'), text);
      await expect(loadConfig({ env: {}, folder })).resolves.toMatchObject({ accounts });
    },
  );

  test('rejects a token file without effect', async () => {
    const env = { TRELLIS_SITE_ACCESS: 'people', TRELLIS_SITE_TOKEN_FILE: 'token' };
    await writeFile(join(folder, 'token'), TOKEN);
    const message =
      'TRELLIS_SITE_TOKEN_FILE: the token has no effect while TRELLIS_SITE_ACCESS is "people"; set TRELLIS_SITE_ACCESS to token';
    await expect(loadConfig({ env, folder })).rejects.toMatchObject({ name: 'StartError', message });
  });

  test.each<[string, string, string]>([
    ['an invalid value', '{"port": -1}', 'port in FILE: expected a whole number from 0 to 65535; received -1'],
    ['an unknown option', '{"prot": 1}', 'prot in FILE: unknown option; the options are port, host, publicUrl, '],
    [
      'an inherited name',
      '{"toString": 1}',
      'toString in FILE: unknown option; the options are port, host, publicUrl, ',
    ],
    ['a list', '[]', 'FILE: not a valid configuration file: the content must be an object'],
    ['invalid JSON', '{', 'FILE: not a valid configuration file: '],
  ])('names the configuration file that has %s', async (_reason, text, message) => {
    const file = join(folder, 'trellis.config.json');
    await writeFile(file, text);
    const failure = await loadConfig({ env: {}, folder }).catch((error: unknown) => (error as Error).message);
    expect(failure).toMatch(message.replace('FILE', file));
    expect(failure).not.toContain('\n');
  });

  test('writes the public URL as browsers do', async () => {
    const { publicUrl } = await loadConfig({ env: { PUBLIC_URL: 'https://Trellis.Example:443/' }, folder });
    expect(publicUrl).toBe('https://trellis.example');
  });

  test('accepts a PostgreSQL socket without a host', async () => {
    const url = 'postgres://trellis@/trellis?host=/run/postgresql';
    const { databaseUrl } = await loadConfig({ env: { DATABASE_URL: url }, folder });
    expect(databaseUrl).toBe(url);
  });

  test('resolves files of the audit log in the folder of the configuration file', async () => {
    await writeFile(join(folder, 'trellis.config.yaml'), 'auditExport: audit.jsonl, https://hooks.example/x\n');
    const { auditExport } = await loadConfig({ env: {}, folder });
    expect(auditExport).toEqual([join(folder, 'audit.jsonl'), 'https://hooks.example/x']);
  });

  test('decodes the private key of the GitHub App from base64', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const key = Buffer.from(pem).toString('base64');
    const env = { GITHUB_APP_ID: '4711', GITHUB_APP_PRIVATE_KEY_BASE64: key, GITHUB_APP_URL: 'https://git.example/' };
    const { githubApp } = await loadConfig({ env, folder });
    expect(githubApp).toEqual({ id: 4711, privateKey: pem, url: 'https://git.example' });
  });

  const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

  test.each<[string, Record<string, string>, string]>([
    [
      'a GitHub App id without a private key',
      { GITHUB_APP_ID: '4711' },
      'GITHUB_APP_ID: requires GITHUB_APP_PRIVATE_KEY_BASE64 as well',
    ],
    [
      'an invalid GitHub App id',
      { GITHUB_APP_ID: 'Iv1.8a6' },
      'GITHUB_APP_ID: expected a whole number from 1; received "Iv1.8a6"',
    ],
    ...['secret', Buffer.from(ecKey).toString('base64')].map((key): [string, Record<string, string>, string] => [
      'an invalid GitHub App key, without showing it',
      { GITHUB_APP_ID: '4711', GITHUB_APP_PRIVATE_KEY_BASE64: key },
      'GITHUB_APP_PRIVATE_KEY_BASE64: expected an RSA private key, the whole PEM file in base64; received a value',
    ]),
  ])('rejects %s with one line', async (_reason, env, message) => {
    await expect(loadConfig({ env, folder })).rejects.toMatchObject({ name: 'StartError', message });
  });

  test('names the flag with the invalid value', async () => {
    await expect(loadConfig({ flags: { trustProxy: '10' }, env: {}, folder })).rejects.toThrow(
      '--trust-proxy: expected a number of proxies from 0 to 9; received "10"',
    );
  });

  test('rejects two configuration files', async () => {
    await writeFile(join(folder, 'trellis.config.json'), '{}');
    await writeFile(join(folder, 'trellis.config.yaml'), '{}');
    await expect(loadConfig({ env: {}, folder })).rejects.toThrow('Found two configuration files');
  });

  test('rejects a missing configuration file', async () => {
    await expect(loadConfig({ flags: { config: 'none.json' }, env: {}, folder })).rejects.toThrow(
      'none.json: not a valid configuration file',
    );
  });
});
