/** Requests and responses in their wire format. */
import { Agent, request as send, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib';

export interface WireRequest {
  readonly method: string;
  /** The path and query, percent-encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer;
  /** Whether the body is sent without a length. */
  readonly isChunked?: boolean;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Wire {
  /** @throws Error if the connection ends early, or no response arrives within 30 seconds. */
  send(request: WireRequest): Promise<WireResponse>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

export function openWire(origin: string): Wire {
  const { port, host } = new URL(origin);
  const agent = new Agent({ keepAlive: true });

  const sendOnce = (request: WireRequest): Promise<WireResponse> =>
    new Promise((resolve, reject) => {
      const { method, target, headers, body, isChunked = false } = request;
      const sent = send(
        // localhost may resolve to ::1, where the server does not listen.
        { host: '127.0.0.1', port, agent, method, path: target, timeout: TIMEOUT_MS },
        (response) => {
          readText(response).then((text) => resolve(toResponse(response, text)), reject);
        },
      );
      for (const [name, value] of Object.entries({ Host: host, ...headers })) sent.setHeader(name, value);
      // Set explicitly, because Node's client sends neither with some methods.
      if (body !== undefined && isChunked) sent.setHeader('Transfer-Encoding', 'chunked');
      else if (body !== undefined) sent.setHeader('Content-Length', body.length);
      sent.on('timeout', () => sent.destroy(new Error(`No response within ${TIMEOUT_MS / 1000} s`)));
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The server has just closed the idle connection, after which HTTP clients send the request again.
        const isStale = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (isStale) sendOnce({ ...request, headers: { ...headers, Connection: 'close' } }).then(resolve, reject);
        else reject(error);
      });
      sent.end(body);
    });

  return { send: sendOnce, close: () => agent.destroy() };
}

function toResponse({ statusCode = 0, headers }: IncomingMessage, text: string): WireResponse {
  return { status: statusCode, headers, text };
}

/** Reads the whole body, or the first event of a stream. */
async function readText(response: IncomingMessage): Promise<string> {
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  const encoding = response.headers['content-encoding'];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (isStream && decode(Buffer.concat(chunks), encoding).includes('\n\n')) break;
  }
  return decode(Buffer.concat(chunks), encoding).toString();
}

/** Decodes a stream that may have been read only in part. */
function decode(bytes: Buffer, encoding: string | undefined): Buffer {
  if (bytes.length === 0 || encoding === undefined) return bytes;
  if (encoding === 'br') return brotliDecompressSync(bytes);
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

/** Longer bodies are truncated in a reproduction. */
const MAX_SHOWN = 2_000;

/** Returns a command that sends the same request. */
export function toCurl(origin: string, { method, target, headers, body, isChunked = false }: WireRequest): string {
  const all = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  const parts = [
    `curl -i --path-as-is -X ${method} ${quote(shorten(origin + target))}`,
    ...all.map((header) => `-H ${quote(shorten(header))}`),
    ...(isChunked ? [`-H 'Transfer-Encoding: chunked'`] : []),
    ...(body === undefined ? [] : [`--data-binary ${quote(shorten(body.toString()))}`]),
  ];
  return parts.join(' ');
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const shorten = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…(${text.length} characters)` : text;
