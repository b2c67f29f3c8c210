import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import { WEBHOOK_SENDERS, type WebhookDelivery } from '../../../src/dashboard/webhooks/verify-delivery.js';
import type { TestHook } from '../../forges/hooks.js';
import { FORGE_NAMES, FORGES, type OpenAnyForge, type TestRepository } from './forges.js';

let opened: OpenAnyForge;
let repository: TestRepository;
let received: WebhookDelivery[];
let receiver: Server;
let hook: { readonly url: string; readonly secret: string };

beforeEach(async () => {
  received = [];
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  hook = { url: `http://127.0.0.1:${port}/api/webhooks/forge/token`, secret: 'new' };
});
afterEach(async () => {
  await opened.server.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const other = (id: number): TestHook => ({
  id,
  url: `https://elsewhere.example/${id}`,
  secret: 'theirs',
  events: ['push'],
  contentType: 'form',
  active: true,
});

const EVENTS: Readonly<Record<ForgeName, readonly string[]>> = {
  github: [
    'check_run',
    'issue_comment',
    'issues',
    'merge_group',
    'pull_request',
    'pull_request_review',
    'pull_request_review_comment',
    'pull_request_review_thread',
    'push',
    'repository',
    'status',
  ],
  forgejo: [
    'issues',
    'pull_request',
    'push',
    'status',
    'action_run_failure',
    'action_run_recover',
    'action_run_success',
  ],
  gitlab: ['push', 'merge_requests', 'note', 'issues', 'confidential_issues', 'pipeline'],
};

describe.each(FORGE_NAMES)('ensureWebhook at %s', (name) => {
  beforeEach(async () => {
    opened = await FORGES[name]();
    repository = opened.add('acme/shop');
    repository.setAdmin(true);
  });

  test('creates a webhook whose deliveries can be verified', async () => {
    const { forge, server } = opened;
    const { hooks } = repository;
    await forge.ensureWebhook('acme/shop', hook);
    expect(hooks).toEqual([{ id: 1, ...hook, contentType: 'json', active: true, events: EVENTS[name] }]);
    await expect(server.deliver('acme/shop', {})).resolves.toEqual([204]);
    expect(received.map((one) => WEBHOOK_SENDERS[name].verify(one, 'new'))).toEqual([{ fullName: 'acme/shop' }]);
    expect(received.map((one) => WEBHOOK_SENDERS[name].verify(one, 'old'))).toEqual([undefined]);
  });

  test('corrects all fields of an existing webhook with the same path, on any page of the list', async () => {
    const { forge, server } = opened;
    const { hooks } = repository;
    hooks.push(...Array.from({ length: 110 }, (_, index) => other(index + 1)));
    const url = `https://former.example${new URL(hook.url).pathname}`;
    hooks.push({ ...other(111), url, secret: 'old', active: false });
    await forge.ensureWebhook('acme/shop', hook);
    const ours = hooks.filter(({ secret }) => secret !== 'theirs');
    expect(ours).toEqual([expect.objectContaining({ ...hook, contentType: 'json', active: true })]);
    expect([hooks.length, [...ours[0]!.events]]).toEqual([111, EVENTS[name]]);
    await expect(server.deliver('acme/shop', {})).resolves.toEqual([204]);
  });

  test('replaces webhooks with former paths', async () => {
    const { forge } = opened;
    const { hooks } = repository;
    const toUrl = (token: string) => hook.url.replace('token', token);
    hooks.push(...['a', 'b', 'c'].map((token, index) => ({ ...other(index + 1), url: toUrl(token) })));
    await forge.ensureWebhook('acme/shop', { ...hook, formerUrls: [toUrl('b'), toUrl('a')] });
    expect(hooks.map(({ url }) => url).sort()).toEqual([toUrl('c'), hook.url]);
    await forge.ensureWebhook('acme/shop', { ...hook, formerUrls: [toUrl('c')] });
    expect(hooks.map(({ url, secret }) => [url, secret])).toEqual([[hook.url, 'new']]);
  });

  test('is idempotent', async () => {
    const { forge } = opened;
    const { hooks } = repository;
    await forge.ensureWebhook('acme/shop', hook);
    await forge.ensureWebhook('acme/shop', hook);
    expect(hooks).toEqual([expect.objectContaining({ ...hook, active: true })]);
  });

  test.each<[string, () => void]>([
    ['the user is not an admin', () => repository.setAdmin(false)],
    ['the token lacks a scope', () => (opened.server.mayWriteHooks = false)],
  ])('throws an error with the missing permission when %s', async (_reason, forbid) => {
    forbid();
    await expect(opened.forge.ensureWebhook('acme/shop', hook)).rejects.toMatchObject({
      name: 'ForgeError',
      kind: 'unauthorized',
      refusal: 'permission',
      needs: expect.stringMatching(
        /(admin|maintainer) of the (project|repository), with a token with the scope/,
      ) as string,
    });
    expect(repository.hooks).toEqual([]);
  });

  test('throws not_found for a missing repository', async () => {
    await expect(opened.forge.ensureWebhook('acme/gone', hook)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('throws unreachable after a gateway error', async () => {
    opened.server.failNext({ status: 502, body: {} });
    await expect(opened.forge.ensureWebhook('acme/shop', hook)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
