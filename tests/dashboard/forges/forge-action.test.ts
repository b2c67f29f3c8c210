import { FORGE_NAMES, FORGES, type OpenAnyForge, type TestRepository } from './forges.js';

let opened: OpenAnyForge;
let repository: TestRepository;
afterEach(() => opened.server.close());

const target = { fullName: 'acme/shop', number: 1 };

describe.each(FORGE_NAMES)('act at %s', (name) => {
  beforeEach(async () => {
    opened = await FORGES[name]();
    repository = opened.add('acme/shop', { pulls: 1 });
  });

  test('performs the action with one request', async () => {
    await expect(opened.forge.act(target, 'merge')).resolves.toBe('done');
    expect([repository.isMerged(), opened.writes()]).toEqual([true, 1]);
  });

  test.each([
    ['merged', 'already_merged'],
    ['closed', 'already_closed'],
  ] as const)('sends nothing for a pull request that has been %s', async (how, refusal) => {
    repository.end(how);
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind: 'conflict', refusal });
    expect(opened.writes()).toBe(0);
  });

  test('reports a merge by another client between reading and acting', async () => {
    const mergeFirst = () => {
      repository.end('merged');
      return undefined;
    };
    opened.server.failNext(mergeFirst, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ refusal: 'already_merged' });
  });

  test("merges only the caller's head commit", async () => {
    const refused = opened.forge.act({ ...target, headSha: 'e'.repeat(40) }, 'merge');
    await expect(refused).rejects.toMatchObject({ kind: 'conflict' });
    expect(repository.isMerged()).toBe(false);
  });

  test.each<[string, number, string, string]>([
    ['a missing permission', 403, 'unauthorized', 'permission'],
    ['a rate limit', 429, 'rate_limited', 'rate_limited'],
    ['an outage', 502, 'unreachable', 'unknown'],
  ])('does not retry after an error: %s', async (_reason, status, kind, refusal) => {
    opened.server.failNext({ status, body: { message: 'No.' } }, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal });
    expect(opened.writes()).toBe(1);
  });

  test.each<[string, Parameters<OpenAnyForge['server']['failNext']>[0], string]>([
    ['a closed connection', () => 'reset', 'unreachable'],
    ['a gateway error', { status: 502, body: {} }, 'unreachable'],
    ['an HTML page', { body: '<html></html>' }, 'unknown'],
    ['a null body', { body: null }, 'unknown'],
    ['an expired credential', { status: 401, body: {} }, 'unauthorized'],
  ])('sends nothing and sets no refusal if the pull request cannot be read: %s', async (_reason, fault, kind) => {
    opened.server.failNext(fault);
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal: undefined });
    expect(opened.writes()).toBe(0);
  });

  test.each<[string, 'reset' | { status: number }, string]>([
    ['a lost response', 'reset', 'unreachable'],
    ['a gateway timeout', { status: 504 }, 'unreachable'],
    ['an unexpected status', { status: 400 }, 'unknown'],
  ])('sets the refusal "unknown" if the outcome is unknown: %s', async (_what, instead, kind) => {
    const mergeWithoutResponse = () => {
      repository.end('merged');
      return instead;
    };
    opened.server.failNext(mergeWithoutResponse, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal: 'unknown' });
    expect([repository.isMerged(), opened.writes()]).toEqual([true, 1]);
  });

  test('sets the refusal "unknown" if reading the state after a rejection fails', async () => {
    const { server } = opened;
    const refuseAndFail = () => {
      server.failNext({ status: 500, body: {} });
      return { status: 409, body: {} };
    };
    server.failNext(refuseAndFail, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind: 'conflict', refusal: 'unknown' });
  });

  test('throws not_found for a missing pull request, also when reading checks', async () => {
    await expect(opened.forge.act({ ...target, number: 2 }, 'close')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(opened.forge.checks({ ...target, number: 2 })).rejects.toMatchObject({ kind: 'not_found' });
  });
});
