import { ApiError, createDashboardClient, decodeError } from '../../src/generated/dashboard/client.js';
import { type TrellisServer, serveTrellis } from './trellis-server.js';

let server: TrellisServer;

afterEach(() => server.close());

const body = { label: 'nightly', expiresAt: new Date(Date.now() + 86_400_000).toISOString() };

test('generated client: a POST whose response is lost twice takes effect once', async () => {
  server = await serveTrellis();
  const { headers } = await server.signIn('ada');
  const statuses: number[] = [];
  const fetch = async (request: Request) => {
    const response = await globalThis.fetch(request);
    statuses.push(response.status);
    if (statuses.length < 3) throw new TypeError('connection lost');
    return response;
  };
  const client = createDashboardClient(server.url, { token: '', retry: { baseDelayMs: 1 }, fetch });
  const created = await client.POST('/api/tokens', { body, headers });
  const listed = await client.GET('/api/tokens', { headers });
  expect(statuses).toEqual([201, 201, 201, 200]);
  expect(listed.data?.map(({ id }) => id)).toEqual([created.data?.id]);
});

test('generated client: a token works until it is revoked', async () => {
  server = await serveTrellis();
  const { headers } = await server.signIn('ada');
  const session = createDashboardClient(server.url, { token: '' });
  const { data } = await session.POST('/api/tokens', { body, headers });
  const client = createDashboardClient(server.url, { token: data!.token });
  expect((await client.GET('/api/dashboard')).data?.pullRequests).toEqual([]);
  await session.DELETE('/api/tokens/{id}', { params: { path: { id: data!.id } }, headers });
  const { error, response } = await client.GET('/api/dashboard');
  const apiError = decodeError(response, error);
  expect(apiError).toBeInstanceOf(ApiError);
  expect(apiError).toMatchObject({ statusCode: 401, code: 'unauthenticated', retryAfter: undefined });
  expect(apiError?.requestId).toBe(response.headers.get('X-Request-Id'));
});

test('generated client: a rate limit is reported, and the wait is capped', async () => {
  server = await serveTrellis({ flags: { rateLimit: '1' } });
  const delays: number[] = [];
  const client = createDashboardClient(server.url, {
    token: '',
    retry: { maxRetries: 1, maxRetryAfterMs: 20 },
    onRetry: ({ delayMs }) => delays.push(delayMs),
  });
  await client.GET('/api/version');
  const { error, response } = await client.GET('/api/version');
  expect(decodeError(response, error)).toMatchObject({ statusCode: 429, code: 'rate_limited', retryAfter: 60 });
  expect(delays).toEqual([20]);
});
