import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, type RunningServer } from '../running-server.js';
import { listMaliciousPatterns } from './malicious-patterns.js';
import { MALICIOUS_QUERY_FAMILIES, listMaliciousQueries } from './malicious-queries.js';

const FILES = 3000;
const FOLDERS = 100;

/** On an idle machine nothing takes a second. Unbounded work would take hours on any machine. */
const MAX_MS = 30_000;

/** The pause between ordinary queries: short compared with an expensive query, so that one falls into each. */
const PAUSE_MS = 40;

/** The codes of invalid and too expensive requests; `internal` is not among them. */
const ERROR_CODES = ['invalid_input', 'malformed_body', 'too_large', 'unavailable'];

const ORDINARY = '{ allFile(filter: { extension: { eq: "md" } }, sort: { fields: [name] }, limit: 5) { totalCount } }';

let folder: string;
let server: RunningServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-malicious-'));
  for (let index = 0; index < FOLDERS; index += 1) await mkdir(join(folder, `folder-${index}`));
  for (let index = 0; index < FILES; index += 1) {
    const name = `${'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.slice(index % 32)}-${index}.${index % 3 ? 'md' : 'json'}`;
    await writeFile(join(folder, `folder-${index % FOLDERS}`, name), '');
  }
  server = await startServer(['--site', folder]);
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

interface Reply {
  readonly status: number;
  readonly milliseconds: number;
  readonly body: { data?: unknown; errors?: { message: string; extensions: { code: string } }[] };
}

async function send(body: object): Promise<Reply> {
  const startedAt = performance.now();
  const response = await fetch(`${server.origin}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const milliseconds = performance.now() - startedAt;
  return { status: response.status, milliseconds, body: JSON.parse(text) as Reply['body'] };
}

/** Repeats an ordinary query until it is stopped, and returns the duration of each. */
function repeatOrdinaryQuery(): { stop(): Promise<readonly number[]> } {
  const times: number[] = [];
  const over = new AbortController();
  const repeating = (async () => {
    while (!over.signal.aborted) {
      const { milliseconds, body } = await send({ query: ORDINARY });
      expect(body).toEqual({ data: { allFile: { totalCount: (FILES * 2) / 3 } } });
      times.push(milliseconds);
      await sleep(PAUSE_MS);
    }
  })();
  return {
    async stop() {
      over.abort();
      await repeating;
      return times;
    },
  };
}

test('there are 200 malicious queries', () => {
  expect(listMaliciousQueries()).toHaveLength(200);
});

test.each(MALICIOUS_QUERY_FAMILIES.map(({ tries }) => tries))(
  '%s: get a result or an error in time, while ordinary queries continue',
  async (tries) => {
    const ordinary = repeatOrdinaryQuery();
    for (const { query, variables } of listMaliciousQueries().filter((one) => one.tries === tries)) {
      const { status, milliseconds, body } = await send({ query, variables });
      expect(milliseconds).toBeLessThan(MAX_MS);
      // A busy machine may exceed the time limit of a query.
      if (status !== 503) expect(status).toBeLessThan(500);
      if (body.errors) expect(ERROR_CODES).toContain(body.errors[0]?.extensions.code);
      else expect(body.data).toBeTruthy();
      for (const { message } of body.errors ?? []) expect(message).toMatch(/\S/);
    }
    const waits = await ordinary.stop();
    expect(waits.length).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBeLessThan(MAX_MS);
  },
);

/** `PATTERNS=2000 npm test -- malicious` sends more of them. */
const PATTERNS = Number(process.env.PATTERNS ?? 60);

test('slow patterns: get a result or an error in time, while ordinary queries continue', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `folder-${index}/aaaaaaaaaaaaaaaaaaaa-${index}.md`);
  const ordinary = repeatOrdinaryQuery();
  for (const { operator, pattern } of listMaliciousPatterns(PATTERNS, names)) {
    const { status, milliseconds, body } = await send({
      query: 'query ($filter: FileFilterInput) { allFile(filter: $filter) { totalCount nodes { id } } }',
      variables: { filter: { relativePath: { [operator]: pattern } } },
    });
    expect(milliseconds).toBeLessThan(MAX_MS);
    if (status !== 503) expect([pattern, status]).toEqual([pattern, 200]);
    if (body.errors) expect(ERROR_CODES).toContain(body.errors[0]?.extensions.code);
    else expect(body.data).toHaveProperty('allFile.totalCount');
  }
  const waits = await ordinary.stop();
  expect(waits.length).toBeGreaterThan(0);
  expect(Math.max(...waits)).toBeLessThan(MAX_MS);
});

test('malicious queries cause no internal error', () => {
  expect(server.output()).not.toContain('internal error');
});
