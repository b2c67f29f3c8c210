import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_SEALED_BYTES, generateIdentity, open, seal, toRecipients } from '../../../src/sealing/secrets.js';
import { CLOSED_PORT } from '../../closed-port.js';
import { describeWithAge, runAge } from '../../sealing/age-program.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;
/** A new name for each test. */
let name: string;

beforeAll(async () => {
  cli = await openSecretsCli();
});
afterAll(() => cli.close());
beforeEach(() => {
  name = newName();
});

const put = (stdin: Uint8Array | string, ...args: string[]) =>
  cli.run(['put', name, '--consumer', cli.consumer, ...args], { stdin });

async function findObject(slug = name) {
  const { data = [] } = await cli.client.GET('/objects', { params: { query: { slug } } });
  return data[0];
}

test('put and get: preserve every byte of standard input', async () => {
  const value = Buffer.from([0, 255, 10, 13, 10, 0, 240, 159, 10]);
  const stored = await put(
    value,
    '--tag',
    'Prod',
    '--tag',
    'db',
    '--description',
    'A note.',
    '--rotate-after-days',
    '30',
  );
  expect([stored.code, stored.out]).toEqual([0, '']);
  expect(stored.err).toMatch(/^Stored .* sealed to 1 key\.\n$/);
  expect(await findObject()).toMatchObject({
    ...{ slug: name, tags: ['db', 'prod'], used_by: [cli.consumer], description: 'A note.' },
    ...{ rotate_after_days: 30, recipients: [cli.recipient] },
  });
  const { code, bytes } = await cli.run(['get', name]);
  expect([code, bytes]).toEqual([0, value]);
});

test('put --file and get --output: read a file, and write one with mode 0600', async () => {
  const [from, to] = [join(cli.folder, 'value'), join(cli.folder, 'opened')];
  const value = randomBytes(100_000);
  await writeFile(from, value);
  expect((await cli.run(['put', name, '--recipient', cli.recipient, '--file', from])).code).toBe(0);
  expect(await cli.run(['get', name, '--output', to])).toMatchObject({ code: 0, out: '' });
  expect((await readFile(to)).equals(value)).toBe(true);
  expect((await stat(to)).mode & 0o777).toBe(0o600);
});

test('get --output: writes to a pipe and to the target of a link, and replaces neither', async () => {
  const [pipe = '', target = '', link = ''] = [1, 2, 3].map(() => join(cli.folder, newName()));
  execFileSync('mkfifo', [pipe]);
  await writeFile(target, 'before');
  await symlink(target, link);
  await put('hunter2');
  const read = readFile(pipe, 'utf8');
  expect((await cli.run(['get', name, '--output', pipe])).code).toBe(0);
  expect([await read, (await lstat(pipe)).isFIFO()]).toEqual(['hunter2', true]);
  expect((await cli.run(['get', name, '--output', link])).code).toBe(0);
  expect([await readFile(target, 'utf8'), await readlink(link)]).toEqual(['hunter2', target]);
  expect((await stat(target)).mode & 0o777).toBe(0o600);
});

test('put --json: prints the metadata without the value', async () => {
  const { out } = await put('hunter2', '--json');
  expect(JSON.parse(out)).toMatchObject({ slug: name, recipient_count: 1 });
  expect(out).not.toContain('hunter2');
});

test('put --sealed and get --sealed: store and print an age file unchanged', async () => {
  const sealed = Buffer.from(await seal('hunter2', [cli.recipient]));
  const stored = await cli.run(['put', name, '--sealed', '--recipient', cli.recipient], { stdin: sealed });
  expect(stored.code).toBe(0);
  const read = await cli.run(['get', name, '--sealed'], { env: { TRELLIS_SECRETS_IDENTITY: '' } });
  expect([read.code, read.bytes.equals(sealed)]).toEqual([0, true]);
  expect((await cli.run(['get', name])).out).toBe('hunter2');
});

