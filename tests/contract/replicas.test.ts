/**
 * Several servers behind a round-robin proxy respond as one server does. The journeys here are the part for every run;
 * `npm run test:replicas` sends those of all operations through two and four servers.
 */
import path from 'node:path';
import { serverAudits } from 'graphql-http';
import { openDatabase } from '../../src/storage/open-database.js';
import { createDatabaseTarget } from '../storage/engine.js';
import { ORIGIN } from './contract-server.js';
import { authTests } from './dashboard/auth.js';
import { boardTests } from './dashboard/board.js';
import { openStage as openDashboardStage, type Stage as DashboardStage } from './dashboard/fixtures.js';
import { tokensTests } from './dashboard/tokens.js';
import { REPLICAS, startReplicas, type Replicas } from './replicas.js';
import { openStage as openSecretsStage, type Stage as SecretsStage } from './secrets/fixtures.js';
import { objectsTests } from './secrets/objects.js';
import { versionsTests } from './secrets/versions.js';

const SITE = path.join(import.meta.dirname, '../../examples/site');

const count = REPLICAS || 2;

describe('the journeys of the dashboard', () => {
  let stage: DashboardStage;
  beforeAll(async () => {
    stage = await openDashboardStage({ replicas: count, perMinute: 1_000_000 });
  });
  afterAll(() => stage.server.close());
  describe('Auth', () => authTests(() => stage));
  describe('Tokens', () => tokensTests(() => stage));
  describe('Board', () => boardTests(() => stage));

  test('the default rate limit applies to all servers together', async () => {
    const other = await openDashboardStage({ replicas: count, perMinute: 5 });
    const statuses = [];
    for (let turn = 0; turn < 8; turn += 1) {
      statuses.push((await other.client(other.admin).GET('/api/settings')).response.status);
    }
    await other.server.close();
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  });
});

describe('the journeys of the secrets', () => {
  let stage: SecretsStage;
  beforeAll(async () => {
    stage = await openSecretsStage({ replicas: count, perMinute: 1_000_000 });
  });
  afterAll(() => stage.server.close());
  describe('Objects', () => objectsTests(() => stage));
  describe('Versions', () => versionsTests(() => stage));
});

const IMAGES = `{
  pictures: allFile(filter: { extension: { in: ["jpg", "png", "webp"] } }, limit: 4, sort: { fields: relativePath }) {
    nodes {
      childImageProc {
        original { src width height }
        fixed(width: 60, toFormat: PNG) { src srcSet srcWebp base64 tracedSVG }
        fluid(maxWidth: 90, quality: 70, srcSetBreakpoints: [40, 90]) { src srcSet srcWebp originalImg base64 }
        resize(width: 50, height: 40, rotate: 90, grayscale: true) { src }
      }
    }
  }
  allFile(limit: 8, sort: { fields: relativePath }) { nodes { publicURL } }
}`;

/** Without ids, which derive from the path of a file, because the copies have different paths. */
const QUERIES = [
  '{ allFile(sort: { fields: relativePath }) { totalCount nodes { relativePath size mtime extension internal { type contentDigest } } } }',
  '{ allFile(filter: { extension: { in: ["md", "png"] } }) { group(field: extension) { fieldValue totalCount } } }',
  '{ allFile(filter: { name: { regex: "/a/" } }, limit: 5, skip: 2, sort: { fields: name }) { nodes { name } pageInfo { hasNextPage } } }',
  '{ allDirectory(sort: { fields: relativePath }) { distinct(field: name) nodes { relativePath children { internal { type } } } } }',
  '{ file(relativePath: { eq: "site.config.json" }) { publicURL parent { internal { type } } } }',
  '{ site { siteMetadata { title } } }',
  '{ allFile(limit: -1) { totalCount } }',
  '{ unknown }',
  '{ __schema { types { name } } }',
];

/** The site runs with separate copies of its files, so equal links mean equal contents. */
describe('a site', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    const place = await createDatabaseTarget();
    await (await openDatabase(place)).destroy();
    replicas = await startReplicas({
      ...{ count, databaseUrl: 'url' in place ? place.url : '', key: 'k'.repeat(43), version: '1.2.3', site: SITE },
      flags: { logLevel: 'silent', watch: 'false', services: 'site,dashboard', rateLimit: '0', publicUrl: ORIGIN },
    });
  });
  afterAll(() => replicas.close());

  const toPost = (query: string): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });

  /** Returns everything of a response except what differs from request to request. */
  async function send(origin: string, target: string, init?: RequestInit) {
    const response = await fetch(origin + target, { redirect: 'manual', ...init });
    const varying = ['date', 'x-request-id', 'connection', 'keep-alive'];
    // The length of compressed bytes depends on the request id in them.
    if (response.headers.has('content-encoding')) varying.push('content-length');
    const headers = [...response.headers].filter(([name]) => !varying.includes(name));
    const body = Buffer.from(await response.arrayBuffer())
      .toString('latin1')
      .replace(/"requestId":"[^"]+"/gu, '"requestId":""');
    return { target, init, status: response.status, headers, body };
  }

  /** Sends a request to one server alone, and then to every server through the proxy. */
  async function expectEqual(target: string, init?: RequestInit) {
    const alone = await send(`http://127.0.0.1:${replicas.ports[0]}`, target, init);
    for (let turn = 0; turn < count; turn += 1) expect(await send(replicas.url, target, init)).toEqual(alone);
    return alone;
  }

  test.each(QUERIES)('responds to %s as one server', async (query) => {
    const { status } = await expectEqual('/graphql', toPost(query));
    expect([200, 400]).toContain(status);
    await expectEqual(`/graphql?query=${encodeURIComponent(query)}`);
  });

  test('responds to every link of images and files as one server, also to parts and conditions', async () => {
    const alone = await expectEqual('/graphql', toPost(IMAGES));
    const links = [...new Set(alone.body.match(/\/static\/[^\s",\\]+/gu))];
    expect(links.length).toBeGreaterThan(20);
    for (const link of links) {
      // The server that has made the link is not the first one that is asked for the file.
      await send(replicas.url, link);
      const { status, headers } = await expectEqual(link);
      expect([link, status]).toEqual([link, 200]);
      const etag = new Map(headers).get('etag') ?? '';
      // By default, fetch adds "no-cache" to a condition.
      const condition = { headers: { 'if-none-match': etag }, cache: 'force-cache' } as const;
      expect((await expectEqual(link, condition)).status).toBe(304);
      expect((await expectEqual(link, { headers: { range: 'bytes=2-9' } })).status).toBe(206);
      await expectEqual(link, { method: 'HEAD' });
      expect((await expectEqual(link.replace(/(?<=[0-9a-f]{8})[0-9a-f](?=[0-9a-f]{8})/u, 'g'))).status).not.toBe(200);
    }
  });

  test.each(['/', '/site', '/docs', '/sign-in', '/graphql', '/api/openapi.json', '/api/version', '/nothing', '/api/x'])(
    'responds to %s as one server',
    async (target) => void (await expectEqual(target)),
  );

  const audits = serverAudits({ url: () => `${replicas.url}/graphql` });
  test.each(audits.map((audit) => [audit.name, audit] as const))('passes the audit: %s', async (_name, audit) => {
    await expect(audit.fn()).resolves.toMatchObject({ status: 'ok' });
  });

  test('sends the requests to the servers in turns', () => {
    const [least, most] = [Math.min(...replicas.counts), Math.max(...replicas.counts)];
    expect(least).toBeGreaterThan(100);
    expect(most - least).toBeLessThan(2);
  });
});
