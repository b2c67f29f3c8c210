/*
 * Checked by the compiler only: an `@ts-expect-error` without an error fails the type check.
 */
import { type components, createDashboardClient, readEvents } from '../../src/generated/dashboard/client.js';
import { createSecretsClient, readAll, readAllAfter } from '../../src/generated/secrets/client.js';

const dashboard = createDashboardClient('http://localhost:4000', {
  token: 'trl_x',
  retry: { maxRetries: 1 },
  fetch: (request) => fetch(request),
  timeoutMs: 1000,
  onRetry: ({ attempt, delayMs, reason }) => console.log(attempt + delayMs, reason.length),
});
const secrets = createSecretsClient('http://localhost:4000/secrets');
const body = { label: 'nightly', expiresAt: '2030-01-01T00:00:00Z' };

export async function responsesAreTyped(): Promise<readonly [string, string, number, string]> {
  const version = await dashboard.GET('/api/version');
  const created = await dashboard.POST('/api/tokens', { body });
  const board = await dashboard.GET('/api/dashboard', { params: { query: { owner: 'ada' } } });
  if (!version.data || !created.data || !board.data) throw new Error(version.error?.code);
  const titles: string[] = board.data.pullRequests.map(({ title }) => title);
  // @ts-expect-error a version has no such member
  titles.push('release' satisfies keyof typeof version.data);
  return [version.data.version, created.data.token, titles.length, dashboard.revision];
}

export function wrongCallsDoNotCompile(): readonly unknown[] {
  return [
    // @ts-expect-error no such path
    dashboard.GET('/api/versions'),
    // @ts-expect-error a path of the other service
    dashboard.GET('/objects'),
    // @ts-expect-error no such method on this path
    dashboard.POST('/api/version'),
    // @ts-expect-error the body is missing
    dashboard.POST('/api/tokens'),
    // @ts-expect-error a member of the body is missing
    dashboard.POST('/api/tokens', { body: { label: 'nightly' } }),
    // @ts-expect-error no such scope
    dashboard.POST('/api/tokens', { body: { ...body, scopes: ['admin'] } }),
    // @ts-expect-error the path's parameter is missing
    dashboard.DELETE('/api/tokens/{id}'),
    // @ts-expect-error a query parameter of the wrong type
    dashboard.GET('/api/dashboard', { params: { query: { includeDrafts: 'yes' } } }),
    // @ts-expect-error no such option
    createDashboardClient('http://localhost:4000', { tokens: 'trl_x' }),
    // @ts-expect-error the revision is readonly
    (dashboard.revision = 'r2'),
  ];
}

export async function listsAreIterated(): Promise<readonly (string | number)[]> {
  const found: (string | number)[] = [];
  for await (const object of readAll((query) => secrets.GET('/objects', { params: { query } }))) {
    found.push(object.slug satisfies string);
  }
  for await (const entry of readAllAfter((query) => secrets.GET('/audit-log', { params: { query } }))) {
    found.push(entry.id satisfies number);
  }
  return found;
}

export async function streamsAreIterated(signal: AbortSignal): Promise<string | undefined> {
  const open = readEvents<components['schemas']['Dashboard']>(
    (init) => dashboard.GET('/api/dashboard/stream', { ...init, params: { query: { includeDrafts: true } } }),
    { signal },
  );
  for await (const { id, data } of open) {
    if (data.pullRequests.some(({ ci }) => ci === 'failure')) return id;
    // @ts-expect-error an event has no such member
    if (data.version) return undefined;
  }
  return undefined;
}

export const readsEventsWithoutOptions = () =>
  readEvents<components['schemas']['Dashboard']>((init) => dashboard.GET('/api/dashboard/stream', init));
