import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFromTool } from '../../../tools/install.js';
import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';
import { eventually } from '../../eventually.js';
import { type RunningServer, startServer } from '../../running-server.js';

interface Change {
  readonly revision: number;
  readonly kinds: readonly string[];
  readonly ids: readonly string[];
  readonly isTruncated: boolean;
}

interface Result<Data = { readonly siteChanged: Change }> {
  readonly data?: Data;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

/** The part of the client of graphql-sse that is used here. */
interface Client {
  iterate<Data = { readonly siteChanged: Change }>(request: {
    readonly query: string;
    readonly variables?: Readonly<Record<string, unknown>>;
  }): AsyncIterableIterator<Result<Data>>;
  dispose(): void;
}

interface ClientOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAttempts?: number;
  readonly retry?: () => Promise<void>;
}

const QUERY = 'subscription { siteChanged { revision kinds ids isTruncated } }';

let folder: string;
let site: string;
let close: (() => Promise<unknown>) | undefined;
const clients: Client[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-changes-'));
  site = join(folder, 'site');
  await mkdir(site);
  await writeFile(join(site, 'one.md'), 'one');
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.dispose();
  await close?.();
  close = undefined;
  await rm(folder, { recursive: true });
});

async function start(flags: Readonly<Record<string, string>> = {}): Promise<TrellisServer> {
  const server = await serveTrellis({ flags: { services: 'site', site, ...flags } });
  close = () => server.close();
  return server;
}

async function connect(options: ClientOptions): Promise<Client> {
  const { createClient } = (await importFromTool('tools/witnesses', 'graphql-sse')) as {
    createClient: (options: ClientOptions) => Client;
  };
  const client = createClient({ retryAttempts: 0, ...options, url: `${options.url}/graphql` });
  clients.push(client);
  return client;
}

async function next(events: AsyncIterator<Result>): Promise<Change> {
  const { value } = (await events.next()) as IteratorYieldResult<Result>;
  if (value.data) return value.data.siteChanged;
  throw new Error(JSON.stringify(value));
}

/** Reads events until one satisfies the condition. */
async function nextWhere(events: AsyncIterator<Result>, isMeant: (change: Change) => boolean): Promise<Change> {
  for (;;) {
    const change = await next(events);
    if (isMeant(change)) return change;
  }
}

const TWO = '{ file(name: { eq: "two" }) { id } }';

async function ask(url: string, query: string): Promise<{ readonly file: { readonly id: string } | null }> {
  const response = await fetch(`${url}/graphql?query=${encodeURIComponent(query)}`);
  return ((await response.json()) as { data: { file: { id: string } | null } }).data;
}

test('the client of graphql-sse receives the current revision, and then the changes that queries see', async () => {
  const { url } = await start();
  const events = (await connect({ url })).iterate({ query: QUERY });
  const first = await next(events);
  expect(first).toEqual({ revision: expect.any(Number) as number, kinds: [], ids: [], isTruncated: false });
  await writeFile(join(site, 'two.md'), 'two');
  const added = await nextWhere(events, ({ kinds }) => kinds.includes('File'));
  expect(added.revision).toBeGreaterThan(first.revision);
  const { file } = await ask(url, TWO);
  expect(added.ids).toContain(file?.id);
  await rm(join(site, 'two.md'));
  const deleted = await nextWhere(events, ({ ids }) => ids.includes(String(file?.id)));
  expect(deleted.revision).toBeGreaterThan(added.revision);
  expect(await ask(url, TWO)).toEqual({ file: null });
});

test('a query runs as a stream with one result, and an invalid document is an error in the stream', async () => {
  const { url } = await start();
  const client = await connect({ url });
  const read = async (query: string): Promise<readonly Result[]> => {
    const results: Result[] = [];
    for await (const result of client.iterate({ query })) results.push(result);
    return results;
  };
  expect(await read('{ allFile { totalCount } }')).toEqual([{ data: { allFile: { totalCount: 1 } } }]);
  expect(await read('subscription { siteChanged { unknown } }')).toEqual([
    { errors: [expect.objectContaining({ message: expect.stringContaining('"unknown"') as string })] },
  ]);
});

test('a subscription needs a client that accepts events', async () => {
  const { url } = await start();
  const response = await fetch(`${url}/graphql?query=${encodeURIComponent(QUERY)}`, {
    headers: { Accept: 'application/json' },
  });
  expect([response.status, await response.json()]).toEqual([
    406,
    { errors: [expect.objectContaining({ message: expect.stringContaining('text/event-stream') as string })] },
  ]);
});

