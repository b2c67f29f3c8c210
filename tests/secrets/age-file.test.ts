import { createPublicKey, diffieHellman, generateKeyPairSync, randomBytes } from 'node:crypto';
import { Encrypter, armor, generateIdentity, identityToRecipient } from 'age-encryption';
import { AgeFileError, readAgeFile } from '../../src/secrets/age-format.js';
import { ageHeader as header } from './age-files.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
/** Returns a file with a header and an empty payload. */
const ageHeader = (stanzas: string): string => header(stanzas) + '.'.repeat(32);
const unpadded = (size: number): string => randomBytes(size).toString('base64').replace(/=+$/, '');

async function encrypt(value: Uint8Array, { recipients = 0, passphrase = '' } = {}): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  for (let count = 0; count < recipients; count += 1) {
    encrypter.addRecipient(await identityToRecipient(await generateIdentity()));
  }
  if (passphrase) encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(2);
  return encrypter.encrypt(value);
}

describe('readAgeFile: files of age', () => {
  test.each([
    ['an empty value for one recipient', 0, { recipients: 1 }, 1],
    ['one byte for one recipient', 1, { recipients: 1 }, 1],
    ['several chunks for three recipients', 200_000, { recipients: 3 }, 3],
    ['a header that is longer than one chunk', 10, { recipients: 60 }, 60],
    ['a passphrase', 10, { passphrase: 'correct horse' }, 1],
  ])('are read with and without armor: %s', async (_reason, size, recipients, recipientCount) => {
    const file = await encrypt(randomBytes(size), recipients);
    expect(readAgeFile(file)).toEqual({ recipientCount });
    const text = armor.encode(file);
    expect(readAgeFile(bytes(text))).toEqual({ recipientCount });
    expect(readAgeFile(bytes(`\r\n ${text.replaceAll('\n', '\r\n')}`))).toEqual({ recipientCount });
  });
});

const STANZA = `-> X25519 ${unpadded(32)}\n${unpadded(32)}\n`;
const MAC = `--- ${unpadded(32)}\n`;
const V1 = 'age-encryption.org/v1\n';

