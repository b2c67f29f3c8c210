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

  test.each<[string, Parameters<OpenAnyForge['server']['failNext']>[0], string]>([
    ['the forge is away', () => 'reset', 'unreachable'],
    ['it is out of order', { status: 502, body: {} }, 'unreachable'],
    ['it shows a page', { body: '<html></html>' }, 'unknown'],
    ['its answer says nothing', { body: null }, 'unknown'],
    ['the credential has ended', { status: 401, body: {} }, 'unauthorized'],
  ])('has no refusal, and sends nothing, when it can not be read first: %s', async (_reason, fault, kind) => {
    opened.server.failNext(fault);
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal: undefined });
    expect(opened.writes()).toBe(0);
  });

  test.each<[string, 'reset' | { status: number }, string]>([
    ['lost', 'reset', 'unreachable'],
    ['that of a gateway', { status: 504 }, 'unreachable'],
    ['not to be understood', { status: 400 }, 'unknown'],
  ])('has a refusal when nobody knows what came of it, as the answer is %s', async (_what, instead, kind) => {
    const mergeWithoutAnswer = () => {
      repository.end('merged');
      return instead;
    };
    opened.server.failNext(mergeWithoutAnswer, { path: /merge$/ });
    await expect(opened.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal: 'unknown' });
    expect([repository.isMerged(), opened.writes()]).toEqual([true, 1]);
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
