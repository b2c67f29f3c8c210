/**
 * `fetch` on `node:http`, for the command line only. The platform's own takes twice as long to load as Node takes to
 * start. It has the parts that the client of the service and the age library use: bodies are text or bytes, responses
 * are read whole, and redirects are errors, as a token must not follow them.
 */
import type { IncomingMessage } from 'node:http';

/** Well above the largest list of the service, 500 rows of a few kB. */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

type HeaderList = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

export class LightHeaders {
  readonly #values = new Map<string, string>();

  constructor(list: HeaderList = {}) {
    for (const [name, value] of isIterable(list) ? list : Object.entries(list)) this.append(name, value);
  }

  get = (name: string): string | null => this.#values.get(name.toLowerCase()) ?? null;
  has = (name: string): boolean => this.#values.has(name.toLowerCase());
  set = (name: string, value: string): void => void this.#values.set(name.toLowerCase(), value);
  delete = (name: string): void => void this.#values.delete(name.toLowerCase());
  append = (name: string, value: string): void => this.set(name, [this.get(name) ?? [], value].flat().join(', '));
  entries = (): IterableIterator<[string, string]> => this.#values.entries();
  [Symbol.iterator] = this.entries;
}

const isIterable = (list: HeaderList): list is Iterable<readonly [string, string]> => Symbol.iterator in list;

type LightBody = ArrayBuffer | AsyncIterable<Uint8Array> | Uint8Array | string | null;

/** The body of a request or of a response. */
class LightMessage {
  readonly headers: LightHeaders;
  bodyUsed = false;
  readonly #body: LightBody;

  constructor(body: LightBody, headers: HeaderList | undefined) {
    this.#body = body;
    this.headers = new LightHeaders(headers);
  }

  async #read(): Promise<Buffer> {
    const body = this.#body;
    this.bodyUsed = body !== null;
    if (body === null) return Buffer.alloc(0);
    if (typeof body === 'string') return Buffer.from(body);
    if (body instanceof ArrayBuffer) return Buffer.from(body);
    if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return readAtMost(body, MAX_RESPONSE_BYTES);
  }

  // The copy is the whole of its memory, which a buffer of Node is not.
  arrayBuffer = async (): Promise<ArrayBuffer> => new Uint8Array(await this.#read()).buffer;
  // The client of the service passes it on as a body only.
  blob = this.arrayBuffer;
  text = async (): Promise<string> => (await this.#read()).toString();
  json = async (): Promise<unknown> => JSON.parse(await this.text()) as unknown;
}

async function readAtMost(chunks: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > most) throw failedFetch(new Error(`the response has more than ${most} bytes`));
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

interface LightRequestInit {
  readonly method?: string;
  readonly headers?: HeaderList;
  readonly body?: LightBody;
  readonly signal?: AbortSignal;
}

export class LightRequest extends LightMessage {
  readonly url: string;
  readonly method: string;
  readonly signal: AbortSignal;

  constructor(input: LightRequest | URL | string, init: LightRequestInit = {}) {
    const base = input instanceof LightRequest ? input : undefined;
    super(init.body ?? null, init.headers ?? base?.headers);
    this.url = input instanceof LightRequest ? input.url : new URL(input).href;
    this.method = init.method ?? base?.method ?? 'GET';
    this.signal = init.signal ?? base?.signal ?? new AbortController().signal;
  }
}

interface LightResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeaderList;
}

export class LightResponse extends LightMessage {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly body: { cancel(): Promise<void> } | null = null;
  readonly url: string = '';
  readonly redirected = false;

  constructor(body: LightBody = null, { status = 200, statusText = '', headers }: LightResponseInit = {}) {
    super(body, headers);
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status < 300;
  }
}

/** Has no instances: the client asks whether a body is a form. */
abstract class LightFormData {
  abstract append(name: string, value: string): void;
}

/**
 * Sends a request.
 *
 * @throws TypeError as `fetch` does, with the reason in `cause`; the reason of its signal.
 */
export async function lightFetch(input: LightRequest | URL | string, init?: LightRequestInit): Promise<LightResponse> {
  const request = new LightRequest(input, init);
  const source = init?.body === undefined && input instanceof LightRequest ? input : request;
  try {
    const body = Buffer.from(await source.arrayBuffer());
    const message = await send(request, source.bodyUsed ? body : undefined);
    return await receive(message);
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    throw error instanceof TypeError ? error : failedFetch(error);
  }
}

const failedFetch = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });

async function send({ url, method, headers, signal }: LightRequest, body?: Buffer): Promise<IncomingMessage> {
  // TLS takes longer to load, and a service on this machine does not need it.
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const options = { method, signal, headers: { accept: '*/*', ...Object.fromEntries(headers) } };
    request(url, options, resolve).on('error', reject).end(body);
  });
}

async function receive(message: IncomingMessage): Promise<LightResponse> {
  const { statusCode = 0, statusMessage = '', rawHeaders } = message;
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
  const body = await readAtMost(message as AsyncIterable<Uint8Array>, MAX_RESPONSE_BYTES);
  const response = new LightResponse(body, { status: statusCode, statusText: statusMessage, headers: pairs });
  const target = response.headers.get('location');
  if (statusCode < 300 || statusCode > 399 || target === null) return response;
  throw failedFetch(new Error(`it redirects to ${target.slice(0, 200)}; use that address`));
}

/** Replaces the functions of the platform, in a process that runs one command. */
export function installLightFetch(): void {
  const parts = {
    fetch: lightFetch,
    Request: LightRequest,
    Response: LightResponse,
    Headers: LightHeaders,
    FormData: LightFormData,
  };
  // Getters of the platform, which would load its modules.
  for (const [name, value] of Object.entries(parts)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
}
