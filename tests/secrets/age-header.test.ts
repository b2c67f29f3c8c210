import { randomBytes } from 'node:crypto';
import { Encrypter, armor, generateIdentity, identityToRecipient } from 'age-encryption';
import { AgeHeaderError, readAgeHeader } from '../../src/secrets/age-header.js';
import { ageHeader } from './age-files.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
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

describe('a file that age made', () => {
  test.each([
    ['nothing, for one', 0, { recipients: 1 }, 1],
    ['a byte, for one', 1, { recipients: 1 }, 1],
    ['several chunks, for three', 200_000, { recipients: 3 }, 3],
    ['for more than fit into a piece of what is read', 10, { recipients: 60 }, 60],
    ['with a passphrase', 10, { passphrase: 'correct horse' }, 1],
  ])('is read, armored too: %s', async (_reason, size, whom, recipientCount) => {
    const file = await encrypt(randomBytes(size), whom);
    expect(readAgeHeader(file)).toEqual({ recipientCount });
    const text = armor.encode(file);
    expect(readAgeHeader(bytes(text))).toEqual({ recipientCount });
    expect(readAgeHeader(bytes(`\r\n ${text.replaceAll('\n', '\r\n')}`))).toEqual({ recipientCount });
  });
});

const STANZA = `-> X25519 ${unpadded(32)}\n${unpadded(32)}\n`;
const MAC = `--- ${unpadded(32)}\n`;
const V1 = 'age-encryption.org/v1\n';

describe('a header by hand', () => {
  test.each([
    ['one stanza, and nothing behind', ageHeader(STANZA), 1],
    ['bytes behind it that are no text', `${ageHeader(STANZA)}\xff\x00\xfe`, 1],
    ['a kind of recipient that nobody knows', ageHeader('-> example.com/enigma a b c\n\n'), 1],
    ['an empty body', ageHeader('-> some\n\n'), 1],
    ['a body of just a line needs an empty one', ageHeader(`-> some\n${unpadded(48)}\n\n`), 1],
    ['a body of three lines', ageHeader(`-> some\n${unpadded(48)}\n${unpadded(48)}\n${unpadded(5)}\n`), 1],
    ['stanzas for practice are no recipients', ageHeader(`-> x-grease ab\n\n${STANZA}`), 1],
  ])('is read: %s', (_reason, text, recipientCount) => {
    expect(readAgeHeader(bytes(text))).toEqual({ recipientCount });
  });

  test.each([
    ['nothing', ''],
    ['another text', 'hello\n'],
    ['half a version', 'age-encryption.org/v'],
    ['a version to come', ageHeader(STANZA).replace('/v1', '/v2')],
    ['space before the version', ` ${ageHeader(STANZA)}`],
    ['lines that end as on Windows', ageHeader(STANZA).replaceAll('\n', '\r\n')],
    ['no stanza', ageHeader('')],
    ['stanzas for practice alone', ageHeader('-> x-grease ab\n\n')],
    ['a version and nothing else', V1],
    ['no end', V1 + STANZA],
    ['a stanza that breaks off', `${V1}-> X25519 ${unpadded(32)}\n${unpadded(32)}`],
    ['a stanza without arguments', ageHeader('-> \n\n')],
    ['an argument that is empty', ageHeader('-> X25519  a\n\n')],
    ['space behind the arguments', ageHeader('-> X25519 \n\n')],
    ['an argument beyond ASCII', ageHeader('-> X25519 \xe9\n\n')],
    ['a stanza that begins otherwise', ageHeader('=> X25519 a\n\n')],
    ['a body with padding', ageHeader('-> X25519 a\nYQ==\n')],
    ['a body in another alphabet', ageHeader('-> X25519 a\n-_-_\n')],
    ['a body in another spelling', ageHeader('-> X25519 a\nYR\n')],
    ['a line of 65 columns', ageHeader(`-> X25519 a\n${'A'.repeat(65)}\n\n`)],
    ['a whole line and no end of it', `${V1}-> X25519 a\n${'A'.repeat(64)}\n${MAC}`],
    ['a MAC that is too short', `${V1}${STANZA}--- ${unpadded(31)}\n`],
    ['a MAC in another spelling', `${V1}${STANZA}--- ${'A'.repeat(42)}B\n`],
    ['a MAC without an end', `${V1}${STANZA}${MAC.trimEnd()}`],
    ['a MAC without space', `${V1}${STANZA}${MAC.replace(' ', '')}`],
    ['a passphrase beside a key', ageHeader(`-> scrypt ${unpadded(16)} 18\n${unpadded(32)}\n${STANZA}`)],
    ['two passphrases', ageHeader(`-> scrypt ${unpadded(16)} 18\n${unpadded(32)}\n`.repeat(2))],
    ['a key of age', 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n'],
    ['a message of PGP', '-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n'],
  ])('is refused: %s', (_reason, text) => {
    expect(() => readAgeHeader(bytes(text))).toThrow(AgeHeaderError);
  });
});

describe('armor', () => {
  const encode = (text: string): string => armor.encode(bytes(text));

  test('is looked at no further than the header goes', () => {
    const lines = encode(ageHeader(STANZA) + 'x'.repeat(500)).split('\n');
    const broken = [...lines.slice(0, 6), '!'.repeat(64), ...lines.slice(7)].join('\n');
    expect(readAgeHeader(bytes(broken))).toEqual({ recipientCount: 1 });
  });

  test.each([
    ['a header that is none', encode('hello\n')],
    ['no recipient', encode(ageHeader(''))],
    ['another label', encode(ageHeader(STANZA)).replaceAll('AGE ENCRYPTED', 'SOME')],
    ['a label in lower case', encode(ageHeader(STANZA)).replace('AGE', 'age')],
    ['text on the first line', encode(ageHeader(STANZA)).replace('FILE-----', 'FILE----- x')],
    ['text before it', `x\n${encode(ageHeader(STANZA))}`],
    ['a header of PEM', encode(ageHeader(STANZA)).replace('FILE-----\n', 'FILE-----\nComment: x\n\n')],
    ['lines of another length', encode(ageHeader(STANZA)).replace(/^(.{40})(.{24})$/m, '$1\n$2')],
    ['no padding', encode(`${ageHeader(STANZA)}x`).replace(/=+\n/, '\n')],
    ['a header that is cut off', encode(ageHeader(STANZA)).split('\n').slice(0, 2).join('\n')],
    ['the end too early', encode(ageHeader(STANZA)).replace(/\n.*\n/, '\n-----END AGE ENCRYPTED FILE-----\n')],
    ['no line at all', '-----BEGIN AGE ENCRYPTED FILE-----'],
    ['more space than there may be', ' '.repeat(2_000) + encode(ageHeader(STANZA))],
  ])('is refused: %s', (_reason, text) => {
    expect(() => readAgeHeader(bytes(text))).toThrow(AgeHeaderError);
  });
});
