/** Complete responses of queries, kept in the bytes in which they are sent. */
import { LRUCache } from 'lru-cache';
import { type ContentEncoding, MIN_COMPRESSED_BYTES, Payload, toEtag } from '../http/payload.js';
import type { GraphqlMediaType, UnparsedRequest } from './request.js';

/** The responses of some thousand pages of a site. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A larger response takes longer to write than to look up, and would evict many small ones. */
const MAX_ENTRY_BYTES = 2 * 1024 * 1024;

/** Long enough for a filter with some hundred values. */
const MAX_KEY_CHARACTERS = 16 * 1024;

/** The number of latest requests by which repeated ones are recognised. */
const LATEST_REQUESTS = 8192;

/** Node writes a short text together with the headers, in half the time of separate buffers. */
const SHORT_BYTES = 16 * 1024;

/** A response in one encoding. */
export interface EncodedResponse {
  /** Names and values in turns, as `writeHead` takes them. */
  readonly headers: readonly string[];
  /** Short bytes as text in latin1. */
  readonly body: Buffer | string;
}

interface ResponseOptions {
  readonly type: GraphqlMediaType;
  /** The name of the operation in its document. Keeping the operation itself would keep all of the document. */
  readonly operationName: string | undefined;
  /** The value of `Cache-Control`. */
  readonly cacheControl: string;
  /** Whether the response has an ETag, as that to a GET does. */
  readonly hasEtag: boolean;
}

/** A response without errors. */
export class QueryResponse {
  readonly operationName: string | undefined;
  readonly length: number;
  /** The ETag; `undefined` for a response to a POST. */
  readonly etag: string | undefined;
  readonly #options: ResponseOptions;
  readonly #plain: EncodedResponse;
  /** The source of the compressed forms, made for the first of them. */
  #payload: Payload | undefined;
  readonly #compressed = new Map<ContentEncoding, EncodedResponse>();

  constructor(text: string, options: ResponseOptions) {
    this.#options = options;
    this.operationName = options.operationName;
    this.length = Buffer.byteLength(text);
    // The same text has a different ETag for each media type, as these are different representations.
    this.etag = options.hasEtag ? toEtag(`${options.type} ${text}`) : undefined;
    // Text in ASCII is the same in latin1, and needs no copy.
    const isShortAscii = text.length === this.length && this.length <= SHORT_BYTES;
    this.#plain = this.#toEncoded(isShortAscii ? text : toBody(Buffer.from(text)));
  }

  get isCompressible(): boolean {
    return this.length >= MIN_COMPRESSED_BYTES;
  }

  /** Returns the response in an encoding, or a promise if it has not been compressed before. */
  encode(encoding: ContentEncoding | undefined): EncodedResponse | Promise<EncodedResponse> {
    return encoding === undefined ? this.#plain : (this.#compressed.get(encoding) ?? this.#compress(encoding));
  }

  async #compress(encoding: ContentEncoding): Promise<EncodedResponse> {
    const { body } = this.#plain;
    this.#payload ??= new Payload(typeof body === 'string' ? Buffer.from(body, 'latin1') : body);
    const encoded = this.#toEncoded(toBody(await this.#payload.compressed(encoding)), encoding);
    this.#compressed.set(encoding, encoded);
    return encoded;
  }

  #toEncoded(body: Buffer | string, encoding?: ContentEncoding): EncodedResponse {
    return { headers: this.#headersOf(encoding, body.length), body };
  }

  /** Returns the headers of a 304, which are those of the response apart from the ones that describe its body. */
  notModifiedHeaders(encoding: ContentEncoding | undefined): readonly string[] {
    return this.#headersOf(encoding, undefined);
  }

  #headersOf(encoding: ContentEncoding | undefined, length: number | undefined): readonly string[] {
    const { etag } = this;
    const { type, cacheControl } = this.#options;
    return [
      ...(length === undefined ? [] : ['Content-Type', `${type}; charset=utf-8`, 'Content-Length', String(length)]),
      // Compressed bytes differ from the text, so their ETag is weak (RFC 9110, 8.8.3.3).
      ...(etag === undefined ? [] : ['ETag', encoding === undefined ? etag : `W/${etag}`]),
      ...(encoding === undefined || length === undefined ? [] : ['Content-Encoding', encoding]),
      ...['Vary', 'Accept, Accept-Encoding', 'Cache-Control', cacheControl],
      ...(length === undefined ? [] : ['X-Content-Type-Options', 'nosniff']),
    ];
  }
}

