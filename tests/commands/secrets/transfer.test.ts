import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'dotenv';
import fc from 'fast-check';
import { formatExport, parseExport } from '../../../src/commands/secrets/export-format.js';
import { openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;

beforeEach(async () => {
  cli = await openSecretsCli();
});
afterEach(() => cli.close());

const put = (name: string, stdin: Uint8Array | string, ...args: string[]) =>
  cli.run(['put', name, '--consumer', cli.consumer, ...args], { stdin });

const writeInput = async (name: string, content: string): Promise<string> => {
  const file = join(await mkdtemp(join(cli.folder, 'input-')), name);
  await writeFile(file, content);
  return file;
};

test('export and import: preserve sealed values and metadata', async () => {
  await put('db-password', 'hunter2', '--tag', 'prod', '--description', 'A note.', '--rotate-after-days', '30');
  await put('key', Buffer.from([0, 255]));
  const file = join(cli.folder, 'backup.json');
  const exported = await cli.run(['export', '--output', file], { env: { TRELLIS_SECRETS_IDENTITY: '' } });
  expect([exported.code, exported.out, (await stat(file)).mode & 0o777]).toEqual([0, '', 0o600]);
  expect(await readFile(file, 'utf8')).not.toMatch(/hunter2|aHVudGVyMg/);
  const { data: before = [] } = await cli.client.GET('/objects');

  expect(await cli.run(['import', file])).toMatchObject({
    code: 5,
    err: 'trellis: These names exist: db-password, key\n',
  });
  await cli.run(['delete', 'db-password', '--yes']);
  await cli.run(['delete', 'key', '--yes']);
  expect((await cli.run(['import', file, '--dry-run'])).err).toBe(
    'Would store db-password\nWould store key\n2 secrets.\n',
  );
  expect((await cli.client.GET('/objects')).data).toEqual([]);
  expect((await cli.run(['import', file])).code).toBe(0);
  const { data: after = [] } = await cli.client.GET('/objects');
  const fixed = (objects: typeof after) =>
    objects.map(({ slug, tags, used_by, description, rotate_after_days, recipients }) => [
      ...[slug, tags, used_by, description, rotate_after_days, recipients],
    ]);
  expect(fixed(after)).toEqual(fixed(before));
  expect((await cli.run(['get', 'db-password'])).out).toBe('hunter2');
  expect((await cli.run(['get', 'key'])).bytes).toEqual(Buffer.from([0, 255]));
});

test('export --open: prints plain values', async () => {
  await put('db-password', 'hunter2');
  await put('key', Buffer.from([0, 255]));
  const json = await cli.run(['export', '--open']);
  expect(JSON.parse(json.out)).toMatchObject({
    objects: [
      { slug: 'db-password', text: 'hunter2' },
      { slug: 'key', base64: 'AP8=' },
    ],
  });
  const dotenv = await cli.run(['export', '--open', '--format', 'dotenv']);
  expect([dotenv.code, dotenv.err]).toEqual([
    2,
    expect.stringContaining("The value of key can't be written so that every reader of .env files agrees"),
  ]);
  await cli.run(['delete', 'key', '--yes']);
  expect((await cli.run(['export', '--open', '--format', 'dotenv'])).out).toBe("DB_PASSWORD='hunter2'\n");
  expect((await cli.run(['export', '--open'], { env: { TRELLIS_SECRETS_IDENTITY: '' } })).code).toBe(4);
});

test('export and import: preserve sealed values in a .env file', async () => {
  await put('db-password', 'hunter2');
  const { out } = await cli.run(['export', '--format', 'dotenv']);
  expect(out).toMatch(/^DB_PASSWORD='age:[\w+/=]+'\n$/);
  const file = await writeInput('sealed.env', out);
  expect((await cli.run(['import', file, '--recipient', cli.recipient])).code).toBe(0);
  expect((await cli.run(['get', 'DB_PASSWORD'])).out).toBe('hunter2');
});

test('import: seals the values of a .env file to the given consumers', async () => {
  const file = await writeInput('.env', '# shop\nDB_PASSWORD="two\\nlines"\nexport API_KEY=abc # key\n');
  const args = ['import', file, '--names', 'kebab', '--consumer', cli.consumer, '--tag', 'prod'];
  expect((await cli.run(args)).err).toBe('Stored db-password\nStored api-key\n2 secrets.\n');
  expect((await cli.run(['get', 'db-password'])).out).toBe('two\nlines');
  expect((await cli.client.GET('/objects')).data).toMatchObject([
    { slug: 'api-key', tags: ['prod'], used_by: [cli.consumer], recipients: [cli.recipient] },
    { slug: 'db-password' },
  ]);
  await writeFile(file, 'API_KEY=def\n');
  expect((await cli.run(args)).code).toBe(5);
  expect((await cli.run([...args, '--replace'])).err).toBe('Replaced api-key\n1 secret.\n');
  expect((await cli.run(['get', 'api-key'])).out).toBe('def');
});

test('import: reads a JSON object of strings from standard input', async () => {
  const stdin = JSON.stringify({ token: 'abc', other: 'def' });
  expect((await cli.run(['import', '-', '--recipient', cli.recipient], { stdin })).code).toBe(0);
  expect((await cli.run(['get', 'token'])).out).toBe('abc');
});

test.each([
  ['{"a": 1}', 'a value is not a string'],
  ['["hunter2"]', 'a list'],
  ['hunter2', 'not JSON'],
  ['{"format":"trellis-secrets/1","objects":[{"slug":"a"}]}', 'a value is missing'],
  ['{"format":"trellis-secrets/1","objects":[{"slug":"a","text":"b","used_by":5}]}', 'consumers are not a list'],
])('import: rejects %s without printing it: %s', async (stdin) => {
  const { code, err } = await cli.run(['import', '-', '--recipient', cli.recipient], { stdin });
  expect([code, err]).toEqual([
    2,
    'trellis: Expected the output of "export", or a JSON object that maps names to strings\n',
  ]);
});

test('export --format dotenv: rejects names that would become the same variable', async () => {
  await put('db-password', 'a');
  await put('DB_PASSWORD', 'b');
  expect((await cli.run(['export', '--format', 'dotenv'])).code).toBe(5);
});

test('formatExport: writes only texts that dotenv, Node.js and a shell read alike', () => {
  const texts = fc.string({
    unit: fc.constantFrom('a', "'", '"', '`', '\\', 'n', '\n', '\r', '#', '$', ' ', '=', 'é'),
  });
  const lines = fc.sample(texts, { numRuns: 1000, seed: 20_260_501 }).flatMap((text, index) => {
    const entry = { slug: `v-${index}`, value: Buffer.from(text), isSealed: false };
    try {
      return [{ entry, text, line: formatExport([entry], 'dotenv') }];
    } catch {
      expect(text).toMatch(/\r|'|\\$/);
      return [];
    }
  });
  expect(lines.length).toBeGreaterThan(400);
  const file = lines.map(({ line }) => line).join('');
  const want = Object.fromEntries(lines.map(({ entry, text }) => [entry.slug.toUpperCase().replace('-', '_'), text]));
  expect([parse(file), { ...parseEnv(file) }]).toEqual([want, want]);
  expect(parseExport(file, 'dotenv', 'kebab')).toEqual(lines.map(({ entry }) => entry));
  const shell = execFileSync('/bin/sh', ['-c', `set -a\n${file}\nexec env -0`], { env: { PATH: process.env.PATH } });
  const entries = shell
    .toString()
    .split('\0')
    .map((entry) => /^([^=]*)=(.*)$/s.exec(entry));
  const read = entries.flatMap((found) => (found?.[1]?.startsWith('V_') ? [[found[1], found[2]]] : []));
  expect(Object.fromEntries(read)).toEqual(want);
});