test('put: accepts the largest value, and rejects one more byte before it is sent', async () => {
  const largest = randomBytes(MAX_SEALED_BYTES - 440);
  expect((await put(largest)).code).toBe(0);
  expect((await cli.run(['get', name])).bytes.equals(largest)).toBe(true);
  name = newName();
  const refused = await put(Buffer.concat([largest, Buffer.from([1])]));
  expect(refused).toMatchObject({
    code: 2,
    err: 'trellis: Expected a value of at most 1048576 bytes once sealed; received more\n',
  });
  expect(await findObject()).toBeUndefined();
});

describeWithAge('with the reference program', () => {
  test.each([
    [0, 'an empty value'],
    [1, 'a single byte'],
    [65_535, 'one byte less than a chunk'],
    [65_536, 'one chunk'],
    [65_537, 'a chunk and one byte'],
    [MAX_SEALED_BYTES - 440, 'the largest value'],
  ])('values of %i bytes are sealed and opened in both directions: %s', async (size) => {
    const value = randomBytes(size);
    // Armor enlarges a file by a third, so the largest value is not armored.
    const armor = size > 100_000 ? [] : ['-a'];
    const theirs = await runAge([...armor, '-r', cli.recipient], value);
    expect((await cli.run(['put', name, '--sealed'], { stdin: theirs })).code).toBe(0);
    expect((await cli.run(['get', name])).bytes.equals(value)).toBe(true);

    await cli.run(['rotate', name, '--recipient', cli.recipient], { stdin: value });
    const { bytes } = await cli.run(['get', name, '--sealed']);
    const file = join(cli.folder, 'age-identity');
    await writeFile(file, cli.identity);
    expect((await runAge(['-d', '-i', file], bytes)).equals(value)).toBe(true);
  });
});

describe('an empty value', () => {
  test.each(['put', 'rotate'])('%s rejects it without --allow-empty', async (command) => {
    if (command === 'rotate') await put('one');
    const args = command === 'put' ? ['put', name, '--consumer', cli.consumer] : ['rotate', name];
    const { code, err } = await cli.run(args, { stdin: '' });
    expect([code, err]).toEqual([2, expect.stringContaining('The value is empty; nothing was stored')]);
    expect((await findObject())?.updated_at).toBe(command === 'put' ? undefined : (await findObject())?.created_at);
    expect((await cli.run([...args, '--allow-empty'], { stdin: '' })).code).toBe(0);
    expect((await cli.run(['get', name])).bytes).toHaveLength(0);
  });
});

describe('on a terminal', () => {
  /** Runs the command line on a terminal, and types a line when it asks for the value. */
  async function typeValue(args: readonly string[], typed: string): Promise<{ code: number; shown: string }> {
    const command = [process.execPath, 'dist/cli.js', 'secrets', ...args].join(' ');
    const env = { ...cli.env, PATH: process.env.PATH, TERM: 'dumb' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let shown = '';
    let isTyped = false;
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      if (isTyped || !shown.includes('Value (not shown')) return;
      isTyped = true;
      child.stdin.write(`${typed}\r`);
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, shown };
  }

  test('put and rotate ask for the value and do not show it', async () => {
    const stored = await typeValue(['put', name, '--consumer', cli.consumer], ' hunter2 ');
    expect([stored.code, stored.shown]).toEqual([0, expect.stringContaining(`Stored ${name}`)]);
    expect((await cli.run(['get', name])).out).toBe(' hunter2 ');
    const rotated = await typeValue(['rotate', name], 'hunter3');
    expect((await cli.run(['get', name])).out).toBe('hunter3');
    expect(stored.shown + rotated.shown).not.toContain('hunter');
  });

  test('an empty line is rejected', async () => {
    const { code, shown } = await typeValue(['put', name, '--consumer', cli.consumer], '');
    expect([code, shown]).toEqual([2, expect.stringContaining('The value is empty; nothing was stored')]);
  });
});