describe('a live query', () => {
  interface Names {
    readonly allFile: { readonly nodes: readonly { readonly name: string }[] };
  }
  const LIVE = `query ($live: Boolean = true) @live(if: $live) {
    allFile(filter: { extension: { eq: "md" } }, sort: { fields: [name] }) { nodes { name } }
  }`;
  const named = (...names: readonly string[]) => ({ data: { allFile: { nodes: names.map((name) => ({ name })) } } });

  test('sends its result, and then each result that a change has altered', async () => {
    const { url } = await start();
    const client = await connect({ url });
    const changes = client.iterate({ query: QUERY });
    await next(changes);
    const results = client.iterate<Names>({ query: LIVE });
    expect((await results.next()).value).toEqual(named('one'));
    await writeFile(join(site, 'other.txt'), 'has no effect on the result');
    await nextWhere(changes, ({ kinds }) => kinds.includes('File'));
    await writeFile(join(site, 'two.md'), 'two');
    expect((await results.next()).value).toEqual(named('one', 'two'));
    await rm(join(site, 'one.md'));
    expect((await results.next()).value).toEqual(named('two'));
  });

  test('runs once where its directive is switched off', async () => {
    const { url } = await start();
    const results: unknown[] = [];
    const request = { query: LIVE, variables: { live: false } };
    for await (const result of (await connect({ url })).iterate(request)) results.push(result);
    expect(results).toEqual([named('one')]);
  });

  test('needs a client that accepts events, and the schema has its directive', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/graphql?query=${encodeURIComponent(LIVE)}`);
    expect([response.status, await response.text()]).toEqual([
      406,
      expect.stringContaining('Expected Accept to include text/event-stream for live queries. Without @live') as string,
    ]);
    const directives = '{ __schema { directives { name locations args { name defaultValue } } } }';
    expect(await ask(url, directives)).toMatchObject({
      __schema: {
        directives: expect.arrayContaining([
          { name: 'live', locations: ['QUERY'], args: [{ name: 'if', defaultValue: 'true' }] },
        ]) as unknown,
      },
    });
  });
});

test('subscriptions beyond the limit of an address are refused until one is closed', async () => {
  const { url } = await start({ siteStreams: '10' });
  const open = new AbortController();
  const subscribe = (signal?: AbortSignal) =>
    fetch(`${url}/graphql?query=${encodeURIComponent(QUERY)}`, { headers: { Accept: 'text/event-stream' }, signal });
  const first = await subscribe(open.signal);
  expect(first.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const second = await subscribe();
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await second.text()).toContain('TRELLIS_SITE_STREAMS');
  open.abort();
  await eventually(async () => {
    const third = await subscribe();
    await third.body?.cancel();
    expect(third.status).toBe(200);
  });
});

test('the addresses of one IPv6 network count as one', async () => {
  const { url } = await start({ siteStreams: '20', trustProxy: '1' });
  const open = new AbortController();
  const subscribe = async (address: string): Promise<number> => {
    const headers = { Accept: 'text/event-stream', 'X-Forwarded-For': address };
    const response = await fetch(`${url}/graphql?query=${encodeURIComponent(QUERY)}`, { headers, signal: open.signal });
    return response.status;
  };
  const statuses = [];
  for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1']) {
    statuses.push(await subscribe(address));
  }
  open.abort();
  expect(statuses).toEqual([200, 200, 503, 200]);
});

test('a site that requires a token sends changes to callers with it only', async () => {
  const token = 'a'.repeat(32);
  const { url } = await start({ siteAccess: 'token', siteToken: token });
  const headers = { Authorization: `Bearer ${token}` };
  expect(await next((await connect({ url, headers })).iterate({ query: QUERY }))).toMatchObject({ ids: [] });
  await expect(next((await connect({ url })).iterate({ query: QUERY }))).rejects.toThrow('401');
});

describe('a server of its own process', () => {
  const startProcess = async (args: readonly string[]): Promise<RunningServer> => {
    const server = await startServer([...args, '--services', 'site', '--site', site, '--state', join(folder, 'state')]);
    close = () => server.stop();
    return server;
  };

  test('ends streams when it stops, and the client connects to the next one', async () => {
    const first = await startProcess([]);
    const { port } = new URL(first.origin);
    let reconnect!: () => void;
    const restarted = new Promise<void>((resolve) => (reconnect = resolve));
    const client = await connect({ url: first.origin, retryAttempts: 1, retry: () => restarted });
    const events = client.iterate({ query: QUERY });
    const { revision } = await next(events);
    const following = next(events);
    await first.stop();
    await writeFile(join(site, 'two.md'), 'two');
    await startProcess(['--port', port]);
    reconnect();
    // The client missed the change, and sees by the revision that it did.
    expect((await following).revision).toBeGreaterThan(revision);
  });

  test('sends the changes, and the results of live queries, from each of its workers', async () => {
    const { origin } = await startProcess(['--workers', '2']);
    const streams = await Promise.all(
      Array.from({ length: 4 }, async () => (await connect({ url: origin })).iterate({ query: QUERY })),
    );
    await Promise.all(streams.map((events) => next(events)));
    const live = await Promise.all(
      streams.map(async () => {
        const results = (await connect({ url: origin })).iterate({ query: TWO.replace('{', 'query @live {') });
        expect((await results.next()).value).toEqual({ data: { file: null } });
        return results;
      }),
    );
    await writeFile(join(site, 'two.md'), 'two');
    const changes = await Promise.all(
      streams.map((events) => nextWhere(events, ({ kinds }) => kinds.includes('File'))),
    );
    expect(new Set(changes.map(({ revision }) => revision)).size).toBe(1);
    const { file } = await ask(origin, TWO);
    for (const { ids } of changes) expect(ids).toContain(file?.id);
    for (const results of live) expect((await results.next()).value).toEqual({ data: { file } });
  });
});
