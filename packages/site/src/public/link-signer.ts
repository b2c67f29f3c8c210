import { createHmac, timingSafeEqual } from 'node:crypto';

/** Links change once a day, at midnight UTC, so that responses and browser caches stay stable in between. */
const WINDOW_MS = 86_400_000;

/** 128 bits, half of the output of HMAC-SHA-256, which is the minimum that RFC 2104 recommends. */
const SIGNATURE_BYTES = 16;

const SIGNATURE = /^(?<seconds>\d{1,12})\.(?<mac>[\w-]{22})$/;

/** Signs links to files of a site that is not public. Anyone with a link can read its file until the link expires. */
export interface LinkSigner {
  /** Appends a signature to a percent-encoded path below `/static`. The link is valid for 24 to 48 hours. */
  sign(path: string): string;
  /** Returns when a signature of a path expires, in milliseconds; `undefined` when it has expired or does not match. */
  findExpiry(path: string, signature: string): number | undefined;
  /** Returns the number of the current day. Links that were signed on the same day are equal. */
  currentWindow(): number;
}

/** @param key At least 32 random bytes that have no other use. */
export function createLinkSigner(key: Uint8Array, now: () => number = Date.now): LinkSigner {
  const currentWindow = (): number => Math.floor(now() / WINDOW_MS);
  const macOf = (path: string, seconds: string): Buffer =>
    createHmac('sha256', key).update(`${seconds} ${path}`).digest().subarray(0, SIGNATURE_BYTES);

  return {
    currentWindow,
    sign(path) {
      const seconds = String(((currentWindow() + 2) * WINDOW_MS) / 1000);
      return `${path}?signature=${seconds}.${macOf(decode(path) ?? path, seconds).toString('base64url')}`;
    },
    findExpiry(path, signature) {
      const { seconds = '', mac = '' } = SIGNATURE.exec(signature)?.groups ?? {};
      const expiresAt = Number(seconds) * 1000;
      const decoded = decode(path);
      if (decoded === undefined || expiresAt <= now()) return undefined;
      const isOurs = timingSafeEqual(macOf(decoded, seconds), Buffer.from(mac, 'base64url'));
      return isOurs ? expiresAt : undefined;
    },
  };
}

/** Proxies may change the percent-encoding of a path. */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
