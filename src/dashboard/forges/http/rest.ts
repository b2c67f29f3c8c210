import { randomUUID } from 'node:crypto';
import { ForgeError } from '../forge-error.js';
import type { KeptAnswer } from './answers.js';
import { parseJson } from './exchange.js';
import type { ForgeAnswer } from './exchange.js';
import { requireSuccess } from './requests.js';
import type { Ask, Requests } from './requests.js';

export interface Rest {
  /** Gives an answer's JSON, from memory when the forge says that it is still so. */
  get(path: string): Promise<unknown>;
  /**
   * Reads pages on, up to the one with which there are as many items as said. The path has a query already. A page is
   * a list, or an object with the list within it, under the name given.
   */
  list<T>(path: string, most: number, within?: string): Promise<T[]>;
  /** Gives an answer that is plain text. */
  getText(path: string): Promise<string>;
  /** @returns The status. */
  send(method: string, path: string, body?: unknown): Promise<number>;
  /** Sends, and gives the JSON of the answer. */
  post(path: string, body?: unknown): Promise<unknown>;
}

interface Page extends KeptAnswer {
  readonly json: unknown;
}

/** A REST API below a URL. */
export function createRest({ ask, answers }: Pick<Requests, 'answers' | 'ask'>, baseUrl: string): Rest {
  // What one credential is answered is not for another.
  const own = randomUUID();

  function to<T>(method: string, path: string, read: Ask<T>['read']): Ask<T> {
    return { resource: 'rest', url: baseUrl + path, endpoint: path.replace(/\?.*$/s, ''), method, read };
  }

  /** Only what is JSON is kept. */
  async function readPage(path: string): Promise<Page> {
    const key = own + path;
    const known = answers.get(key);
    const read = (answer: ForgeAnswer): Page => {
      if (answer.status === 304 && known !== undefined) return { ...known, json: parseJson(known.text) };
      const { headers, text } = requireSuccess(answer);
      const hasNext = /;\s*rel="?next"?/.test(headers.get('link') ?? '');
      return { etag: headers.get('etag'), text, hasNext, json: parseJson(text) };
    };
    const headers = known?.etag ? { 'If-None-Match': known.etag } : undefined;
    const page = await ask({ ...to('GET', path, read), headers });
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
        if (hasNext && text === before) throw new ForgeError('unknown', { cause: new Error(`${path} repeats.`) });
        before = text;
        const page: unknown =
          within === undefined ? json : (json as Readonly<Record<string, unknown>> | null)?.[within];
        if (!Array.isArray(page)) throw new ForgeError('unknown', { cause: new Error(`${path} is no list.`) });
        // The caller knows what is in the list.
        items.push(...(page as T[]));
        if (!hasNext) break;
      }
      return items;
    },
    getText: (path) => ask(to('GET', path, (answer) => requireSuccess(answer).text)),
    send: (method, path, body) => ask({ ...to(method, path, (answer) => requireSuccess(answer).status), body }),
    post: (path, body) => ask({ ...to('POST', path, (answer) => parseJson(requireSuccess(answer).text)), body }),
  };
}