const toBody = (bytes: Buffer): Buffer | string => (bytes.length > SHORT_BYTES ? bytes : bytes.toString('latin1'));

/** What determines the response to a request. */
export interface ResponseKey extends UnparsedRequest {
  readonly type: GraphqlMediaType;
}

/** What responses depend on. */
export interface DataVersions {
  /** Returns a number that changes with everything that all responses depend on. */
  readonly getVersion: () => number;
  /** Returns the generation of the data, which increases with each change of a part of it. */
  readonly getGeneration: () => number;
  /** Returns the generation since which these parts of the data have not changed; without names, all of it. */
  readonly unchangedSince: (parts: readonly string[] | undefined) => number;
}

/** The state of the data when the execution of a query began. */
interface DataState {
  readonly version: number;
  readonly generation: number;
}

/** The origin of a response. */
interface ResponseOrigin {
  readonly state: DataState;
  /** Returns the parts of the data; `undefined` for any. */
  readonly listParts: () => readonly string[] | undefined;
}

interface Kept {
  readonly response: QueryResponse;
  /** The parts of the data that the response was made from; `undefined` for any. */
  readonly parts: readonly string[] | undefined;
  readonly generation: number;
  /** The latest generation for which the response is known to be valid. */
  validIn: number;
}

/**
 * Responses to repeated requests by their text, as long as the data that they were made from stays the same. Keeping
 * the response to a request that is sent once would take processor time, and displace others.
 */
export class ResponseCache {
  readonly #responses = new LRUCache<string, Kept>({ maxSize: MAX_BYTES, maxEntrySize: MAX_ENTRY_BYTES });
  /** The hashes of the latest requests, each at the place of its last bits. */
  readonly #latest = new Int32Array(LATEST_REQUESTS);
  readonly #data: DataVersions;
  #version: number;

  constructor(data: DataVersions) {
    this.#data = data;
    this.#version = data.getVersion();
  }

  /** The current state of the data. */
  get state(): DataState {
    return { version: this.#data.getVersion(), generation: this.#data.getGeneration() };
  }

  find(request: ResponseKey): QueryResponse | undefined {
    this.#clearIfChanged();
    const key = toKey(request);
    const kept = this.#responses.get(key);
    if (!kept) return undefined;
    const generation = this.#data.getGeneration();
    if (kept.validIn !== generation) {
      if (this.#data.unchangedSince(kept.parts) > kept.generation) {
        this.#responses.delete(key);
        return undefined;
      }
      kept.validIn = generation;
    }
    return kept.response;
  }

  /**
   * Keeps a response to a repeated request that was made from a state of the data, unless its parts of the data have
   * changed since.
   */
  keep(request: ResponseKey, response: QueryResponse, { listParts, state }: ResponseOrigin): void {
    this.#clearIfChanged();
    const key = toKey(request);
    const { version, generation } = state;
    if (version !== this.#version || key.length > MAX_KEY_CHARACTERS || !this.#isRepeated(key)) return;
    const parts = listParts();
    if (this.#data.unchangedSince(parts) > generation) return;
    // The compressed forms together are smaller than the text.
    const size = key.length + 2 * response.length + 1000;
    this.#responses.set(key, { response, parts, generation, validIn: generation }, { size });
  }

  /** Returns whether a request is among the latest ones, and counts it. */
  #isRepeated(key: string): boolean {
    const hash = hashOf(key);
    const place = (hash >>> 0) % LATEST_REQUESTS;
    const isRepeated = this.#latest[place] === hash;
    this.#latest[place] = hash;
    return isRepeated;
  }

  #clearIfChanged(): void {
    const version = this.#data.getVersion();
    if (version === this.#version) return;
    this.#responses.clear();
    this.#version = version;
  }
}

/**
 * Returns the key of a response. The most frequent one is the URL itself, which begins with a slash as no other does,
 * because joining texts would copy them with each request.
 */
function toKey({ method, text, type }: ResponseKey): string {
  if (method === 'GET' && type === 'application/json' && text.startsWith('/')) return text;
  return `${method}${type === 'application/json' ? '' : ' response'} ${text}`;
}

/** Returns a hash of 32 bits. */
function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash;
}
