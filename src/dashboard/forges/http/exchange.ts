import { ForgeError } from '../forge-error.js';

/** The largest answers, of 20 repositories with 50 pull requests each, have some 3 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const TIMEOUT_MS = 30_000;

export interface ForgeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ExchangeOptions extends RequestInit {
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends one request and reads its answer, of whatever status, to the end.
 *
 * @throws ForgeError `unreachable` when that takes more than 30 seconds or 16 MiB, or fails.
 */
export async function exchange(
  url: string,
  { timeoutMs = TIMEOUT_MS, ...init }: ExchangeOptions,
): Promise<ForgeAnswer> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    return { status: response.status, headers: response.headers, text: await readText(response) };
  } catch (cause) {
    throw new ForgeError('unreachable', { cause });
  }
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let length = 0;
  let text = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    length += chunk.value.byteLength;
    if (length > MAX_BODY_BYTES) {
      await reader.cancel();
      throw new Error(`Expected at most ${MAX_BODY_BYTES} bytes.`);
    }
    text += decoder.decode(chunk.value, { stream: true });
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