describe('readAgeFile: constructed headers', () => {
  test.each([
    ['one stanza', ageHeader(STANZA), 1],
    ['a binary payload', `${ageHeader(STANZA)}\xff\x00\xfe`, 1],
    ['an unknown type of recipient', ageHeader('-> example.com/enigma a b c\n\n'), 1],
    ['an empty body', ageHeader('-> some\n\n'), 1],
    ['a body of one full line and an empty one', ageHeader(`-> some\n${unpadded(48)}\n\n`), 1],
    ['a body of three lines', ageHeader(`-> some\n${unpadded(48)}\n${unpadded(48)}\n${unpadded(5)}\n`), 1],
    ['a grease stanza, which is not counted', ageHeader(`-> x-grease ab\n\n${STANZA}`), 1],
  ])('are read: %s', (_reason, text, recipientCount) => {
    expect(readAgeFile(bytes(text))).toEqual({ recipientCount });
  });

  test.each([
    ['an empty file', ''],
    ['a different text', 'hello\n'],
    ['an incomplete version', 'age-encryption.org/v'],
    ['a later version', ageHeader(STANZA).replace('/v1', '/v2')],
    ['space before the version', ` ${ageHeader(STANZA)}`],
    ['Windows line breaks', ageHeader(STANZA).replaceAll('\n', '\r\n')],
    ['no stanza', ageHeader('')],
    ['grease stanzas only', ageHeader('-> x-grease ab\n\n')],
    ['only a version', V1],
    ['no MAC', V1 + STANZA],
    ['an incomplete stanza', `${V1}-> X25519 ${unpadded(32)}\n${unpadded(32)}`],
    ['a stanza without arguments', ageHeader('-> \n\n')],
    ['an empty argument', ageHeader('-> X25519  a\n\n')],
    ['a trailing space after the arguments', ageHeader('-> X25519 \n\n')],
    ['a non-ASCII argument', ageHeader('-> X25519 \xe9\n\n')],
    ['an invalid start of a stanza', ageHeader('=> X25519 a\n\n')],
    ['a body with padding', ageHeader('-> X25519 a\nYQ==\n')],
    ['a body in base64url', ageHeader('-> X25519 a\n-_-_\n')],
    ['a body that is not canonical base64', ageHeader('-> X25519 a\nYR\n')],
    ['a line of 65 columns', ageHeader(`-> X25519 a\n${'A'.repeat(65)}\n\n`)],
    ['a body without a shorter last line', `${V1}-> X25519 a\n${'A'.repeat(64)}\n${MAC}`],
    ['a short MAC', `${V1}${STANZA}--- ${unpadded(31)}\n`],
    ['a MAC that is not canonical base64', `${V1}${STANZA}--- ${'A'.repeat(42)}B\n`],
    ['a MAC without a line feed', `${V1}${STANZA}${MAC.trimEnd()}`],
    ['a MAC without a space', `${V1}${STANZA}${MAC.replace(' ', '')}`],
    ['a passphrase beside a key', ageHeader(`-> scrypt ${unpadded(16)} 18\n${unpadded(32)}\n${STANZA}`)],
    ['two passphrases', ageHeader(`-> scrypt ${unpadded(16)} 18\n${unpadded(32)}\n`.repeat(2))],
    ['no payload', header(STANZA)],
    ['an incomplete payload', ageHeader(STANZA).slice(0, -1)],
    ['a payload that ends in an empty chunk', ageHeader(STANZA) + '.'.repeat(65_552)],
    ['a payload with an incomplete last chunk', ageHeader(STANZA) + '.'.repeat(65_540)],
    ['a short share', ageHeader(STANZA.replace(/X25519 \S+/, `X25519 ${unpadded(31)}`))],
    ['a long share', ageHeader(STANZA.replace(/X25519 \S+/, `X25519 ${unpadded(33)}`))],
    ['a share of low order', ageHeader(STANZA.replace(/X25519 \S+/, `X25519 ${'A'.repeat(43)}`))],
    [
      'a post-quantum share of low order',
      ageHeader(
        `-> mlkem768x25519 ${Buffer.concat([randomBytes(1088), Buffer.alloc(32)])
          .toString('base64')
          .replace(/=+$/, '')}\n${unpadded(32)}\n`,
      ),
    ],
    ['an SSH share of low order', ageHeader(`-> ssh-ed25519 ${unpadded(4)} ${'A'.repeat(43)}\n${unpadded(32)}\n`)],
    ['an additional argument', ageHeader(STANZA.replace('\n', ' a\n'))],
    ['a short wrapped key', ageHeader(`-> X25519 ${unpadded(32)}\n${unpadded(31)}\n`)],
    ['a short post-quantum share', ageHeader(`-> mlkem768x25519 ${unpadded(1119)}\n${unpadded(32)}\n`)],
    ['a passphrase with a short salt', ageHeader(`-> scrypt ${unpadded(15)} 18\n${unpadded(32)}\n`)],
    ['a passphrase with a work factor of 23', ageHeader(`-> scrypt ${unpadded(16)} 23\n${unpadded(32)}\n`)],
    ['a passphrase with a work factor of 018', ageHeader(`-> scrypt ${unpadded(16)} 018\n${unpadded(32)}\n`)],
    ['an age identity', 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n'],
    ['a PGP message', '-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n'],
  ])('are rejected: %s', (_reason, text) => {
    expect(() => readAgeFile(bytes(text))).toThrow(AgeFileError);
  });
});

describe('readAgeFile: armor', () => {
  const encode = (text: string): string => armor.encode(bytes(text));

  test.each([
    ['an invalid header', encode('hello\n')],
    ['no recipients', encode(ageHeader(''))],
    ['a different label', encode(ageHeader(STANZA)).replaceAll('AGE ENCRYPTED', 'SOME')],
    ['a label in lower case', encode(ageHeader(STANZA)).replace('AGE', 'age')],
    ['text on the first line', encode(ageHeader(STANZA)).replace('FILE-----', 'FILE----- x')],
    ['text before the armor', `x\n${encode(ageHeader(STANZA))}`],
    ['a PEM header', encode(ageHeader(STANZA)).replace('FILE-----\n', 'FILE-----\nComment: x\n\n')],
    ['lines of a different length', encode(ageHeader(STANZA)).replace(/^(.{40})(.{24})$/m, '$1\n$2')],
    ['one long line', encode(ageHeader(STANZA)).replaceAll(/(?<=^.{64})\n/gm, '')],
    ['no padding', encode(`${ageHeader(STANZA)}xx`).replace(/=+\n/, '\n')],
    ['an incomplete header', encode(ageHeader(STANZA)).split('\n').slice(0, 2).join('\n')],
    ['text after the armor', `${encode(ageHeader(STANZA))}\nx`],
    ['an early end marker', encode(ageHeader(STANZA)).replace(/\n.*\n/, '\n-----END AGE ENCRYPTED FILE-----\n')],
    ['only the first line', '-----BEGIN AGE ENCRYPTED FILE-----'],
    ['too much leading white space', ' '.repeat(2_000) + encode(ageHeader(STANZA))],
  ])('is rejected: %s', (_reason, text) => {
    expect(() => readAgeFile(bytes(text))).toThrow(AgeFileError);
  });
});

describe('readAgeFile: shares of X25519', () => {
  const probe = generateKeyPairSync('x25519').privateKey;
  /** Returns whether OpenSSL computes a secret, which it refuses for points of low order. */
  const hasSecret = (share: Buffer): boolean => {
    const key = { kty: 'OKP', crv: 'X25519', x: share.toString('base64url') };
    try {
      diffieHellman({ privateKey: probe, publicKey: createPublicKey({ key, format: 'jwk' }) });
      return true;
    } catch {
      return false;
    }
  };
  const isRead = (share: Buffer): boolean => {
    const stanza = `-> X25519 ${share.toString('base64').replace(/=+$/, '')}\n${unpadded(32)}\n`;
    try {
      readAgeFile(bytes(ageHeader(stanza)));
      return true;
    } catch {
      return false;
    }
  };

  test('a file is read exactly if OpenSSL computes a secret with its share', () => {
    const prime = 2n ** 255n - 19n;
    const eighth = BigInt('0x00b8495f16056286fdb1329ceb8d09da6ac49ff1fae35616aeb8413b7c7aebe0');
    const other = BigInt('0x57119fd0dd4e22d8868e1c58c45c44045bef839c55b1d0b1248c50a3bc959c5f');
    const low = [0n, 1n, eighth, other, prime - 1n, prime, prime + 1n];
    const near = low.flatMap((point) => [point, point + 1n, point + 2n, point === 0n ? 9n : point - 1n]);
    const shares = near
      .flatMap((point) => [point, point + 2n ** 255n])
      .map((point) => Buffer.from(point.toString(16).padStart(64, '0'), 'hex').reverse());
    for (let count = 0; count < 50; count += 1) shares.push(randomBytes(32));
    expect(shares.map(isRead)).toEqual(shares.map(hasSecret));
    expect(shares.map(isRead)).toContain(false);
  });
});