describe('rotate', () => {
  test('replaces a value for the same consumers; the previous value can be restored', async () => {
    await put('one');
    const rotated = await cli.run(['rotate', name], { stdin: 'two' });
    expect([rotated.code, rotated.err]).toEqual([0, expect.stringContaining('Replaced the value')]);
    expect((await cli.run(['get', name])).out).toBe('two');
    expect((await findObject())?.used_by).toEqual([cli.consumer]);

    const { out } = await cli.run(['versions', name, '--json']);
    expect(JSON.parse(out)).toMatchObject([{ version: 1, recipient_count: 1 }]);
    expect((await cli.run(['versions', name])).out).toContain('replaced by');
    expect((await cli.run(['get', name, '--at-version', '1'])).out).toBe('one');
    expect((await cli.run(['restore', name, '1'])).code).toBe(0);
    expect((await cli.run(['get', name])).out).toBe('one');
  });

  test('--reseal: seals the same value to the current keys of the consumers', async () => {
    const consumer = newName();
    await cli.run(['consumers', 'add', consumer, '--key', cli.recipient]);
    await cli.run(['put', name, '--consumer', consumer], { stdin: 'same' });
    const next = await generateIdentity();
    const [key = ''] = await toRecipients(next);
    await cli.owner.PATCH('/consumers/{name}', { params: { path: { name: consumer } }, body: { public_key: key } });
    expect((await cli.run(['list', '--reseal', '--consumer', consumer])).out).toContain(`yes ${consumer}`);

    expect((await cli.run(['rotate', name, '--reseal', '--accept-key', key])).code).toBe(0);
    expect((await cli.run(['list', '--reseal', '--consumer', consumer])).out).toBe('No secrets.\n');
    const { bytes } = await cli.run(['get', name, '--sealed']);
    expect(Buffer.from(await open(bytes, next)).toString()).toBe('same');
    expect((await cli.run(['get', name])).code).toBe(6);
  });

  test.each([[[]], [['--sealed']]])(
    'does not replace a value that was changed by a concurrent request: %j',
    async (flags) => {
      await put('one');
      const { bytes } = await cli.run(['get', name, '--sealed']);
      const stdin = async () => {
        await cli.run(['rotate', name], { stdin: 'theirs' });
        return bytes;
      };
      const { code, err } = await cli.run(['rotate', name, ...flags], { stdin });
      expect([code, err]).toEqual([5, 'trellis: The secret was changed by another request; reload it\n']);
      expect((await cli.run(['get', name])).out).toBe('theirs');
    },
  );

  test('--reseal: stops at the key of a removed consumer, which --recipient keeps', async () => {
    const consumer = newName();
    await cli.run(['consumers', 'add', consumer, '--key', cli.recipient]);
    await cli.run(['put', name, '--consumer', consumer], { stdin: 'one' });
    await cli.run(['consumers', 'delete', consumer, '--yes']);
    const { code, err } = await cli.run(['rotate', name, '--reseal']);
    expect([code, err]).toEqual([5, expect.stringContaining(`  ${cli.recipient}\nNothing was encrypted`)]);
    expect((await cli.run(['rotate', name, '--reseal', '--recipient', cli.recipient])).code).toBe(0);
    expect(await findObject()).not.toHaveProperty('reseal');
    expect((await cli.run(['rotate', name, '--reseal'])).code).toBe(0);
  });

  test.each([['--file', 'x'], ['--sealed']])('rejects --reseal with %s', async (...args) => {
    expect(await cli.run(['rotate', name, '--reseal', ...args])).toMatchObject({ code: 2, out: '' });
  });
});

