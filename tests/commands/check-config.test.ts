import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { checkConfig } from '../../src/commands/doctor/doctor.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-check-config-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function check(env: NodeJS.ProcessEnv, flags: Record<string, string> = {}): Promise<[number, string]> {
  const out = new PassThrough();
  const code = await checkConfig({ env, flags, json: flags.json !== undefined, out });
  out.end();
  return [code, await text(out)];
}

test('check-config: prints every setting with its source, and no secret', async () => {
  const config = join(folder, 'trellis.yaml');
  await writeFile(config, 'port: 8080\nallowedHosts: [a.example, b.example]\n');
  const file = join(folder, 'url');
  await writeFile(file, 'postgres://me:password@db/trellis');
  const [code, out] = await check(
    { HOST: '::1', DATABASE_URL_FILE: file, TRELLIS_METRICS: '[::1]:9464' },
    { config, logLevel: 'warn' },
  );
  expect(code).toBe(0);
  expect(out).not.toContain('password');
  expect(out.split('\n')).toEqual(
    expect.arrayContaining([
      `PORT=8080  # port in ${config}`,
      'HOST=::1  # HOST',
      `TRELLIS_ALLOWED_HOSTS=a.example,b.example  # allowedHosts in ${config}`,
      'LOG_LEVEL=warn  # --log-level',
      `DATABASE_URL=(secret)  # DATABASE_URL_FILE (${file})`,
      'TRELLIS_RATE_LIMIT=600  # default',
      'TRELLIS_METRICS=[::1]:9464  # TRELLIS_METRICS',
    ]),
  );
});

test('check-config: shows only the hosts of receivers, whose URLs may contain a credential', async () => {
  const places = 'https://me:password@hooks.example/a/token?key=b,/var/log/audit.jsonl,syslog://log.example:514';
  const [code, out] = await check({ TRELLIS_AUDIT_EXPORT: places });
  expect(code).toBe(0);
  expect(out).toContain(
    'TRELLIS_AUDIT_EXPORT=https://hooks.example/…,/var/log/audit.jsonl,syslog://log.example:514  #',
  );
});

test('check-config: does not run the command of the server key', async () => {
  const file = join(folder, 'ran');
  const [code, out] = await check({ TRELLIS_SERVER_KEY_COMMAND: `touch ${file}` });
  expect(code).toBe(0);
  expect(out).toContain(`TRELLIS_SERVER_KEY_COMMAND=touch ${file}  # TRELLIS_SERVER_KEY_COMMAND\n`);
  expect(existsSync(file)).toBe(false);
});

test('check-config: reports all mistakes at once', async () => {
  const [code, out] = await check({ PORT: 'http', DATABASE_URL: 'mysql://me:password@db', GITHUB_APP_ID: '7' });
  expect(code).toBe(1);
  expect(out.trimEnd().split('\n').sort()).toEqual([
    'DATABASE_URL: expected a URL such as postgres://user:password@host:5432/database; received a value',
    'GITHUB_APP_ID: requires GITHUB_APP_PRIVATE_KEY_BASE64 as well',
    'PORT: expected a whole number from 0 to 65535; received "http"',
  ]);
});

test('check-config: prints JSON', async () => {
  const [code, out] = await check({ PORT: '80' }, { json: 'true' });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    mistakes: [],
    settings: expect.arrayContaining([{ name: 'port', variable: 'PORT', value: 80, source: 'PORT' }]) as unknown,
  });
});
