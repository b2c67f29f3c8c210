import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { armor, generateIdentity, identityToRecipient } from 'age-encryption';
import { open, toRecipients, MAX_SEALED_BYTES, seal } from '../../src/sealing/seal.js';
import { describeWithAge, describeWithAge13, generateKeys, runAge, runAgeWithPassphrase } from './age-program.js';

/** The header for one X25519 recipient, the nonce, and one tag per 64 KiB. */
const OVERHEAD = 184 + 16 * 16;
const KIB = 1024;

/** Generates a key pair with the library, for tests without the `age` program. */
async function createKeys() {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

describeWithAge('seal and open with the age program', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-age-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const writeIdentity = async (identity: string): Promise<string> => {
    const file = path.join(folder, 'identity.txt');
    await writeFile(file, identity);
    return file;
  };

  test.each([
    [0, 'empty'],
    [1, 'a single byte'],
    [64 * KIB - 1, 'one byte less than a chunk'],
    [64 * KIB, 'one chunk'],
    [64 * KIB + 1, 'one byte more than a chunk'],
    [MAX_SEALED_BYTES - OVERHEAD, 'the largest value'],
  ])('round-trip of %i bytes: %s', async (size) => {
    const [value, { identity, recipient }] = [randomBytes(size), generateKeys()];
    const ours = await seal(value, [recipient]);
    expect(value.equals(await runAge(['-d', '-i', await writeIdentity(identity)], ours))).toBe(true);
    const theirs = await runAge(['-r', recipient], value);
    expect(value.equals(await open(theirs, identity))).toBe(true);
  });

  test('armored files are opened', async () => {
    const [value, { identity, recipient }] = [randomBytes(1000), generateKeys()];
    const armored = await runAge(['-a', '-r', recipient], value);
    expect(armored.toString()).toMatch(/^-----BEGIN AGE/);
    expect(value.equals(await open(armored, identity))).toBe(true);
    const ours = Buffer.from(armor.encode(await seal(value, [recipient])));
    expect(value.equals(await runAge(['-d', '-i', await writeIdentity(identity)], ours))).toBe(true);
  });

  test('each of several recipients can open the file, and others cannot', async () => {
    const [value, all] = [randomBytes(100), [generateKeys(), generateKeys(), generateKeys()]];
    const recipients = all.map(({ recipient }) => recipient);
    const ours = await seal(value, recipients);
    const theirs = await runAge(
      recipients.flatMap((recipient) => ['-r', recipient]),
      value,
    );
    for (const { identity } of all) {
      expect(value.equals(await runAge(['-d', '-i', await writeIdentity(identity)], ours))).toBe(true);
      expect(value.equals(await open(theirs, identity))).toBe(true);
    }
    await expect(open(theirs, generateKeys().identity)).rejects.toMatchObject({ code: 'no_match' });
  });

  test('files sealed with a passphrase are compatible', async () => {
    const [value, passphrase] = [randomBytes(100), 'correct horse battery staple'];
    const theirs = await runAgeWithPassphrase(['-p'], { folder, passphrase, input: value });
    expect(value.equals(await open(theirs, { passphrase }))).toBe(true);
    const ours = await seal(value, { passphrase });
    expect(value.equals(await runAgeWithPassphrase(['-d'], { folder, passphrase, input: ours }))).toBe(true);
  });
});

describeWithAge13('seal and open with the age program and post-quantum keys', () => {
  test('files are compatible, and others cannot open them', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-age-'));
    const [value, { identity, recipient }] = [randomBytes(1000), generateKeys('-pq')];
    expect(recipient).toMatch(/^age1pq1/);
    const theirs = await runAge(['-r', recipient], value);
    expect(value.equals(await open(theirs, identity))).toBe(true);
    await expect(open(theirs, generateKeys('-pq').identity)).rejects.toMatchObject({ code: 'no_match' });
    const file = path.join(folder, 'identity.txt');
    await writeFile(file, identity);
    const ours = await seal(value, [recipient]);
    expect(value.equals(await runAge(['-d', '-i', file], ours))).toBe(true);
    expect(await toRecipients(identity)).toEqual([recipient]);
    await rm(folder, { recursive: true });
  });
});

