import { createHmac, randomBytes } from 'node:crypto';
import { createLinkSigner } from '../../src/public-files.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PATH = '/0123456789abcdef0123456789abcdef/gr%C3%B6%C3%9Fe%201.jpg';

const key = randomBytes(32);
let at = Date.parse('2026-05-01T13:00:00Z');
const signer = createLinkSigner(key, () => at);
beforeEach(() => void (at = Date.parse('2026-05-01T13:00:00Z')));

const signatureOf = (link: string): string => link.slice(link.indexOf('=') + 1);

describe('link signer', () => {
  test('signs the decoded path and its expiry with HMAC-SHA-256 truncated to 128 bits', () => {
    const seconds = Date.parse('2026-05-03T00:00:00Z') / 1000;
    const text = `${seconds} ${decodeURIComponent(PATH)}`;
    const mac = createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
    const [path, signature] = signer.sign(PATH).split('?signature=');
    expect(path).toBe(PATH);
    // The last of the 22 characters encodes only 2 bits of the signature.
    expect(signature?.slice(0, -1)).toBe(`${seconds}.${mac}`.slice(0, -1));
  });

  test('returns the same link from midnight to midnight UTC', () => {
    const link = signer.sign(PATH);
    const window = signer.currentWindow();
    at = Date.parse('2026-05-01T00:00:00Z');
    expect([signer.sign(PATH), signer.currentWindow()]).toEqual([link, window]);
    at = Date.parse('2026-05-01T23:59:59.999Z');
    expect([signer.sign(PATH), signer.currentWindow()]).toEqual([link, window]);
    at += 1;
    expect(signer.sign(PATH)).not.toBe(link);
    expect(signer.currentWindow()).toBe(window + 1);
  });

  test.each([
    ['at midnight', '2026-05-01T00:00:00Z', 48 * HOUR],
    ['a millisecond before midnight', '2026-05-01T23:59:59.999Z', 24 * HOUR + 1],
  ])('signs links %s that expire at the end of the next day', (_reason, time, milliseconds) => {
    at = Date.parse(time);
    const signature = signatureOf(signer.sign(PATH));
    const expiresAt = at + milliseconds;
    expect(signer.findExpiry(PATH, signature)).toBe(expiresAt);
    at = expiresAt - 1;
    expect(signer.findExpiry(PATH, signature)).toBe(expiresAt);
    at = expiresAt;
    expect(signer.findExpiry(PATH, signature)).toBeUndefined();
  });

  test('accepts the path with a different percent-encoding', () => {
    const signature = signatureOf(signer.sign(PATH));
    expect(signer.findExpiry(PATH.replaceAll('%C3%B6', '%c3%b6').replace('1.jpg', '%31.jpg'), signature)).toBeDefined();
  });

  test.each<[string, (signature: string) => string]>([
    ['empty', () => ''],
    ['only an expiry', (text) => text.split('.')[0] ?? ''],
    ['longer', (text) => `${text}A`],
    ['with a later expiry', (text) => text.replace(/^\d+/, (seconds) => String(Number(seconds) + 1))],
    ['with an expiry of many digits', (text) => text.replace(/^\d+/, '9'.repeat(400))],
    ['with a negative expiry', (text) => `-${text}`],
    ['with characters outside of the alphabet', (text) => text.replace(/.$/, '+')],
    ['made with a different key', () => signatureOf(createLinkSigner(randomBytes(32), () => at).sign(PATH))],
  ])('rejects a signature that is %s', (_reason, change) => {
    expect(signer.findExpiry(PATH, change(signatureOf(signer.sign(PATH))))).toBeUndefined();
  });

  test('rejects every signature with one changed bit', () => {
    const [seconds = '', mac = ''] = signatureOf(signer.sign(PATH)).split('.');
    const bytes = Buffer.from(mac, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(signer.findExpiry(PATH, `${seconds}.${changed.toString('base64url')}`)).toBeUndefined();
    }
  });

  test('rejects a path that is not percent-encoded text', () => {
    expect(signer.findExpiry('/%ff', signatureOf(signer.sign(PATH)))).toBeUndefined();
    expect(signer.findExpiry(PATH, signatureOf(signer.sign(`${PATH}x`)))).toBeUndefined();
    at += DAY;
    expect(signer.findExpiry('/%', signatureOf(signer.sign(PATH)))).toBeUndefined();
  });
});
