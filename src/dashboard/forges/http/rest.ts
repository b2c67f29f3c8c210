import { randomUUID } from 'node:crypto';
import { ForgeError } from '../forge-error.js';
import { type ForgeResponse, parseForgeJson } from './fetch-response.js';
import { assertSuccess, type CachedResponse, type ForgeRequest, type ForgeRequests } from './requests.js';

export interface RestClient {
  /** Returns the JSON of a resource; reads it from the cache when the forge responds with 304. */
  get(path: string): Promise<unknown>;
  /**
   * Reads the pages of a list, until there are `most` items; the last page may exceed them. The path must have a query.
   * A page is a list, or an object with the list in its property `within`.
   */
  list<T>(path: string, most: number, within?: string): Promise<T[]>;
  /** Returns a resource that is plain text. */
  getText(path: string): Promise<string>;
  /** Sends a request. @returns The status of the response. */
  send(method: string, path: string, body?: unknown): Promise<number>;
  /** Sends a POST request and returns the JSON of the response. */
  post(path: string, body?: unknown): Promise<unknown>;
}

interface Page extends CachedResponse {
  readonly json: unknown;
}

/** Creates a client for the REST API below a URL. */
export function createRestClient(
  { ask, answers }: Pick<ForgeRequests, 'answers' | 'ask'>,
  baseUrl: string,
): RestClient {
  // Part of the cache keys, as responses depend on the credential.
  const cachePrefix = randomUUID();

  function toRequest<T>(method: string, path: string, read: ForgeRequest<T>['read']): ForgeRequest<T> {
    return { resource: 'rest', url: baseUrl + path, endpoint: path.replace(/\?.*$/s, ''), method, read };
  }

  /** Caches only responses that are valid JSON. */
  async function readPage(path: string): Promise<Page> {
    const key = cachePrefix + path;
    const known = answers.get(key);
    const read = (response: ForgeResponse): Page => {
      if (response.status === 304 && known !== undefined) return { ...known, json: parseForgeJson(known.text) };
      const { headers, text } = assertSuccess(response);
      const hasNext = /;\s*rel="?next"?/.test(headers.get('link') ?? '');
      return { etag: headers.get('etag'), text, hasNext, json: parseForgeJson(text) };
    };
    const headers = known?.etag ? { 'If-None-Match': known.etag } : undefined;
    const page = await ask({ ...toRequest('GET', path, read), headers });
    const { etag, text, hasNext } = page;
    if (etag !== null) answers.set(key, { etag, text, hasNext });
    return page;
  }

  return {
    get: async (path) => (await readPage(path)).json,
    async list<T>(path: string, most: number, within?: string) {
      const items: T[] = [];
      let before = '';
      for (let number = 1; items.length < most; number += 1) {
        const { text, hasNext, json } = await readPage(`${path}&page=${number}`);
        if (hasNext && text === before)
          throw new ForgeError('unknown', { cause: new Error(`A page of ${path} repeats.`) });
        before = text;
        const page: unknown =
          within === undefined ? json : (json as Readonly<Record<string, unknown>> | null)?.[within];
        if (!Array.isArray(page)) throw new ForgeError('unknown', { cause: new Error(`${path} is not a list.`) });
        // The caller chooses the type of the items; they are validated later.
        items.push(...(page as T[]));
        if (!hasNext) break;
      }
      return items;
    },
    getText: (path) => ask(toRequest('GET', path, (response) => assertSuccess(response).text)),
    send: (method, path, body) =>
      ask({ ...toRequest(method, path, (response) => assertSuccess(response).status), body }),
    post: (path, body) =>
      ask({ ...toRequest('POST', path, (response) => parseForgeJson(assertSuccess(response).text)), body }),
  };
}
