import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addWriter,
  checkValue,
  describeSigner,
  generateSigningKey,
  NO_KNOWN_KEYS,
  parseSigningKey,
  type ReceivedValue,
  type Signer,
  signValue,
  type WriterTrust,
} from '../../src/sealing/secrets.js';
import { isSignedByItsKey, parseValueSignature, signText } from '../../src/sealing/value-statement.js';

/** A key and a signature that ssh-keygen (OpenSSH 9.2) made. */
const KEY = [
  '-----BEGIN OPENSSH PRIVATE KEY-----',
  'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW',
  'QyNTUxOQAAACDxJseQGIIFGumXdRJeoHSOrIB0P55J9Al9kAKSePz13gAAAIiltncYpbZ3',
  'GAAAAAtzc2gtZWQyNTUxOQAAACDxJseQGIIFGumXdRJeoHSOrIB0P55J9Al9kAKSePz13g',
  'AAAEC5oqtWYplegxvVKT5Y0TnBipchW/rdM1toaXqQ5/RprPEmx5AYggUa6Zd1El6gdI6s',
  'gHQ/nkn0CX2QApJ4/PXeAAAAA2FkYQEC',
  '-----END OPENSSH PRIVATE KEY-----',
  '',
].join('\n');
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPEmx5AYggUa6Zd1El6gdI6sgHQ/nkn0CX2QApJ4/PXe';
const FINGERPRINT = 'SHA256:lQDXG16d+/NpX9Zl11YVtTYZe+M4qvCmZzffaoqASIw';
const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const ID = '6f1b2a0c-3d0e-4f9b-9a51-0d1c2b3a4e5f';
const STATEMENT = [
  'trellis-secret-value-v1',
  'name: db-password',
  `id: ${ID}`,
  'version: 3',
  `value: ${EMPTY_DIGEST}`,
  `recipients: ${EMPTY_DIGEST}`,
  'time: 2026-05-01T08:00:00.000Z',
  '',
].join('\n');
const SIGNATURE = [
  '-----BEGIN SSH SIGNATURE-----',
  'U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg8SbHkBiCBRrpl3USXqB0jqyAdD',
  '+eSfQJfZACknj89d4AAAAUdHJlbGxpcy1zZWNyZXQtdmFsdWUAAAAAAAAABnNoYTUxMgAA',
  'AFMAAAALc3NoLWVkMjU1MTkAAABAQ1doSg0Jp22o1XUPCS3GfhzIobm+xcdr732rj3Sqvi',
  'JRgaWXdoJM6q2x8VZI1e6gFo2z9Kp0VkH8I+946RlZAw==',
  '-----END SSH SIGNATURE-----',
  '',
].join('\n');

describe('a key and a signature of ssh-keygen', () => {
  test('are read, and made again byte for byte', async () => {
    const signer = parseSigningKey(KEY);
    expect(await describeSigner(signer)).toEqual({ key: PUBLIC_KEY, fingerprint: FINGERPRINT });
    expect(await signText(signer, STATEMENT)).toBe(STATEMENT + SIGNATURE);
    const signed = parseValueSignature(STATEMENT + SIGNATURE);
    expect(signed?.statement).toEqual({
      ...{ slug: 'db-password', id: ID, version: 3, digest: EMPTY_DIGEST, recipientsDigest: EMPTY_DIGEST },
      time: Date.parse('2026-05-01T08:00:00Z'),
    });
    expect(await isSignedByItsKey(signed!)).toBe(true);
  });

  test.each<[what: string, from: string, to: string]>([
    ['a different name', 'db-password', 'db-passwords'],
    ['a different number', 'version: 3', 'version: 4'],
    ['a different time', '08:00', '08:01'],
    ['a different signature', 'JRgaWX', 'JRgaWY'],
  ])('do not belong to %s', async (_what, from, to) => {
    const signed = parseValueSignature((STATEMENT + SIGNATURE).replace(from, to));
    expect(signed).toBeDefined();
    expect(await isSignedByItsKey(signed!)).toBe(false);
  });

  test.each<[what: string, from: RegExp | string, to: string]>([
    ['a line more', 'version: 3\n', 'version: 3\nnote: x\n'],
    ['a line less', 'version: 3\n', ''],
    ['a number with a zero in front', 'version: 3', 'version: 03'],
    ['text in front', /^/, ' '],
    ['a different kind of armor', /SSH SIGNATURE/g, 'PGP SIGNATURE'],
    ['a different namespace', 'UdHJlbGxpcy1zZWNyZXQt', 'UdHJlbGxpcy1zZWNyZXRt'],
    ['a damaged signature', 'U1NIU0lH', 'U1NI'],
    ['nothing after the statement', /-----BEGIN[^]*/, ''],
    ['more than 2,048 characters', /\n$/, '\n'.repeat(2048)],
  ])('are not read with %s', (_what, from, to) => {
    expect(parseValueSignature((STATEMENT + SIGNATURE).replace(from, to))).toBeUndefined();
  });

  test.each<[what: string, text: string, reason: string]>([
    ['a public key', PUBLIC_KEY, 'received something else'],
    ['a damaged key', KEY.replace('gHQ/', 'gHQ+'), 'received a damaged one'],
    ['a key that ends too early', KEY.replace('gHQ/nkn0CX2QApJ4/PXeAAAAA2FkYQEC\n', ''), 'received a damaged one'],
  ])('parseSigningKey rejects %s without quoting it', (_what, text, reason) => {
    expect(() => parseSigningKey(text)).toThrow(
      `Expected an Ed25519 private key of OpenSSH without a passphrase; ${reason}.`,
    );
  });
});

