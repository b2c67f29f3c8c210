/** The public keys that issuers of workload tokens publish (OpenID Connect Discovery 1.0, RFC 7517). */
import { AppError } from '@trellis/core/errors';
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Agent, fetch } from 'undici';

/** Returns the agent that makes the connections, which checks each address, with the function that sends requests by it. */
export type IssuerAgent = () => Promise<{ readonly dispatcher: Agent; readonly fetch: typeof fetch }>;

/**
 * Returns the keys of an issuer, given without a trailing slash.
 *
 * @throws AppError `unavailable` if the issuer doesn't respond, or not as the specification says.
 */
export type FindIssuerKeys = (issuer: string) => Promise<IssuerKeys>;

interface IssuerKeys {
  /** The `iss` claim of its tokens, which ends with a slash for some issuers. */
  readonly issuer: string;
  /** Finds the key of a token. */
  readonly getKey: JWTVerifyGetKey;
}

interface IssuerKeysOptions {
  /** The time after which keys are fetched again. */
  readonly maxAgeMs?: number;
  /** The minimum time between two fetches because of an unknown key. */
  readonly cooldownMs?: number;
}

/** Issuers publish new keys hours before they sign with them. */
const MAX_AGE_MS = 600_000;

const COOLDOWN_MS = 30_000;

/** The limit of rules, each of which names an issuer. */
const MAX_ISSUERS = 500;

const TIMEOUT_MS = 5_000;

/** The keys of GitHub have 9 kB. */
const MAX_BYTES = 256 * 1024;

/** Creates the cache of the keys of issuers. Concurrent requests share one fetch. */
export function createIssuerKeys(
  agent: IssuerAgent,
  { maxAgeMs = MAX_AGE_MS, cooldownMs = COOLDOWN_MS }: IssuerKeysOptions = {},
): FindIssuerKeys {
  const found = new LRUCache<string, Promise<IssuerKeys>>({ max: MAX_ISSUERS, ttl: maxAgeMs });
  const open = async (issuer: string): Promise<IssuerKeys> => {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const document = parseJson(await fetchText(`${issuer}/.well-known/openid-configuration`, issuer, agent), issuer);
    const { issuer: own, jwks_uri: keys } = Object(document) as {
      readonly issuer?: unknown;
      readonly jwks_uri?: unknown;
    };
    if (own !== issuer && own !== `${issuer}/`) throw unavailable(issuer, 'its configuration names a different issuer');
    if (typeof keys !== 'string' || !isIssuerUrl(keys)) throw unavailable(issuer, 'its keys have no https URL');
    const getKey = createRemoteJWKSet(new URL(keys), {
      ...{ cacheMaxAge: maxAgeMs, cooldownDuration: cooldownMs, timeoutDuration: 2 * TIMEOUT_MS },
      [customFetch]: async (url: string) => {
        const text = await fetchText(url, issuer, agent);
        parseJson(text, issuer);
        return new Response(text);
      },
    });
    return { issuer: own, getKey };
  };
  return (issuer) => {
    const known = found.get(issuer);
    if (known !== undefined) return known;
    const opened = open(issuer);
    found.set(issuer, opened);
    opened.catch(() => found.get(issuer) === opened && found.delete(issuer));
    return opened;
  };
}

/** Returns the URL of an issuer without its trailing slash, which its configuration is below (OpenID Connect Discovery 4.1). */
export const toIssuerUrl = (issuer: string): string => issuer.replace(/\/$/, '');

/** Reports whether the server may fetch keys from a URL: by https, or by http on the same machine. */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username + password !== '') return false;
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}

/** Redirects are not followed. */
async function fetchText(url: string, issuer: string, agent: IssuerAgent): Promise<string> {
  const { dispatcher, fetch } = await agent();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      dispatcher,
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json' },
    });
    if (response.status !== 200) throw unavailable(issuer, `it responded with status ${response.status}`);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += (chunk as Uint8Array).byteLength;
      if (length > MAX_BYTES) throw unavailable(issuer, `its response exceeds ${MAX_BYTES} bytes`);
      chunks.push(chunk as Uint8Array);
    }
    return Buffer.concat(chunks).toString();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const reason = cause instanceof Error ? cause.cause : undefined;
    const isRefused = reason instanceof Error && reason.name === 'AddressRefusedError';
    if (isRefused) throw unavailable(issuer, 'its address is private; the operator must allow it', cause);
    throw unavailable(issuer, signal.aborted ? 'it did not respond in time' : 'it could not be reached', cause);
  }
}

function parseJson(text: string, issuer: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unavailable(issuer, 'its response is not JSON', cause);
  }
}

function unavailable(issuer: string, reason: string, cause?: unknown): AppError {
  return new AppError('unavailable', `The keys of ${issuer} cannot be fetched: ${reason}.`, { cause });
}