test('seal encodes text as UTF-8 and drops duplicate recipients', async () => {
  const { identity, recipient } = await createKeys();
  const sealed = await seal('pässwörd', [recipient, ` ${recipient}\n`]);
  expect(Buffer.from(await open(sealed, identity)).toString()).toBe('pässwörd');
  expect(
    Buffer.from(sealed)
      .toString('latin1')
      .match(/-> X25519/g),
  ).toHaveLength(1);
});

test('seal rejects values that exceed the limit by one byte', async () => {
  const { recipient } = await createKeys();
  const most = MAX_SEALED_BYTES - OVERHEAD;
  expect(await seal(new Uint8Array(most), [recipient])).toHaveLength(MAX_SEALED_BYTES);
  for (const size of [most + 1, MAX_SEALED_BYTES + 1]) {
    await expect(seal(new Uint8Array(size), [recipient])).rejects.toMatchObject({
      code: 'too_large',
      message: 'Expected a value of at most 1048576 bytes once sealed; received more.',
    });
  }
});

test.each([
  ['', 'received something else'],
  ['age1abc', 'received the invalid key "age1abc…"'],
  ['ssh-ed25519 AAAA', 'received an SSH key'],
  ['AGE-SECRET-KEY-1QQQ', 'received an identity, which must stay secret'],
])('seal rejects the recipient "%s": %s', async (recipient, reason) => {
  await expect(seal('x', [recipient])).rejects.toMatchObject({
    code: 'invalid_key',
    message: `Expected a recipient such as age1…; ${reason}.`,
  });
});

test.each<[string, string[] | { passphrase: string }]>([
  ['no recipients', []],
  ['an empty passphrase', { passphrase: '' }],
  ['more recipients than the limit', Array.from({ length: 102 }, (_, index) => `age1${index}`)],
])('seal rejects %s', async (_reason, recipients) => {
  await expect(seal('x', recipients)).rejects.toMatchObject({ code: 'invalid_key' });
});

test('open and toRecipients reject a damaged identity without quoting it', async () => {
  const { identity, recipient } = await createKeys();
  const damaged = identity.slice(0, -1) + (identity.endsWith('Q') ? 'P' : 'Q');
  const sealed = await seal('x', [recipient]);
  for (const call of [() => open(sealed, damaged), () => toRecipients(damaged)]) {
    const error = await call().then(String, (reason: unknown) => reason as Error);
    expect(error).toMatchObject({ name: 'SealingError', code: 'invalid_key' });
    expect(error).not.toHaveProperty('cause');
    expect((error as Error).stack).not.toContain(damaged.slice(15, 40));
  }
  await expect(open(sealed, '# only a comment\n')).rejects.toMatchObject({ code: 'invalid_key' });
});

test.each([
  ['hello', 'plain text'],
  ['', 'empty'],
  ['age-encryption.org/v1\n-> X25519 AAAA\n', 'truncated header'],
  ['-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n', 'truncated armor'],
])('open rejects %j: %s', async (text) => {
  const { identity } = await createKeys();
  await expect(open(Buffer.from(text), identity)).rejects.toMatchObject({
    code: 'not_sealed',
    message: 'Not a valid age file.',
  });
});

test('open detects a changed byte at any position', async () => {
  const { identity, recipient } = await createKeys();
  const sealed = await seal('value', [recipient]);
  for (const at of [30, 100, 150, 190, sealed.length - 1]) {
    const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte));
    await expect(open(changed, identity)).rejects.toMatchObject({ name: 'SealingError' });
  }
});

test('toRecipients returns the public keys of all identities in a file', async () => {
  const [one, other] = [await createKeys(), await createKeys()];
  expect(await toRecipients(`# mine\r\n${one.identity}\r\n\n${other.identity}\n`)).toEqual([
    one.recipient,
    other.recipient,
  ]);
});
