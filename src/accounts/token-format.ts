import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type TokenKind = 'consumer' | 'personal' | 'write';

/** A kind is told by its prefix, so that a scanner, and a person, see at once what leaked. */
const PREFIX: Readonly<Record<TokenKind, string>> = { personal: 'trl_', write: 'trs_', consumer: 'trc_' };

const RANDOM_BYTES = 32;
const TOKEN = /^(?<secret>(?<prefix>tr[lsc]_)[\w-]{43})(?<checksum>[0-9A-Za-z]{6})$/;

/** A new token: prefix, 32 random bytes in base64url, and a CRC-32 of both in base62. */
export function createToken(kind: TokenKind): string {
  const secret = PREFIX[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
  return secret + checksumOf(secret);
}

/** @returns the kind of a well-formed token, and `undefined` for anything else, a token with a typo included. */
export function findTokenKind(text: string): TokenKind | undefined {
  const { secret = '', prefix, checksum } = TOKEN.exec(text)?.groups ?? {};
  if (checksum !== checksumOf(secret)) return undefined;
  return (Object.keys(PREFIX) as TokenKind[]).find((kind) => PREFIX[kind] === prefix);
}

/** What is stored of a token or of a session's id. Both are random enough that no salt is needed. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Six digits hold 62^6, more than 2^32. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < 6) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
