import { serverAudits } from 'graphql-http';
import { type RunningServer, startServer } from '../../running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const audits = serverAudits({ url: () => `${server.origin}/graphql` });

test('graphql-http has all audits of GraphQL over HTTP', () => {
  const levels = audits.map(({ name }) => /^(MUST|SHOULD|MAY)/.exec(name)?.[0]);
  expect({
    MUST: levels.filter((level) => level === 'MUST').length,
    SHOULD: levels.filter((level) => level === 'SHOULD').length,
    MAY: levels.filter((level) => level === 'MAY').length,
  }).toEqual({ MUST: 13, SHOULD: 23, MAY: 25 });
});

test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s: %s', async (_id, _name, audit) => {
  await expect(audit.fn()).resolves.toMatchObject({ status: 'ok' });
});
