import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generateIdentity, open, seal, toFingerprint, toRecipients } from '../../../src/sealing/secrets.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;
let name: string;
let consumer: string;
/** The file of the known public keys. */
let file: string;

beforeAll(async () => {
  cli = await openSecretsCli();
  file = join(cli.folder, '.config/trellis/known-keys.json');
});
afterAll(() => cli.close());
beforeEach(() => {
  name = newName();
  consumer = newName();
});

async function createKeys() {
  const identity = await generateIdentity();
  const [recipient = ''] = await toRecipients(identity);
  return { identity, recipient };
}

/** Replaces a consumer's key on the server, as its owner and a compromised server can. */
async function replaceKeyAtServer(publicKey: string): Promise<void> {
  const params = { path: { name: consumer } };
  const { response } = await cli.owner.PATCH('/consumers/{name}', { params, body: { public_key: publicKey } });
  expect(response.status).toBe(200);
}

const put = (...args: string[]) => cli.run(['put', name, '--consumer', consumer, ...args], { stdin: 'value' });

const readSealed = async () => (await cli.run(['get', name, '--sealed'])).bytes;

describe('a consumer key that was replaced on the server', () => {
  beforeEach(async () => {
    await cli.run(['consumers', 'add', consumer, '--key', cli.recipient]);
    expect((await put()).code).toBe(0);
  });

  test.each<[string, readonly string[]]>([
    ['rotate --reseal', ['rotate', '--reseal']],
    ['rotate', ['rotate']],
    ['put with a new secret', ['put']],
    ['import', ['import']],
  ])('stops %s with both keys, and encrypts nothing', async (_command, [command = '', ...args]) => {
    const attacker = await createKeys();
    await replaceKeyAtServer(attacker.recipient);
    const before = await readSealed();
    const line = `${newName()}=value\n`;
    const rest = { rotate: [name, ...args], put: [newName()], import: ['-', '--format', 'dotenv'] }[command] ?? [];
    const forConsumer = command === 'rotate' ? [] : ['--consumer', consumer];
    const { code, err } = await cli.run([command, ...rest, ...forConsumer], { stdin: line });
    expect(code).toBe(5);
    expect(err).toContain(`The public key of ${consumer} has changed`);
    expect(err).toContain(cli.recipient);
    expect(err).toContain(`--accept-key ${attacker.recipient}`);
    expect((await readSealed()).equals(before)).toBe(true);
  });

  test('is detected on a machine without known keys, by the recorded recipients of the value', async () => {
    const attacker = await createKeys();
    await replaceKeyAtServer(attacker.recipient);
    const env = { TRELLIS_SECRETS_KNOWN_KEYS: join(cli.folder, 'empty.json') };
    const { code, err } = await cli.run(['rotate', name, '--reseal'], { env });
    expect([code, err]).toEqual([5, expect.stringContaining('is not one that the value was encrypted to')]);
  });

  test.each<[string, (key: string) => Promise<string>]>([
    ['its public key', (key) => Promise.resolve(key)],
    ['its fingerprint', toFingerprint],
  ])('is accepted with --accept-key and %s, and then saved', async (_how, toArgument) => {
    const next = await createKeys();
    await replaceKeyAtServer(next.recipient);
    const accept = ['--accept-key', await toArgument(next.recipient)];
    expect((await cli.run(['rotate', name, '--reseal', ...accept])).code).toBe(0);
    expect(Buffer.from(await open(await readSealed(), next.identity)).toString()).toBe('value');
    expect((await cli.run(['rotate', name], { stdin: 'second' })).code).toBe(0);
  });

  test('is not accepted by the fingerprint of a different key', async () => {
    await replaceKeyAtServer((await createKeys()).recipient);
    const accept = ['--accept-key', await toFingerprint((await createKeys()).recipient)];
    expect((await cli.run(['rotate', name, '--reseal', ...accept])).code).toBe(5);
  });

  test('cannot be replaced with the write token of this machine', async () => {
    const next = await createKeys();
    const { code, err } = await cli.run(['consumers', 'key', consumer, next.recipient]);
    expect([code, err]).toEqual([4, expect.stringContaining("requires the owner's session")]);
    expect((await cli.run(['rotate', name, '--reseal'])).code).toBe(0);
  });

  test('is detected after the consumer was renamed', async () => {
    const renamed = newName();
    expect((await cli.run(['consumers', 'rename', consumer, renamed])).code).toBe(0);
    consumer = renamed;
    await replaceKeyAtServer((await createKeys()).recipient);
    expect((await put('--json')).code).toBe(5);
  });
});

