import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'dotenv';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { formatExport, parseExport } from '../../../src/commands/secrets/export-format.js';
import { generateIdentity, toRecipients } from '../../../src/sealing/secrets.js';
import { openSecretsCli, openUnstableAddress, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;

beforeEach(async () => {
  cli = await openSecretsCli();
});
afterEach(() => cli.close());

const put = (name: string, stdin: Uint8Array | string, ...args: string[]) =>
  cli.run(['put', name, '--consumer', cli.consumer, ...args], { stdin });

const writeInput = async (name: string, content: Uint8Array | string): Promise<string> => {
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

test('export: says once that several requests wait for a rate limit', async () => {
  const names = ['first', 'second', 'third'];
  for (const name of names) await put(name, 'x');
  const limited = new Set<string>();
  const isFirst = (path: string) => path.includes('/objects/') && limited.size < limited.add(path).size;
  const address = await openUnstableAddress(cli.server, isFirst);
  const { code, err } = await cli.run(['export'], { env: { TRELLIS_SECRETS_SERVER: address.server } });
  await address.close();
  expect([code, limited.size, err]).toEqual([
    0,
    names.length,
    'The server limits the number of requests. Trying again in 2 seconds …\nExported 3 secrets.\n',
  ]);
});

test('run: reads few further values after one that does not exist', async () => {
  const names = Array.from({ length: 20 }, (_none, index) => `value-${index}`);
  for (const name of names) await put(name, 'x');
  const chosen = ['nothing', ...names].flatMap((name) => ['--secret', name]);
  expect((await cli.run(['run', ...chosen, '--', 'true'])).code).toBe(3);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { data } = await cli.client.GET('/audit-log', { params: { query: { limit: 100, order: 'desc' } } });
  expect(data!.filter(({ action }) => action === 'read').length).toBeLessThan(8);
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

const FORMAT = 'trellis-secrets/1';
const NAMES = 'names have letters, digits, - and _, and start with a letter or digit';
const SECOND = (entry: object) => ({
  format: FORMAT,
  objects: [
    { slug: 'a', text: '1' },
    { slug: 'b', ...entry },
  ],
});

test.each<[file: string, message: string, exitCode: number, content: object | string]>([
  [
    '.env',
    `_B: ${NAMES}; received "_" as character 1\nC.D: ${NAMES}; received "." as character 2\n`,
    2,
    'A=1\n_B=2\nC.D=3',
  ],
  ['.env', 'Several entries of the file would become a-b; nothing was stored', 5, 'A_B=1\nA-B=2'],
  ['a.json', ': the name is longer than 128 characters', 2, { a: '1', ['b'.repeat(129)]: '2' }],
  ['a.json', 'Several entries of the file would become a; nothing was stored', 5, SECOND({ slug: 'a', text: '2' })],
  [
    'a.json',
    'b: These consumers have no public key: acme/unknown',
    5,
    SECOND({ text: '2', used_by: ['acme/unknown'] }),
  ],
  ['a.json', 'b: Expected a tag to be 1 to 32 characters of', 2, SECOND({ text: '2', tags: ['a b'] })],
  [
    'a.json',
    'b: expected rotate_after_days to be a whole number from 1 to 3650',
    2,
    SECOND({ text: '2', rotate_after_days: 9999 }),
  ],
  [
    'a.json',
    'b: the description is longer than 1000 characters',
    2,
    SECOND({ text: '2', description: 'a'.repeat(1001) }),
  ],
  ['a.json', 'Expected the output of "export"', 2, SECOND({ text: '2', description: 5 })],
  ['a.json', 'b: the value is larger than 1 MiB', 2, SECOND({ sealed: 'A'.repeat(2 ** 21) })],
  ['a.json', 'b: Not a valid age file: the header is incomplete', 2, SECOND({ sealed: 'AAAA' })],
])('import: stores nothing if any entry of the file is invalid: %s: %s', async (name, message, exitCode, content) => {
  const file = await writeInput(name, typeof content === 'string' ? content : JSON.stringify(content));
  const naming = message.includes('a-b') ? ['--names', 'kebab'] : [];
  for (const more of [['--dry-run'], []]) {
    const { code, err } = await cli.run(['import', file, '--consumer', cli.consumer, ...naming, ...more]);
    expect([code, err]).toEqual([exitCode, expect.stringContaining(message)]);
  }
  expect((await cli.client.GET('/objects')).data).toEqual([]);
});

test('import: reports ignored lines of a .env file, and stores empty values', async () => {
  const file = await writeInput('.env', 'A=1\nÜ=2\n# note\nB=\n- C\n');
  const { code, err } = await cli.run(['import', file, '--recipient', cli.recipient]);
  expect([code, err]).toEqual([
    0,
    'Lines 2, 5 are ignored, because they set no variables.\nStored A\nStored B\n2 secrets.\n',
  ]);
});

test.each([
  ['Latin-1', Buffer.from('A=caf\u00e9\n', 'latin1')],
  ['UTF-16', Buffer.from('\uFEFFA=1\n', 'utf16le')],
])('import: rejects a file in %s', async (_encoding, bytes) => {
  const file = await writeInput('latin.env', bytes);
  const { code, err } = await cli.run(['import', file, '--recipient', cli.recipient]);
  expect([code, err]).toEqual([2, `trellis: ${file} is not UTF-8 text; convert it first\n`]);
});

describe('import --replace', () => {
  const readNote = async () => (await cli.client.GET('/objects', { params: { query: { slug: 'note' } } })).data?.[0];

  test.each([
    ['sealed', []],
    ['plain', ['--open']],
  ])('sets the description of %s entries', async (_kind, options) => {
    await put('note', 'hunter2', '--description', 'old');
    const { out } = await cli.run(['export', ...options]);
    expect((await cli.run(['import', '-', '--replace'], { stdin: out.replace('"old"', '"new"') })).code).toBe(0);
    expect(await readNote()).toMatchObject({ description: 'new', version: 2 });
  });

  test('keeps the copy for the owner', async () => {
    const [owner = ''] = await toRecipients(await generateIdentity());
    await cli.owner.PUT('/auth/identity', { body: { public_key: owner } });
    await put('note', 'hunter2', '--keep-readable-copy');
    const { code } = await cli.run(['import', '-', '--replace'], { stdin: '{"note":"hunter3"}' });
    expect([code, await readNote()]).toMatchObject([0, { recipients: [cli.recipient, owner].sort() }]);
  });

  test('seals a value without consumers to the same recipients', async () => {
    await cli.run(['put', 'note', '--recipient', cli.recipient], { stdin: 'hunter2' });
    expect((await cli.run(['import', '-', '--replace'], { stdin: '{"note":"hunter3"}' })).code).toBe(0);
    expect(await readNote()).toMatchObject({ recipients: [cli.recipient] });
    expect((await cli.run(['get', 'note'])).out).toBe('hunter3');
  });
});

test('import: --consumer applies to entries with an empty list of consumers', async () => {
  const stdin = '{"format":"trellis-secrets/1","objects":[{"slug":"note","used_by":[],"text":"hunter2"}]}';
  expect((await cli.run(['import', '-', '--consumer', cli.consumer], { stdin })).code).toBe(0);
  expect((await cli.client.GET('/objects')).data).toMatchObject([{ slug: 'note', used_by: [cli.consumer] }]);
});

test.each(['.env', '.env.production.local', 'prod.env'])('import: reads %s as a .env file', async (name) => {
  const file = await writeInput(name, 'DB_PASSWORD=hunter2\n');
  expect((await cli.run(['import', file, '--consumer', cli.consumer])).err).toBe('Stored DB_PASSWORD\n1 secret.\n');
});

test('import: reads JSON after a byte order mark', async () => {
  const file = await writeInput('bom.json', '\uFEFF{"A":"\uFEFF1"}');
  expect(await cli.run(['import', file, '--recipient', cli.recipient])).toMatchObject({ code: 0 });
  expect((await cli.run(['get', 'A'])).out).toBe('\uFEFF1');
});

test('import: reports values of a .env file that end before a #', async () => {
  const file = await writeInput('.env', 'A=p#q\nB="p#q"\nC=#f00\nD=d\n');
  const { code, err } = await cli.run(['import', file, '--recipient', cli.recipient, '--dry-run']);
  expect(code).toBe(0);
  expect(err).toContain('Without quotes, a # ends the value of A, C. If it belongs to the value, add quotes.\n');
});

test('import: a failure after some entries says how many are stored, and how to continue', async () => {
  const file = await writeInput('a.json', JSON.stringify({ 'shop-a': '1', 'other-b': '2' }));
  const { data } = await cli.owner.POST('/tokens', { body: { description: 'shop', access: { name_prefix: 'shop-' } } });
  const { code, err } = await cli.run(['import', file, '--recipient', cli.recipient], {
    env: { TRELLIS_SECRETS_TOKEN: data!.value },
  });
  expect([code, err]).toEqual([
    4,
    expect.stringMatching(
      /^Stored shop-a\n1 of 2 secrets are stored\. To continue, repeat the command with --replace\.\n/,
    ),
  ]);
});

test('export --format dotenv: rejects names that would become the same variable', async () => {
  await put('db-password', 'a');
  await put('DB_PASSWORD', 'b');
  expect((await cli.run(['export', '--format', 'dotenv'])).code).toBe(5);
});

test('formatExport: writes only texts that dotenv, Node.js and shells read alike', async () => {
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
  expect(await parseExport(file, 'dotenv', 'kebab')).toEqual(lines.map(({ entry }) => entry));
  const shells = [['sh'], ['bash', '--norc']];
  // Both languages split the words of a shell in their standard libraries.
  const splits: Record<string, readonly string[]> = {
    python3: ['-c', 'import sys, shlex, json; print(json.dumps(shlex.split(sys.stdin.read())))'],
    ruby: [
      '-rshellwords',
      '-rjson',
      '-e',
      'print JSON.generate(Shellwords.split($stdin.read.force_encoding("UTF-8")))',
    ],
  };
  for (const [program, args] of Object.entries(splits)) {
    if (spawnSync(program, ['--version']).status !== 0) {
      process.stderr.write(`\n*** SKIPPED: the parser of ${program}, which is not installed. ***\n\n`);
      continue;
    }
    const words = JSON.parse(execFileSync(program, args, { input: file }).toString()) as string[];
    const read = words.map((word) => word.split(/=(.*)/s, 2));
    expect([program, Object.fromEntries(read)]).toEqual([program, want]);
  }
  for (const [shell = '', ...options] of shells) {
    const script = `set -a\n${file}\nexec env -0`;
    const entries = execFileSync(shell, [...options, '-c', script], { env: { PATH: process.env.PATH } })
      .toString()
      .split('\0')
      .map((entry) => /^([^=]*)=(.*)$/s.exec(entry));
    const read = entries.flatMap((found) => (found?.[1]?.startsWith('V_') ? [[found[1], found[2]]] : []));
    expect([shell, Object.fromEntries(read)]).toEqual([shell, want]);
  }
});

describe('formatExport: yaml', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        ...Array.from('\0\t\n\r\u0007\u007f\u0085\u00a0\u2028\u2029\ufeff\ufffe\uffff"\'\\#:-?&*!|>% {}[],'),
        '😀',
      ),
    }),
    fc.constantFrom('no', '0123', '1e3', 'null', '~', '2026-11-23', '', ' ', '---', '<<'),
  );
  const entries = fc.sample(texts, { numRuns: 1000, seed: 20_260_501 }).map((text, index) => ({
    ...{ slug: index === 0 ? 'on' : `v-${index}`, value: Buffer.from(text), isSealed: false },
  }));
  const want = Object.fromEntries(entries.map(({ slug, value }) => [slug, value.toString()]));
  const file = formatExport(entries, 'yaml');

  test('is read alike by this program and by parsers of YAML 1.2 and 1.1', async () => {
    expect(await parseExport(file, 'yaml', 'as-is')).toEqual(entries);
    expect([parseYaml(file), parseYaml(file, { version: '1.1' })]).toEqual([want, want]);
  });

  const python = ['/usr/bin/python3', 'python3'].find(
    (program) => spawnSync(program, ['-c', 'import yaml']).status === 0,
  );
  (python === undefined ? test.skip : test)('is read alike by PyYAML', () => {
    const script = 'import sys, yaml, json; json.dump(yaml.safe_load(sys.stdin.buffer), sys.stdout)';
    const read = execFileSync(python ?? '', ['-c', script], { input: file, maxBuffer: 2 ** 24 });
    expect(JSON.parse(read.toString())).toEqual(want);
  });

  const hasRuby = spawnSync('ruby', ['-rpsych', '-rjson', '-e', '0']).status === 0;
  if (!hasRuby)
    process.stderr.write('\n*** SKIPPED: the YAML parser of Ruby (Debian package ruby) is not installed. ***\n\n');
  (hasRuby ? test : test.skip)("is read alike by Ruby's parser", () => {
    const script = 'print JSON.generate(Psych.safe_load($stdin.read.force_encoding("UTF-8")))';
    const read = execFileSync('ruby', ['-rpsych', '-rjson', '-e', script], { input: file, maxBuffer: 2 ** 24 });
    expect(JSON.parse(read.toString())).toEqual(want);
  });

  test('is not written for a value that is not text', () => {
    const entry = { slug: 'key', value: Buffer.from([0, 255]), isSealed: false };
    expect(() => formatExport([entry], 'yaml')).toThrow('The value of key is not text');
  });
});

test.each([
  'a: 1',
  'a: no',
  'a: 0o17',
  'b: [x]',
  '- a',
  'a: &x "b"\nc: *x',
  'a: "b"\na: "c"',
  'a: {b: "c"}',
  'hunter2',
  'a: "',
])('import --format yaml: rejects %j without printing it', async (stdin) => {
  const said = await cli.run(['import', '-', '--format', 'yaml', '--recipient', cli.recipient], { stdin });
  expect([said.code, said.err]).toEqual([2, expect.stringContaining('Expected a YAML map of names to strings')]);
  expect(said.err).not.toContain('hunter2');
});

test('export and import --format yaml: preserve values', async () => {
  await put('db-password', 'hunter2: "x"\n');
  const file = join(cli.folder, 'values.yaml');
  await cli.run(['export', '--format', 'yaml', '--open', '--output', file]);
  expect(await readFile(file, 'utf8')).toBe('"db-password": "hunter2: \\"x\\"\\n"\n');
  await cli.run(['delete', 'db-password', '--yes']);
  expect((await cli.run(['import', file, '--consumer', cli.consumer])).code).toBe(0);
  expect((await cli.run(['get', 'db-password'])).out).toBe('hunter2: "x"\n');
});
