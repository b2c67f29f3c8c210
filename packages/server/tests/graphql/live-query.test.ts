import type { AddressInfo } from 'node:net';
import { buildSchema, type ExecutionResult, getOperationAST, parse } from 'graphql';
import { createGraphqlEndpoint } from '../../src/graphql/endpoint.js';
import { isLive, LiveQueries } from '../../src/graphql/event-stream.js';
import { createLog } from '../../src/http/request.js';
import { createHttpServer } from '../../src/http/server.js';

const schema = buildSchema('directive @live(if: Boolean = true) on QUERY  type Query { one: Int }');

describe('isLive', () => {
  test.each<[string, string, Readonly<Record<string, unknown>> | undefined, boolean]>([
    ['the directive', 'query @live { one }', undefined, true],
    ['no directive', 'query { one }', undefined, false],
    ['true', 'query @live(if: true) { one }', undefined, true],
    ['false', 'query @live(if: false) { one }', undefined, false],
    ['null', 'query @live(if: null) { one }', undefined, false],
    ['a variable', 'query ($on: Boolean!) @live(if: $on) { one }', { on: true }, true],
    ['a variable that is false', 'query ($on: Boolean!) @live(if: $on) { one }', { on: false }, false],
    ['the default of a variable', 'query ($on: Boolean = false) @live(if: $on) { one }', undefined, false],
    ['an absent variable', 'query ($on: Boolean) @live(if: $on) { one }', undefined, true],
    ['an invalid variable', 'query ($on: Boolean!) @live(if: $on) { one }', { on: 'yes' }, false],
  ])('reads %s', (_reason, text, variables, expected) => {
    expect(isLive(getOperationAST(parse(text))!, schema, variables)).toBe(expected);
  });

  test('is false for a schema without the directive', () => {
    const older = buildSchema('type Query { one: Int }');
    expect(isLive(getOperationAST(parse('query @live { one }'))!, older)).toBe(false);
  });
});

/** Changes that a test sends, of which those that were not read yet are merged. */
class Changes implements AsyncIterableIterator<null> {
  #pending = true;
  #isOver = false;
  #wake: () => void = () => undefined;

  send(): void {
    this.#pending = true;
    this.#wake();
  }

  async next(): Promise<IteratorResult<null, undefined>> {
    while (!this.#pending && !this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#pending = false;
    return this.#isOver ? { done: true, value: undefined } : { done: false, value: null };
  }

  return(): Promise<IteratorResult<null, undefined>> {
    this.#isOver = true;
    this.#wake();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

describe('LiveQueries', () => {
  const results = (value: number): ExecutionResult => ({ data: { one: value } });
  const start = (run: () => Promise<ExecutionResult>, queries = new LiveQueries()) => {
    const changes = new Changes();
    const state = { version: 1 };
    const stream = queries.follow({ run, getVersion: () => String(state.version), changes });
    return { changes, state, stream };
  };

  test('runs the query after changes of its data only', async () => {
    let runs = 0;
    const { changes, state, stream } = start(() => Promise.resolve(results((runs += 1))));
    expect((await stream.next()).value).toEqual(results(1));
    const second = stream.next();
    changes.send();
    await new Promise(setImmediate);
    expect(runs).toBe(1);
    state.version = 2;
    changes.send();
    expect((await second).value).toEqual(results(2));
  });

  test('runs again after a change during a run', async () => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let runs = 0;
    const { changes, state, stream } = start(async () => {
      const own = (runs += 1);
      if (own === 1) await finished;
      return results(own);
    });
    const first = stream.next();
    await new Promise(setImmediate);
    state.version = 2;
    changes.send();
    finish();
    expect((await first).value).toEqual(results(1));
    expect((await stream.next()).value).toEqual(results(2));
  });

  test('runs at most four queries at the same time after a change', async () => {
    const queries = new LiveQueries();
    const waiting: (() => void)[] = [];
    let isFirst = true;
    const run = async (): Promise<ExecutionResult> => {
      if (!isFirst) await new Promise<void>((resolve) => waiting.push(resolve));
      return results(1);
    };
    const followed = Array.from({ length: 6 }, () => start(run, queries));
    for (const { stream } of followed) await stream.next();
    isFirst = false;
    const after = followed.map(({ changes, state, stream }) => {
      state.version = 2;
      changes.send();
      return stream.next();
    });
    await new Promise(setImmediate);
    expect(waiting).toHaveLength(4);
    for (let index = 0; index < 6; index += 1) {
      while (waiting.length === 0) await new Promise(setImmediate);
      waiting.shift()?.();
    }
    for (const { value } of await Promise.all(after)) expect(value).toEqual(results(1));
  });

  test('ends while it waits for a change, and passes the error of a run', async () => {
    const { stream } = start(() => Promise.resolve(results(1)));
    await stream.next();
    const last = stream.next();
    await stream.return?.();
    expect(await last).toEqual({ done: true, value: undefined });
    const failing = start(() => Promise.reject(new Error('no disk')));
    await expect(failing.stream.next()).rejects.toThrow('no disk');
  });
});

test('a live query that takes too long or fails has an error, and continues after the next change', async () => {
  const changes = new Changes();
  const results = [() => new Promise<ExecutionResult>(() => undefined), () => Promise.reject(new Error('no disk'))];
  let version = 0;
  const endpoint = createGraphqlEndpoint({
    schema,
    introspection: true,
    limits: { values: 1000, workMs: 20_000, timeoutMs: 20 },
    createContext: () => ({}),
    execute: () => results[version]?.() ?? Promise.resolve({ data: { one: version } }),
    report: () => undefined,
    reuse: {
      getVersion: () => version,
      getGeneration: () => version,
      unchangedSince: () => version,
      repeatable: { rule: () => ({}), has: () => true, kindsOf: () => undefined },
      follow: () => changes,
      cacheControl: { kept: 'no-cache', other: 'no-cache' },
    },
    streams: { max: 10, setting: 'MAX_STREAMS', stopping: new AbortController().signal },
  });
  const server = createHttpServer((request, response) => endpoint(request, response, 'r-1'), {
    log: createLog({ level: 'silent' }),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const closing = new AbortController();
  try {
    const url = `http://127.0.0.1:${port}/graphql?query=${encodeURIComponent('query @live { one }')}`;
    const response = await fetch(url, { headers: { Accept: 'text/event-stream' }, signal: closing.signal });
    const events = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse((await events.read()).value!.split('data: ')[1]!) as unknown;
    expect(await next()).toMatchObject({ data: null, errors: [{ extensions: { code: 'unavailable' } }] });
    version += 1;
    changes.send();
    expect(await next()).toMatchObject({ data: null, errors: [{ extensions: { code: 'internal' } }] });
    version += 1;
    changes.send();
    expect(await next()).toEqual({ data: { one: 2 } });
  } finally {
    closing.abort();
    await new Promise((resolve) => server.close(resolve));
  }
});