const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined;
if (!hasSsh) process.stderr.write('\n*** SKIPPED: tests with ssh-keygen (Debian package openssh-client). ***\n\n');

(hasSsh ? describe : describe.skip)('ssh-keygen', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trellis-ssh-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (name: string, content: string): string => {
    const file = join(folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };

  test('reads a generated key, and verifies what it signs', async () => {
    const text = generateSigningKey('ada');
    const file = write('key', text);
    const signer = parseSigningKey(text);
    const { key, fingerprint } = await describeSigner(signer);
    expect(execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' })).toBe(`${key} ada\n`);
    expect(execFileSync('ssh-keygen', ['-l', '-f', file], { encoding: 'utf8' })).toContain(fingerprint);
    const signature = await signValue(signer, { slug: 'a', id: ID, version: 1, sealed: Buffer.from('x') });
    const [statement = '', armored = ''] = signature.split(/(?=-----BEGIN)/);
    const allowed = write('allowed', `ada ${key}\n`);
    const verify = [
      '-Y',
      'verify',
      '-f',
      allowed,
      '-I',
      'ada',
      '-n',
      'trellis-secret-value',
      '-s',
      write('s', armored),
    ];
    expect(execFileSync('ssh-keygen', verify, { input: statement, encoding: 'utf8' })).toContain('Good');
    expect(spawnSync('ssh-keygen', verify, { input: statement.replace('a', 'b') }).status).not.toBe(0);
  });

  test('makes keys and signatures that are read, but not with a passphrase or of a different kind', async () => {
    const create = (name: string, ...args: string[]): string => {
      const file = join(folder, name);
      execFileSync('ssh-keygen', ['-q', '-f', file, ...args]);
      return file;
    };
    const read = (file: string) => parseSigningKey(execFileSync('cat', [file], { encoding: 'utf8' }));
    const file = create('own', '-t', 'ed25519', '-N', '');
    const statement = write('statement', STATEMENT);
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', file, '-n', 'trellis-secret-value', statement]);
    const armored = execFileSync('cat', [`${statement}.sig`], { encoding: 'utf8' });
    const signed = parseValueSignature(STATEMENT + armored);
    expect(await isSignedByItsKey(signed!)).toBe(true);
    expect(Buffer.from(signed!.publicKey)).toEqual(Buffer.from(read(file).publicKey));
    expect(() => read(create('locked', '-t', 'ed25519', '-N', 'passphrase'))).toThrow('received one with a passphrase');
    expect(() => read(create('other', '-t', 'ecdsa', '-N', ''))).toThrow('received a different kind');
  });
});

const [ADA, BOB] = [parseSigningKey(KEY), parseSigningKey(generateSigningKey())];
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const SEALED = Buffer.from('sealed');

/** Returns value 3 of a secret with the signature of a writer. */
async function receive(signer: Signer = ADA, change: Partial<ReceivedValue> = {}): Promise<ReceivedValue> {
  const value = { slug: 'db-password', id: ID, sealed: SEALED, recipients: [RECIPIENT] };
  return { ...value, signature: await signValue(signer, { ...value, version: 3 }), ...change };
}

const trustAda: WriterTrust = { known: addWriter(NO_KNOWN_KEYS, PUBLIC_KEY, 'db-*') };

/** The latest time that a date can have. */
const LATER = 8.64e15;

describe('checkValue', () => {
  test('accepts a value of a trusted writer', async () => {
    const checked = await checkValue(await receive(), trustAda);
    expect(checked).toMatchObject({ fingerprint: FINGERPRINT, isNewWriter: false, statement: { version: 3 } });
  });

  test.each<[attack: string, change: Partial<ReceivedValue>, reason: string]>([
    ['an edited value', { sealed: Buffer.from('edited') }, 'it is for a different value'],
    ['the value of a different secret', { slug: 'db-root' }, 'it is for the name db-password'],
    ['the value of a different variant', { id: ID.replace('6', '7') }, `it is for the variant ${ID}`],
    ['a different version', { version: 2 }, 'it is for value 3'],
    ['an added recipient', { recipients: [RECIPIENT, `${RECIPIENT}x`] }, 'it is for other recorded recipients'],
    ['removed recipients', { recipients: [] }, 'it is for other recorded recipients'],
    ['a damaged signature', { signature: STATEMENT }, 'it has an unknown format'],
    ['the signature of a different statement', { signature: STATEMENT + SIGNATURE }, 'it is for a different value'],
    ['an edited statement', { signature: (STATEMENT + SIGNATURE).replace('3', '4') }, 'its statement was changed'],
  ])('rejects %s', async (_attack, change, reason) => {
    const error = { code: 'wrong_signature', message: expect.stringContaining(reason) as string };
    await expect(checkValue(await receive(ADA, change), trustAda)).rejects.toMatchObject(error);
  });

  test('rejects a removed signature where a writer is trusted, or signatures are required', async () => {
    const received = await receive(ADA, { signature: undefined });
    const error = { code: 'not_signed', message: expect.stringContaining(FINGERPRINT) as string };
    await expect(checkValue(received, trustAda)).rejects.toMatchObject(error);
    const required = { known: NO_KNOWN_KEYS, requiresSignature: true };
    await expect(checkValue(received, required)).rejects.toMatchObject({ code: 'not_signed' });
    expect(await checkValue(received, { known: NO_KNOWN_KEYS })).toEqual({ isNewWriter: false });
  });

  test('rejects the signature of an unknown key with both fingerprints, unless it is accepted', async () => {
    const received = await receive(BOB);
    const { key, fingerprint } = await describeSigner(BOB);
    const rejected = checkValue(received, trustAda);
    await expect(rejected).rejects.toMatchObject({ code: 'unknown_signer' });
    await expect(rejected).rejects.toThrow(`  trusted: ${FINGERPRINT}\n  signer:  ${fingerprint}\n`);
    for (const acceptKey of [[key], [`${key} bob@example.org`], [fingerprint]]) {
      expect(await checkValue(received, { ...trustAda, acceptKey })).toMatchObject({ signer: key, isNewWriter: true });
    }
    await expect(checkValue(received, { ...trustAda, acceptKey: [FINGERPRINT] })).rejects.toThrow('not trusted');
  });

  test('trusts the first key of a name without trusted writers', async () => {
    const { key } = await describeSigner(BOB);
    const trust = { known: addWriter(NO_KNOWN_KEYS, PUBLIC_KEY, 'prod-*') };
    expect(await checkValue(await receive(BOB), trust)).toMatchObject({ signer: key, isNewWriter: true });
    const required = { ...trust, requiresSignature: true };
    await expect(checkValue(await receive(BOB), required)).rejects.toMatchObject({ code: 'unknown_signer' });
  });

  test.each<[reason: string, latest: { id?: string; version: number; time: number }, isOlder: boolean]>([
    ['a lower number', { version: 4, time: 0 }, true],
    ['the same number', { version: 3, time: 0 }, false],
    ['a higher number, signed by a slow clock', { version: 2, time: LATER }, false],
    ['the same number, but signed before', { version: 3, time: LATER }, true],
    ['a new secret of the name', { id: 'other', version: 9, time: 0 }, false],
    ['a deleted secret of the name', { id: 'other', version: 1, time: LATER }, true],
  ])('compares the value with the one used before: %s', async (_reason, latest, isOlder) => {
    const checked = checkValue(await receive(), { ...trustAda, latest: [{ id: ID, ...latest }] });
    if (isOlder) await expect(checked).rejects.toMatchObject({ code: 'older_value' });
    else await expect(checked).resolves.toMatchObject({ isNewWriter: false });
  });
});
