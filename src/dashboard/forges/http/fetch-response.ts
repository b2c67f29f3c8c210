import type { LookupFunction } from 'node:net';
import type { Agent, fetch, RequestInit, Response } from 'undici';
import { ForgeError } from '../forge-error.js';
import { type AddressPolicy, AddressRefusedError } from './address-policy.js';

/** The largest responses, of 20 repositories with 50 pull requests each, have about 3 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const TIMEOUT_MS = 30_000;

export interface ForgeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Opens its agent at the first request, and returns it with the function that sends requests by it. The package takes long
 * to load, and servers without boards do not need it. Importing it again for each request would take as long as a request
 * to a close server.
 */
export type ForgeAgent = () => Promise<{ readonly dispatcher: Agent; readonly fetch: typeof fetch }>;

export interface FetchOptions extends Omit<RequestInit, 'dispatcher'> {
  /** Makes the connections, including those for redirects. */
  readonly agent: ForgeAgent;
  readonly timeoutMs?: number;
}

/**
 * Creates an agent that checks the policy before every connection, including those for redirects. It connects to the
 * addresses that the policy has checked, as a second resolution could return different ones (DNS rebinding).
 */
export function createAgent(policy: AddressPolicy): ForgeAgent {
  let agent: ReturnType<ForgeAgent> | undefined;
  return () => (agent ??= openAgent(policy));
}

async function openAgent(policy: AddressPolicy): ReturnType<ForgeAgent> {
  const { Agent, buildConnector, fetch } = await import('undici');
  const dispatcher = new Agent({
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
  return { dispatcher, fetch };
}

/**
 * Sends one request and reads the whole response, whatever its status.
 *
 * @throws ForgeError `address_refused` when the policy refuses an address, before any connection to it; `unreachable`
 * when the request fails, takes longer than the timeout (30 seconds by default) or its response exceeds 16 MiB.
 */
export async function fetchResponse(
  url: string,
  { timeoutMs = TIMEOUT_MS, agent, ...init }: FetchOptions,
): Promise<ForgeResponse> {
  const { dispatcher, fetch } = await agent();
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, dispatcher, signal });
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
    if (length > MAX_BODY_BYTES) throw new Error(`The response exceeds ${MAX_BODY_BYTES} bytes.`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Parses JSON. @throws ForgeError `unknown` for anything else, such as the error page of a proxy. */
export function parseForgeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ForgeError('unknown', { cause });
  }
}
