import { FORGE_NAMES, FORGES } from './forges.js';
import type { OpenAnyForge, TestRepository } from './forges.js';

let opened: OpenAnyForge;
let repository: TestRepository;
afterEach(() => opened.server.close());

const target = { fullName: 'acme/shop', number: 1 };

describe.each(FORGE_NAMES)('acting at %s', (name) => {
  beforeEach(async () => {
    opened = await FORGES[name]();
    repository = opened.add('acme/shop', { pulls: 1 });
  });

  test('is done once', async () => {
    await expect(opened.forge.act(target, 'merge')).resolves.toBe('done');
    expect([repository.isMerged(), opened.writes()]).toEqual([true, 1]);
  });

  test.each([
    ['merged', 'already_merged'],
    ['closed', 'already_closed'],
  ] as const)('sends nothing to what is %s meanwhile', async (how, refusal) => {
    repository.end(how);
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind: 'conflict', refusal });
    expect(opened.writes()).toBe(0);
  });

  test('finds what was merged between reading and acting', async () => {
    const mergeFirst = () => {
      repository.end('merged');
      return undefined;
    };
    opened.server.failNext(mergeFirst, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ refusal: 'already_merged' });
  });

  test('merges only the commit that the caller knows', async () => {
    const refused = opened.forge.act({ ...target, headSha: 'e'.repeat(40) }, 'merge');
    await expect(refused).rejects.toMatchObject({ kind: 'conflict' });
    expect(repository.isMerged()).toBe(false);
  });

  test.each<[string, number, string, string]>([
    ['a missing permission', 403, 'unauthorized', 'permission'],
    ['a limit', 429, 'rate_limited', 'rate_limited'],
    ['an outage', 502, 'unreachable', 'unknown'],
  ])('is sent once, whatever comes of it: %s', async (_reason, status, kind, refusal) => {
    opened.server.failNext({ status, body: { message: 'No.' } }, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal });
    expect(opened.writes()).toBe(1);
  });

  test('has no reason when reading again fails', async () => {
    const { server } = opened;
    const refuseAndFail = () => {
      server.failNext({ status: 500, body: {} });
      return { status: 409, body: {} };
    };
    server.failNext(refuseAndFail, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind: 'conflict', refusal: 'unknown' });
  });

  test('says that there is no such pull request', async () => {
    await expect(opened.forge.act({ ...target, number: 2 }, 'close')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(opened.forge.checks({ ...target, number: 2 })).rejects.toMatchObject({ kind: 'not_found' });
  });
});
