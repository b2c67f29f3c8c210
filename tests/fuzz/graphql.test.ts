import { fileURLToPath } from 'node:url';
import { startServer, type RunningServer } from '../running-server.js';
import { fuzzGraphql } from './graphql/fuzz-graphql.js';
import { DOCUMENTS, MODES, REQUESTS, RUN_TIMEOUT_MS, SEED } from './runs.js';

const SITE = fileURLToPath(new URL('../../examples/site', import.meta.url));

const UNLIMITED = ['rate', 'site-rate', 'image-rate'].flatMap((name) => [`--${name}-limit`, '1000000000']);

/** Time limits that no query reaches even on a busy machine. */
const PATIENT = ['--query-work-ms', '60000', '--query-timeout-ms', '120000'];

describe.each(MODES)('GraphQL in $mode mode', ({ mode, isProduction }) => {
  let server: RunningServer;
  beforeAll(async () => {
    const args = ['--services', 'site', '--site', SITE, '--watch', 'false', ...UNLIMITED, ...PATIENT];
    server = await startServer(args, isProduction ? { NODE_ENV: 'production' } : {});
  });
  afterAll(() => server.stop());

  test(
    `${DOCUMENTS} generated documents: every response matches the schema`,
    async () => {
      const { report, documentsPerSecond, valid, answered } = await fuzzGraphql(server.origin, DOCUMENTS);
      const command = `SEED=${SEED} FUZZ=${REQUESTS} npm test -- tests/fuzz/graphql.test.ts`;
      process.stdout.write(
        `GraphQL, ${mode}: ${command}\n  ${documentsPerSecond}/s, ${valid} valid, ${answered} with data\n`,
      );
      expect(report).toBe('');
      // A run with error responses only would prove little.
      expect(answered / DOCUMENTS).toBeGreaterThan(0.35);
    },
    RUN_TIMEOUT_MS,
  );

  test('the server logs no internal error', () => {
    expect(server.output()).not.toContain('"internal error"');
  });
});
