import { spawn, spawnSync } from 'node:child_process';
import { createECDH } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { bech32 } from '@scure/base';
import { describeWithAge, runAge, runAgeWithPassphrase } from '../../sealing/age-program.js';
import { type CommandInput, newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;
/** Keys of OpenSSH by their kind, and the path of their private keys. */
const files = new Map<string, string>();
let yubikey: { readonly recipient: string; readonly identity: string; readonly env: Readonly<Record<string, string>> };

/** Runs a command that finds programs. */
const run = (args: readonly string[], given: CommandInput = {}) =>
  cli.run(args, { ...given, env: { PATH: process.env.PATH ?? '', ...given.env } });

const VALUE = Buffer.from([0, 255, 10, 13, 200, 10]);

beforeAll(async () => {
  cli = await openSecretsCli();
  for (const kind of ['ed25519', 'rsa']) {
    const file = join(cli.folder, `id_${kind}`);
    spawnSync('ssh-keygen', ['-q', '-t', kind, '-N', '', '-C', 'ada@laptop', '-f', file]);
    files.set(kind, file);
  }
  yubikey = await createYubikey();
});
afterAll(() => cli.close());

/** Creates a key pair of the token, and a PATH with its plugin. */
async function createYubikey() {
  const bin = join(cli.folder, 'bin');
  await mkdir(bin);
  const plugin = join(bin, 'age-plugin-yubikey');
  const script = resolve('tests/sealing/age-plugin-yubikey.js');
  await writeFile(plugin, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  await chmod(plugin, 0o755);
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const token = join(cli.folder, 'token');
  await writeFile(token, pair.getPrivateKey('hex'), { mode: 0o600 });
  const point = pair.getPublicKey(undefined, 'compressed');
  const toText = (prefix: string, bytes: Uint8Array): string => bech32.encode(prefix, bech32.toWords(bytes), false);
  return {
    recipient: toText('age1yubikey', point),
    identity: toText('age-plugin-yubikey-', Buffer.from([0, 0, 0, 1, 0x82])).toUpperCase(),
    env: { PATH: `${bin}:${process.env.PATH ?? ''}`, FAKE_YUBIKEY: token },
  };
}

const readKey = async (kind: string): Promise<string> => readFile(`${files.get(kind)}.pub`, 'utf8');

async function put(recipients: readonly string[], env = {}): Promise<string> {
  const name = newName();
  const args = recipients.flatMap((recipient) => ['--recipient', recipient]);
  const stored = await run(['put', name, ...args], { stdin: VALUE, env });
  expect(stored).toMatchObject({ code: 0 });
  return name;
}

const get = (name: string, identity: string, env = {}) =>
  run(['get', name], { env: { TRELLIS_SECRETS_IDENTITY: identity, ...env } });

const WITHOUT_IDENTITY = { env: { TRELLIS_SECRETS_IDENTITY: '' } };

describeWithAge('SSH keys and plugins through the program age', () => {
  test.each(['ed25519', 'rsa'])('a value for a key of OpenSSH (%s) and an age key is opened by both', async (kind) => {
    const name = await put([await readKey(kind), cli.recipient]);
    expect(await run(['get', name, '--identity-file', files.get(kind)!], WITHOUT_IDENTITY)).toMatchObject({
      ...{ code: 0, bytes: VALUE, err: '' },
    });
    expect((await run(['get', name])).bytes).toEqual(VALUE);
    const { data = [] } = await cli.client.GET('/objects', { params: { query: { slug: name } } });
    const [type, key] = (await readKey(kind)).split(' ');
    expect(data[0]).toMatchObject({ recipients: [cli.recipient, `${type} ${key}`], recipient_count: 2 });
  });

  test('age opens the stored bytes with the key of OpenSSH', async () => {
    const name = await put([await readKey('ed25519')]);
    const { bytes } = await run(['get', name, '--sealed']);
    expect(await runAge(['-d', '-i', files.get('ed25519')!], bytes)).toEqual(VALUE);
  });

  test('a value for a hardware token is sealed and opened by its plugin, whose prompt is shown', async () => {
    const name = await put([yubikey.recipient], yubikey.env);
    const opened = await get(name, yubikey.identity, yubikey.env);
    expect(opened).toMatchObject({ code: 0, bytes: VALUE });
    expect(opened.err).toContain('Touch the token');
  });

  test('inject and rotate --reseal open values with the identity of a plugin', async () => {
    const name = await put([yubikey.recipient], yubikey.env);
    const env = { ...yubikey.env, TRELLIS_SECRETS_IDENTITY: yubikey.identity };
    const template = await run(['inject', '-'], { env, stdin: `{{secret ${name} | base64}}` });
    expect(template.out.trim()).toBe(VALUE.toString('base64'));
    expect(await run(['rotate', name, '--reseal'], { env })).toMatchObject({ code: 0 });
    expect((await get(name, yubikey.identity, yubikey.env)).bytes).toEqual(VALUE);
  });

  test.each(['a binary', 'an armored'])(
    '%s identity that age has encrypted asks once for its passphrase',
    async (form) => {
      const [first, second] = [await put([cli.recipient]), await put([cli.recipient])];
      const file = join(cli.folder, newName());
      const passphrase = 'correct horse battery';
      const input = Buffer.from(`${cli.identity}\n`);
      const args = ['-p', ...(form === 'an armored' ? ['--armor'] : [])];
      await writeFile(file, await runAgeWithPassphrase(args, { folder: cli.folder, passphrase, input }), {
        mode: 0o600,
      });
      const template = join(cli.folder, newName());
      await writeFile(template, `{{secret ${first} | base64}} {{secret ${second} | base64}}`);
      const env = { ...cli.env, HOME: cli.folder, PATH: process.env.PATH, TRELLIS_SECRETS_IDENTITY: '' };
      const command = `'${process.execPath}' dist/cli.js secrets inject ${template} --identity-file ${file}`;
      const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.end(`${passphrase}\n`);
      const encoded = VALUE.toString('base64');
      expect(await text(child.stdout)).toContain(`${encoded} ${encoded}`);
    },
  );

  test('an SSH key that is no recipient ends with exit code 6, and no message has the key', async () => {
    const name = await put([cli.recipient]);
    const identity = await readFile(files.get('ed25519')!, 'utf8');
    const { code, err } = await get(name, identity);
    expect([code, err]).toEqual([6, "trellis: This identity can't decrypt the value\n"]);
  });

  test.each([
    [
      'of a consumer',
      '--consumer',
      async (key: string) => {
        await cli.client.POST('/consumers', { body: { name: 'web-1' } });
        await cli.database
          .updateTable('secret_consumers')
          .set({ public_key: key })
          .where('name', '=', 'web-1')
          .execute();
      },
    ],
    [
      'of the owner',
      '--keep-readable-copy',
      async (key: string) => {
        await cli.database
          .insertInto('secret_owner')
          .values({ id: 1, public_key: key, recovery_wrapped_identity: null })
          .execute();
      },
    ],
  ])('a manipulated service cannot start a plugin by the public key %s', async (_party, option, report) => {
    await report(yubikey.recipient);
    const args = ['put', newName(), option, ...(option === '--consumer' ? ['web-1'] : [])];
    expect(await run(args, { stdin: 'x', env: yubikey.env })).toMatchObject({
      code: 5,
      err: expect.stringContaining('received a different kind of key') as string,
    });
  });

  test.each([
    ['put', () => run(['put', newName(), '--recipient', yubikey.recipient], { stdin: 'x', env: { PATH: '/nowhere' } })],
    [
      'get',
      async () =>
        get(await put([await readKey('ed25519')]), await readFile(files.get('ed25519')!, 'utf8'), { PATH: '/nowhere' }),
    ],
  ])('%s names the missing program', async (_command, call) => {
    expect(await call()).toMatchObject({
      code: 2,
      err: expect.stringContaining('"age" (1.1 or newer), which is not in PATH') as string,
    });
  });

  test('a recipient without its plugin is rejected with the reason, and nothing is stored', async () => {
    const name = newName();
    const { code, err } = await run(['put', name, '--recipient', yubikey.recipient], { stdin: 'x' });
    expect([code, err]).toEqual([1, expect.stringContaining('age-plugin-yubikey') as string]);
    expect((await run(['get', name])).code).toBe(3);
  });
});