describe('recorded recipients', () => {
  test('are not used for a new value if they were never used on this machine', async () => {
    const attacker = await createKeys();
    await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'value' });
    // The holder of a write token can replace the value, and its recipients with it.
    const value = Buffer.from(await seal('bait', [attacker.recipient])).toString('base64');
    const params = { path: { slug: name } };
    await cli.client.PUT('/objects/{slug}', { params, body: { value, recipients: [attacker.recipient] } });
    const refused = await cli.run(['rotate', name], { stdin: 'second' });
    expect([refused.code, refused.err]).toEqual([5, expect.stringContaining(attacker.recipient)]);
    const { code } = await cli.run(['rotate', name, '--recipient', cli.recipient], { stdin: 'second' });
    expect([code, (await cli.run(['get', name])).out]).toEqual([0, 'second']);
  });
});

describe('the file of known keys', () => {
  test('contains the keys by service and consumer, with mode 0600', async () => {
    await cli.run(['consumers', 'add', consumer, '--key', cli.recipient]);
    await put();
    const content = JSON.parse(await readFile(file, 'utf8')) as Record<string, { consumers: object }>;
    expect(content[cli.server]?.consumers).toMatchObject({ [consumer]: cli.recipient });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test.each(['{', '[1]', '{"https://a/secrets":{"consumers":{"a":1},"recipients":[]}}'])(
    'stops every encryption when it is invalid: %s',
    async (content) => {
      const path = join(cli.folder, 'damaged.json');
      await writeFile(path, content);
      const env = { TRELLIS_SECRETS_KNOWN_KEYS: path };
      const { code, err } = await cli.run(['put', name, '--consumer', cli.consumer], { stdin: 'x', env });
      expect([code, err]).toEqual([2, expect.stringContaining(`${path}: this is not a valid file`)]);
      await rm(path);
    },
  );

  test('contains the keys of all commands that run at the same time', async () => {
    const [names, keys] = [Array.from({ length: 12 }, newName), await createKeys()];
    await Promise.all(names.map((each) => cli.run(['consumers', 'add', each, '--key', keys.recipient])));
    const known = JSON.parse(await readFile(file, 'utf8')) as Record<string, { consumers: Record<string, string> }>;
    expect(names.map((each) => known[cli.server]?.consumers[each])).toEqual(names.map(() => keys.recipient));
    expect((await readdir(dirname(file))).filter((each) => each.startsWith('known-keys'))).toEqual(['known-keys.json']);
  });

  test('is changed although a command was killed while it had the file locked', async () => {
    await writeFile(`${file}.lock`, '');
    await cli.run(['consumers', 'add', consumer, '--key', cli.recipient]);
    expect(await readFile(file, 'utf8')).toContain(consumer);
  });

  test('causes only a warning when it cannot be written', async () => {
    await cli.run(['consumers', 'add', consumer, '--key', cli.recipient]);
    const env = { TRELLIS_SECRETS_KNOWN_KEYS: '/proc/known-keys.json' };
    const { code, err } = await cli.run(['put', name, '--consumer', consumer], { stdin: 'x', env });
    expect([code, err]).toEqual([0, expect.stringContaining('the public keys could not be saved')]);
  });
});
