/*
 * Checked by the compiler only: an `@ts-expect-error` without an error fails the type check.
 */
import { createClient } from '@trellis/client/create-client';
import { createToken, getDashboard, getVersion, streamDashboard } from '../../src/generated/dashboard/calls.js';
import {
  ApiError,
  type components,
  createDashboardClient,
  decodeError,
  readEvents,
} from '../../src/generated/dashboard/client.js';
import { listObjects, renameObject } from '../../src/generated/secrets/calls.js';
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

export async function errorsHaveTheCodesOfTheContract(error: unknown): Promise<readonly unknown[]> {
  const { data, status, error: body, response } = await dashboard.GET('/api/dashboard');
  if (status === 404) return [body.code satisfies components['schemas']['ErrorCode']];
  if (status === 200) return [data.pullRequests.length satisfies number, body satisfies undefined];
  // @ts-expect-error the operation has no such status
  if (status === 410) return [];
  const decoded = decodeError(response, body);
  if (decoded?.code === 'rate_limited') return [decoded.retryAfter satisfies number | undefined];
  // @ts-expect-error no such code
  if (decoded?.code === 'rate_limits') return [];
  if (!(error instanceof ApiError)) return [];
  // @ts-expect-error no such code
  if (error.code === 'rate_limits') return [];
  return [error.code === 'conflict', error.statusCode satisfies number];
}

export async function functionsOfOperationsAreTyped(): Promise<readonly unknown[]> {
  const { version } = await getVersion(dashboard);
  const created = await createToken(dashboard, { body });
  const board = await getDashboard.result(dashboard, { owner: 'ada', includeDrafts: true });
  if (board.status === 200) version satisfies typeof created.token;
  for await (const { slug } of listObjects.all(secrets, { tag: ['a'] })) slug satisfies string;
  for await (const { data } of streamDashboard(dashboard)) data.pullRequests.length satisfies number;
  return [
    // @ts-expect-error the parameters are missing
    renameObject(secrets),
    // @ts-expect-error the body is missing
    createToken(dashboard, {}),
    // @ts-expect-error no such parameter
    getDashboard(dashboard, { owners: 'ada' }),
    // @ts-expect-error a parameter of the wrong type
    getDashboard(dashboard, { includeDrafts: 'yes' }),
    // @ts-expect-error the client of the other service
    getDashboard(secrets, {}),
  ];
}

export async function listsAreIteratedByPath(): Promise<readonly (string | number)[]> {
  const found: (string | number)[] = [];
  for await (const object of readAll(secrets, '/objects')) found.push(object.slug satisfies string);
  for await (const entry of readAllAfter(secrets, '/audit-log')) found.push(entry.id satisfies number);
  // @ts-expect-error a list that is not paged by offset
  readAll(secrets, '/audit-log');
  return found;
}

/** Paths as openapi-typescript writes them, with a tuple, and statuses as ranges. */
interface OddPaths {
  readonly '/odd': {
    readonly post: {
      readonly parameters: { readonly query?: never };
      readonly requestBody: {
        readonly content: {
          readonly 'application/json': { readonly secret: string; readonly tags?: readonly string[] };
        };
      };
      readonly responses: {
        readonly 200: {
          readonly content: {
            readonly 'application/json': {
              readonly pair: readonly [string, number];
              readonly rest: readonly [string, ...(readonly number[])];
              readonly id: string;
            };
          };
        };
        readonly 404: { readonly content: { readonly 'application/json': 'missing' } };
        readonly '4XX': { readonly content: { readonly 'application/json': 'wrong' } };
        readonly default: { readonly content: { readonly 'application/json': 'other' } };
      };
    };
  };
}
export async function valuesKeepTheirShape(): Promise<readonly unknown[]> {
  const contract = { baseUrl: '/', revision: '1', product: 'Odd', tokenVariable: 'ODD_TOKEN' };
  const odd = createClient<OddPaths>(contract);
  const { status, data, error } = await odd.POST('/odd', { body: { secret: 'x' } });
  if (status === 404) return [error satisfies 'missing'];
  if (status === 422) return [error satisfies 'wrong'];
  if (status === 502) return [error satisfies 'other'];
  if (status !== 200) return [];
  data.pair[0] = 'mutable';
  return [
    data.pair satisfies [string, number],
    data.rest satisfies [string, ...number[]],
    data.id satisfies string,
    odd.POST('/odd', { body: { secret: 'x', tags: ['a'] as const } }),
  ];
}