describe('errors', () => {
  test.each<[string, readonly string[], number, string]>([
    ['an unknown name', ['get', 'nothing'], 3, 'unknown object'],
    ['an unknown name', ['rotate', 'nothing'], 3, 'unknown object'],
    ['an unknown name', ['rename', 'nothing', 'else'], 3, 'unknown object'],
    ['an invalid name', ['put', 'a b', '--recipient', 'RECIPIENT'], 2, 'received " " as character 2'],
    ['an invalid new name', ['rename', 'x', 'x/y'], 2, 'received "/" as character 2'],
    ['no recipient', ['put', 'x'], 5, 'Choose at least one recipient'],
    ['an unknown consumer', ['put', 'x', '--consumer', 'other'], 5, 'have no public key: other'],
    ['an owner without a key', ['put', 'x', '--keep-readable-copy'], 5, 'The owner has no public key'],
    ['an invalid SSH key', ['put', 'x', '--recipient', 'ssh-rsa AAAA'], 2, 'program "age"'],
    ['a plain value with --sealed', ['put', 'x', '--sealed'], 2, 'age'],
    ['a missing file', ['put', 'x', '--file', '/nowhere'], 2, 'ENOENT'],
    ['an invalid number of days', ['put', 'x', '--rotate-after-days', '0'], 2, 'from 1 to 3650'],
    ['a missing name', ['get'], 2, "missing required argument 'secret'"],
    ['an unknown option', ['get', 'x', '--opened'], 2, "unknown option '--opened'"],
    ['a value as an argument', ['put', 'x', 'hunter2'], 2, 'too many arguments'],
    ['an unknown command', ['insert'], 2, "unknown command 'insert'"],
  ])('%s: %j exits with %i', async (_reason, args, code, message) => {
    const given = args.map((arg) => (arg === 'RECIPIENT' ? cli.recipient : arg));
    const said = await cli.run(given, { stdin: 'value' });
    expect([said.code, said.out]).toEqual([code, '']);
    expect(said.err).toContain(message);
    expect(said.err).not.toContain('hunter2');
  });

  test('an existing name: exits with 5', async () => {
    await put('one');
    expect(await put('two')).toMatchObject({ code: 5, err: 'trellis: object already exists\n' });
  });

  test('a name with several variants: exits with 5 unless --id selects one', async () => {
    await put('shop');
    await cli.run(['consumers', 'add', 'web-7', '--key', cli.recipient]);
    await cli.run(['put', name, '--consumer', 'web-7'], { stdin: 'web' });
    const got = await cli.run(['get', name]);
    expect([got.code, got.out, got.err]).toEqual([5, '', expect.stringContaining('Select one with --id')]);
    const { code, err } = await cli.run(['rotate', name], { stdin: 'x' });
    expect([code, err]).toEqual([5, expect.stringContaining('(web-7)')]);
    const [, id = ''] = /(\S+) \(web-7\)/.exec(err) ?? [];
    expect((await cli.run(['get', name, '--id', id])).out).toBe('web');
  });

  test('a value that is sealed to other recipients: exits with 6', async () => {
    await put('value');
    const env = { TRELLIS_SECRETS_IDENTITY: await generateIdentity() };
    expect(await cli.run(['get', name], { env })).toMatchObject({ code: 6, out: '' });
  });

  test('an invalid identity: exits with 2 without printing it', async () => {
    const { code, err } = await cli.run(['get', name], { env: { TRELLIS_SECRETS_IDENTITY: 'AGE-SECRET-KEY-1QQQQ' } });
    // The secret is read before its value is opened.
    expect([code, err]).toEqual([3, 'trellis: unknown object\n']);
    await put('value');
    const shown = await cli.run(['get', name], { env: { TRELLIS_SECRETS_IDENTITY: 'AGE-SECRET-KEY-1QQQQ' } });
    expect([shown.code, shown.err]).toEqual([2, expect.stringContaining('Expected age identities')]);
    expect(shown.err).not.toContain('QQQQ');
  });

  test('an unreachable server: exits with 1', async () => {
    const { code, err } = await cli.run(['list'], { env: { TRELLIS_SECRETS_SERVER: CLOSED_PORT } });
    expect([code, err]).toEqual([1, `trellis: The server at ${CLOSED_PORT}/secrets can't be reached: ECONNREFUSED\n`]);
  });

  test('a folder as the value: exits with 2', async () => {
    await mkdir(join(cli.folder, 'a-folder'), { recursive: true });
    const { code, err } = await cli.run(['put', name, '--file', join(cli.folder, 'a-folder')]);
    expect([code, err]).toEqual([2, expect.stringContaining('EISDIR')]);
  });
});
