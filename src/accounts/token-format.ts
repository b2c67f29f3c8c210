import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type TokenKind = 'consumer' | 'personal' | 'write';

/** Prefixes identify the kind of a token, so that scanners and users recognise a leaked one. */
const PREFIX: Readonly<Record<TokenKind, string>> = { personal: 'trl_', write: 'trs_', consumer: 'trc_' };

const RANDOM_BYTES = 32;
const TOKEN = /^(?<secret>(?<prefix>tr[lsc]_)[\w-]{43})(?<checksum>[0-9A-Za-z]{6})$/;

/** Creates a token: a prefix, 32 random bytes in base64url, and the CRC-32 of both in base62. */
export function createToken(kind: TokenKind): string {
  const secret = PREFIX[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
  return secret + toChecksum(secret);
}

/** Returns the kind of a well-formed token; `undefined` for other texts, including a token with a typo. */
export function findTokenKind(text: string): TokenKind | undefined {
  const { secret = '', prefix, checksum } = TOKEN.exec(text)?.groups ?? {};
  if (checksum !== toChecksum(secret)) return undefined;
  return (Object.keys(PREFIX) as TokenKind[]).find((kind) => PREFIX[kind] === prefix);
}

/** Hashes a token, challenge or session id for storage. They are random enough that no salt is needed. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Six digits suffice: 62^6 is more than 2^32. */
function toChecksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < 6) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
