import { readEvents } from '@trellis/client/events';
import { readBoards } from '../../../src/board-stream/read-boards.js';
import { EMPTY_BOARD_SNAPSHOT, type Board } from '../../../src/dashboard/boards/board.js';
import type { components, DashboardClient } from '../../../src/generated/dashboard/client.js';
import { pullRequest } from '../../dashboard/pull-request.js';
import { eventually } from '../../eventually.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub } from '../../forges/github.js';
import { openStage, type Member, type Stage } from './fixtures.js';

const STREAM = '/api/dashboard/stream';

const subscribe = (client: DashboardClient) =>
  readEvents<Board>((init) => client.GET(STREAM, init), { reconnectMs: 1 });

export function boardTests(stage: () => Stage): void {
  const boards = () => stage().server.dashboard.boards;
  const signIn = async () => stage().client(await stage().addUser());
  /** Creates a user with saved forge settings. */
  const settle = async (): Promise<{ member: Member; client: DashboardClient }> => {
    const member = await stage().addUser();
    const client = stage().client(member);
    await client.PUT('/api/settings', { body: { githubUsername: 'mona' } });
    return { member, client };
  };

  describe('getDashboard', () => {
    test('returns an empty board before the first refresh', async () => {
      const member = await stage().addUser();
      const { data } = await stage().client(member).GET('/api/dashboard');
      expect(data).toMatchObject({ pullRequests: [], forges: [], hiddenDrafts: 0, openIssueCount: 0 });
      expect(data!.generatedAt).toBe(member.person.createdAt.toISOString());
    });

    test('returns the board, with drafts on request', async () => {
      const { client, member } = await settle();
      const pullRequests = [pullRequest(), pullRequest({ number: 18, draft: true })];
      await boards().save(member.person.id, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
      const { data } = await client.GET('/api/dashboard');
      expect(data).toMatchObject({ pullRequests: [{ repo: 'acme/shop', number: 17, ci: 'success' }], hiddenDrafts: 1 });
      const whole = await client.GET('/api/dashboard', { params: { query: { includeDrafts: true } } });
      expect([whole.data?.pullRequests.length, whole.data?.hiddenDrafts]).toEqual([2, 0]);
    });

    test('returns 304 for a matching ETag', async () => {
      const client = await signIn();
      const { response } = await client.GET('/api/dashboard');
      const params = { header: { 'If-None-Match': response.headers.get('etag')! } };
      const again = await client.GET('/api/dashboard', { params });
      expect([again.response.status, again.response.headers.get('etag')]).toEqual([304, response.headers.get('etag')]);
    });

    test.each([
      ['a user who does not share it', 'root', 403, 'forbidden'],
      ['an unknown user', 'mona', 404, 'not_found'],
    ])('rejects the board of %s', async (_reason, owner, status, code) => {
      const { error, response } = await (await signIn()).GET('/api/dashboard', { params: { query: { owner } } });
      expect([response.status, error]).toMatchObject([status, { code }]);
    });
  });

  describe('refreshDashboard', () => {
    test('returns the board, and 429 for a second call within the cooldown', async () => {
      const pullRequests = [githubPullRequest(1, { isDraft: true })];
      const github = await startGithub([githubRepository('acme/shop', { pullRequests })]);
      const client = await signIn();
      const body = { githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN };
      await client.PUT('/api/settings', { body });
      const query = { includeDrafts: true };
      const { data } = await client.POST('/api/dashboard/refresh', { params: { query } });
      await github.close();
      expect(data?.pullRequests).toMatchObject([{ repo: 'acme/shop', number: 1, draft: true }]);
      const { error, response } = await client.POST('/api/dashboard/refresh');
      expect([response.status, error?.code]).toEqual([429, 'rate_limited']);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      const budget = ['limit', 'remaining', 'policy'].map((name) => response.headers.get(`ratelimit-${name}`));
      expect(budget).toEqual(['1', '0', '1;w=30']);
    });

    test('returns 404 until forge settings are saved', async () => {
      const { error, response } = await (await signIn()).POST('/api/dashboard/refresh');
      expect([response.status, error?.code]).toEqual([404, 'not_found']);
    });
  });

  describe('streamDashboard', () => {
    test('sends the board at once, and after every change', async () => {
      const { client, member } = await settle();
      const events = subscribe(client);
      const first = (await events.next()).value!;
      expect(first.data.pullRequests).toEqual([]);
      await boards().save(member.person.id, { ...EMPTY_BOARD_SNAPSHOT, pullRequests: [pullRequest()] });
      const second = (await events.next()).value!;
      expect([second.data.pullRequests.length, second.id === first.id]).toEqual([1, false]);
      await events.return();
    });

    test('sends a board to a reconnecting client only after a change', async () => {
      const { client, member } = await settle();
      const events = subscribe(client);
      const id = (await events.next()).value!.id!;
      await events.return();
      const headers = { 'Last-Event-ID': id };
      const { data, response } = await client.GET(STREAM, { headers, parseAs: 'stream' });
      const chunks = response.status === 200 && data!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
      if (!chunks) throw new Error('The response has no stream.');
      expect((await chunks.next()).value).toMatch(/^(:\n\n)+$/);
      await boards().save(member.person.id, EMPTY_BOARD_SNAPSHOT);
      let text = '';
      while (!text.includes('\n\ndata') && !text.includes('id: ')) text += String((await chunks.next()).value);
      expect(text).toContain('id: ');
      await chunks.return?.();
    });

    test('sends boards that a different process saved', async () => {
      const { client, member } = await settle();
      const events = subscribe(client);
      await events.next();
      const snapshot = JSON.stringify({ ...EMPTY_BOARD_SNAPSHOT, pullRequests: [pullRequest()] });
      const row = { person_id: member.person.id, generated_at: Date.now() + 1, snapshot };
      await stage().server.database.insertInto('boards').values(row).execute();
      expect((await events.next()).value!.data.pullRequests).toHaveLength(1);
      await events.return();
    });

    test.each([
      ['the session', (member: Member) => stage().client(member).POST('/api/auth/logout-everywhere'), (m: Member) => m],
      [
        'the token',
        (member: Member) =>
          stage().server.database.deleteFrom('tokens').where('person_id', '=', member.person.id).execute(),
        async (member: Member) => ({ token: await stage().server.issueToken('personal', member.person, ['read']) }),
      ],
    ])('ends with %s', async (_reason, end, credentialOf) => {
      const { member } = await settle();
      const events = subscribe(stage().client(await credentialOf(member)));
      await events.next();
      await end(member);
      // The client reconnects automatically, and then receives the error.
      await expect(events.next()).rejects.toMatchObject({ statusCode: 401 });
    });

    test('ends when the server shuts down', async () => {
      const other = await openStage();
      const client = other.client(other.admin);
      await client.PUT('/api/settings', { body: {} });
      const { data } = await client.GET(STREAM, { parseAs: 'stream' });
      const reader = data!.getReader();
      const decoder = new TextDecoder();
      let text = '';
      while (!text.endsWith('\n\n')) text += decoder.decode((await reader.read()).value, { stream: true });
      expect(text).toMatch(/^id: .+\ndata: \{.*\}\n\n$/);
      other.server.readiness.stop();
      expect(await reader.read()).toMatchObject({ done: true });
      await other.server.close();
    });

    test('returns 429 while 16 streams are open, and works again after one is closed', async () => {
      const { client } = await settle();
      const open = () => client.GET(STREAM, { parseAs: 'stream' });
      const streams: Awaited<ReturnType<typeof open>>[] = [];
      let last = await open();
      for (; last.response.status !== 429; last = await open()) {
        // A busy database responds with 503.
        expect([200, 503]).toContain(last.response.status);
        if (last.response.ok) streams.push(last);
        expect(streams.length).toBeLessThanOrEqual(16);
      }
      expect(last.error).toMatchObject({ code: 'rate_limited' });
      expect(streams).toHaveLength(16);
      await streams.pop()!.data!.cancel();
      // The server notices the disconnect with a delay. A busy database responds with 503.
      const refusals = new Set<number>();
      await eventually(async () => {
        const again = await open();
        if (again.response.status !== 200) refusals.add(again.response.status);
        expect(again.response.status).toBe(200);
        streams.push(again);
      });
      expect([429, 503]).toEqual(expect.arrayContaining([...refusals]));
      for (const { data } of streams) await data!.cancel();
    });

    test('returns 404 until forge settings are saved', async () => {
      const { error, response } = await (await signIn()).GET(STREAM, { parseAs: 'stream' });
      expect([response.status, error]).toMatchObject([404, { code: 'not_found' }]);
    });
  });

  describe('streamBoardChanges', () => {
    test('sends the whole board, then differences that give the same boards', async () => {
      const { client, member } = await settle();
      const save = (title: string) =>
        boards().save(member.person.id, {
          ...EMPTY_BOARD_SNAPSHOT,
          pullRequests: Array.from({ length: 9 }, (_, index) =>
            pullRequest({ number: index + 1, ...(index === 4 && { title }) }),
          ),
        });
      const readBoard = async () => (await client.GET('/api/dashboard')).data;
      await save('first');
      const changes = readEvents<components['schemas']['BoardChange']>((init) =>
        client.GET('/api/dashboard/changes', init),
      );
      const whole = readBoards(client, {}, { reconnectMs: 1 });
      const first = (await changes.next()).value!;
      expect(first.data).toEqual({ board: await readBoard() });
      expect((await whole.next()).value!.data).toEqual(await readBoard());
      await save('second');
      const second = (await changes.next()).value!;
      expect(second.data).toMatchObject({
        from: first.id,
        pullRequests: [{ start: 0, count: 4 }, { rows: [{ title: 'second' }] }, { start: 5, count: 4 }],
      });
      expect((await whole.next()).value!.data).toEqual(await readBoard());
      await Promise.all([changes.return(), whole.return()]);
    });

    test('returns 404 until forge settings are saved', async () => {
      const { error, response } = await (await signIn()).GET('/api/dashboard/changes', { parseAs: 'stream' });
      expect([response.status, error]).toMatchObject([404, { code: 'not_found' }]);
    });
  });
}
