/** The requests of readers and writers of secrets. */
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { ageValue } from '../../tests/secrets/age-files.js';
import { lasting } from '../rounds.js';
import { CONSUMER, type Seeded } from './secrets-seed.js';

export interface Load {
  readonly perSecond: number;
  readonly p99: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

interface ReadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** Returns the path of the secret for the request with this number. */
  readonly toPath: (index: number) => string;
  readonly token?: string;
}

/** Reads one secret after the other. */
export async function sendReads(origin: string, { connections, seconds, toPath, token }: ReadOptions): Promise<Load> {
  let turn = 0;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    turn += 1;
    return { ...request, path: toPath(turn) };
  };
  const requests = [{ method: 'GET', path: toPath(0), headers, setupRequest }] as const;
  return toLoad(await autocannon({ url: origin, connections, ...lasting(seconds), requests: [...requests] }));
}

/** Replaces the value of one secret after the other. */
export async function sendUpdates(origin: string, { connections, seconds, toPath, token }: ReadOptions): Promise<Load> {
  let turn = 0;
  const headers = { authorization: `Bearer ${token ?? ''}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ value });
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    turn += 1;
    return { ...request, path: toPath(turn) };
  };
  const requests = [{ method: 'PUT', path: toPath(0), headers, body, setupRequest }] as const;
  return toLoad(await autocannon({ url: origin, connections, ...lasting(seconds), requests: [...requests] }));
}

/** The secret that a writer created. */
interface Made {
  slug?: string;
  id?: string;
}

const value = ageValue({ payload: 'x'.repeat(1_024) });

/** Each writer creates a secret, replaces its value, renames it, rotates a token and deletes the secret, in a loop. */
export async function sendWrites(
  origin: string,
  { writeToken, rotated }: Pick<Seeded, 'rotated' | 'writeToken'>,
  seconds: number,
): Promise<Load> {
  const headers = { authorization: `Bearer ${writeToken}`, 'content-type': 'application/json' };
  let turn = 0;
  const step = (make: (made: Made) => autocannon.Request): autocannon.Request => ({
    setupRequest: (request, context) => ({ ...request, ...withKey(headers, make(context)) }),
  });
  const at = ({ slug, id }: Made, suffix = ''): string => `/secrets/objects/${slug}${suffix}?id=${id}`;
  const create: autocannon.Request = {
    ...step((made) => {
      made.slug = `written-${(turn += 1)}`;
      const body = JSON.stringify({ slug: made.slug, value, used_by: [CONSUMER] });
      return { method: 'POST', path: '/secrets/objects', body };
    }),
    onResponse(status, body, context) {
      if (status === 201) (context as Made).id = (JSON.parse(body) as { id: string }).id;
    },
  };
  const requests = [
    create,
    step((made) => ({ method: 'PUT', path: at(made), body: JSON.stringify({ value }) })),
    step((made) => ({ method: 'PATCH', path: at(made), body: JSON.stringify({ slug: `${made.slug}-renamed` }) })),
    step(() => ({
      method: 'POST',
      path: `/secrets/consumer-tokens/${rotated[turn % rotated.length]}/rotate`,
      body: JSON.stringify({ ttl_seconds: 3_600 }),
    })),
    step((made) => ({ method: 'DELETE', path: at(made, '-renamed') })),
  ];
  return toLoad(await autocannon({ url: origin, connections: rotated.length, ...lasting(seconds), requests }));
}

/** The client sends one too, so that a retry is safe. */
function withKey(headers: Readonly<Record<string, string>>, request: autocannon.Request): autocannon.Request {
  const key = request.method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
  return { ...request, headers: { ...headers, ...key } };
}

/** @throws Error when a connection failed. */
function toLoad({ errors, timeouts, requests, latency, statusCodeStats }: autocannon.Result): Load {
  if (errors + timeouts > 0) throw new Error(`${errors} requests got no response.`);
  const statuses = Object.entries(statusCodeStats ?? {}).map(([status, { count }]) => [status, count ?? 0] as const);
  return { perSecond: requests.average, p99: latency.p99, statuses: Object.fromEntries(statuses) };
}
