import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, fetch } from 'undici';
import type { Dispatcher, RequestInit, Response } from 'undici';
import { ForgeError } from '../forge-error.js';
import { AddressRefusedError } from './address-policy.js';
import type { AddressPolicy } from './address-policy.js';

/** The largest answers, of 20 repositories with 50 pull requests each, have some 3 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const TIMEOUT_MS = 30_000;

export interface ForgeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ExchangeOptions extends RequestInit {
  /** Makes the connections, redirects included. */
  readonly dispatcher: Dispatcher;
  readonly timeoutMs?: number | undefined;
}

/**
 * Creates an agent that asks the policy before every connection, and connects to the very addresses that the policy
 * checked: a second resolution, which could give different ones, does not happen. Redirects open connections like any
 * request.
 */
export function createAgent(policy: AddressPolicy): Agent {
  return new Agent({
    connect: (target, callback) => {
      policy.resolve(target).then(
        (addresses) => {
          const lookup: LookupFunction = (_hostname, { all }, found) => {
            const [first] = addresses;
            if (all === true) found(null, [...addresses]);
            else found(null, first?.address ?? '', first?.family);
          };
          buildConnector({ lookup })(target, callback);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
}

/**
 * Sends one request and reads its answer, of whatever status, to the end.
 *
 * @throws ForgeError `address_refused` when the policy refuses an address, before any connection to it; `unreachable`
 * when the exchange takes more than 30 seconds or 16 MiB, or fails.
 */
export async function exchange(
  url: string,
  { timeoutMs = TIMEOUT_MS, ...init }: ExchangeOptions,
): Promise<ForgeAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal });
    return { status: response.status, headers: new Headers([...response.headers]), text: await readText(response) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.cause : undefined;
    if (reason instanceof AddressRefusedError) throw new ForgeError('address_refused', { cause });
    throw new ForgeError('unreachable', { cause, timedOut: signal.aborted });
  }
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let length = 0;
  let text = '';
  for await (const chunk of body) {
    const bytes = chunk as Uint8Array;
    length += bytes.byteLength;
    if (length > MAX_BODY_BYTES) throw new Error(`The answer has more than ${MAX_BODY_BYTES} bytes.`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** @throws ForgeError `unknown` when it is something else, such as the page of a proxy. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ForgeError('unknown', { cause });
  }
}
