/** Built servers with separate state folders and one key, on one PostgreSQL database, behind a round-robin proxy. */
import { once } from 'node:events';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnNode, type NodeProcess } from '../child-process.js';
import { LOOPBACK } from '../forges/forge-server.js';
import { createTestFolder } from '../storage/engine.js';
import { startRoundRobin, type RoundRobinProxy } from './round-robin.js';

/** The number of servers behind the proxy in tests that start a contract server; 0 for one server without a proxy. */
export const REPLICAS = Number(process.env.REPLICAS ?? 0);

/** The statuses of the requests that replicas have responded to, by operation and server: `createToken` → `0 201`. */
const responses = new Map<string, Set<string>>();

/** The log has no line of these operations, which probes repeat every second. */
const UNLOGGED = ['getHealth'];

/** Lists the operations that fewer than two replicas have received, or that none has completed. */
export const listUntried = (operations: readonly string[]): string[] =>
  operations.filter((operation) => {
    if (UNLOGGED.includes(operation)) return false;
    const received = [...(responses.get(operation) ?? [])].map((pair) => pair.split(' '));
    const isCompleted = received.some(([, status]) => Number(status) < 400);
    return !isCompleted || new Set(received.map(([server]) => server)).size < 2;
  });

export interface ReplicasOptions {
  readonly count: number;
  readonly databaseUrl: string;
  /** The content of `server.key`. */
  readonly key: string;
  readonly version: string;
  /** Further options of the servers by name. */
  readonly flags: Readonly<Record<string, string>>;
  /** A folder of which each server gets a copy as its site. */
  readonly site?: string;
}

export interface Replicas extends Pick<RoundRobinProxy, 'counts' | 'port' | 'url'> {
  /** The log lines of all servers so far. */
  readonly lines: readonly LogLine[];
  /** The ports of the servers behind the proxy. */
  readonly ports: readonly number[];
  /** Announces at all servers that they stop. Requests wait until they have. */
  stop(): void;
  close(): Promise<void>;
}

export async function startReplicas(options: ReplicasOptions): Promise<Replicas> {
  const lines: LogLine[] = [];
  const folder = await createTestFolder();
  // The first server alone migrates the database.
  const servers: Server[] = [];
  for (let index = 0; index < options.count; index += 1) {
    const onLine = (line: LogLine): void => noteLine(line, index, lines);
    servers.push(await startServer(openHost(index), { ...options, folder: path.join(folder, `${index}`), onLine }));
  }
  const ports = servers.map(({ port }) => port);
  const proxy = await startRoundRobin(ports);
  const all = (action: Action) => Promise.all(servers.map((server) => server.call(action)));
  return {
    ...proxy,
    lines,
    ports,
    stop: () => proxy.holdUntil(all('stop')),
    async close() {
      await proxy.close();
      await all('close');
    },
  };
}

type LogLine = Readonly<Record<string, unknown>>;

function noteLine(line: LogLine, server: number, lines: LogLine[]): void {
  lines.push(line);
  const { operation, status } = line;
  if (typeof operation !== 'string') return;
  const known = responses.get(operation) ?? new Set();
  responses.set(operation, known.add(`${server} ${String(status)}`));
}

type Action = 'close' | 'start' | 'stop';

interface Server {
  readonly port: number;
  call(action: Action): Promise<unknown>;
}

interface ServerOptions extends ReplicasOptions {
  /** The folder of its state and its site. */
  readonly folder: string;
  readonly onLine: (line: LogLine) => void;
}

async function startServer(host: Host, options: ServerOptions): Promise<Server> {
  const { folder, key, databaseUrl, version, site, onLine } = options;
  const state = path.join(folder, 'state');
  await mkdir(state, { recursive: true, mode: 0o700 });
  await writeFile(path.join(state, 'server.key'), `${key}\n`, { mode: 0o600 });
  const own: Record<string, string> = { state, port: '0', forgeAllow: LOOPBACK.join(',') };
  if (site !== undefined) {
    own.site = path.join(folder, 'site');
    await cp(site, own.site, { recursive: true, preserveTimestamps: true });
  }
  const flags = { ...own, ...options.flags };
  const env = { DATABASE_URL: databaseUrl };
  const server = host.add((line) => onLine(JSON.parse(line) as LogLine));
  const port = await server.call('start', { flags, env, version });
  return { port: port as number, call: (action) => server.call(action) };
}

/** A process that runs servers. The servers of one group run in different processes. */
interface Host {
  add(onLine: (line: string) => void): { call(action: Action, message?: object): Promise<unknown> };
}

interface Reply {
  readonly id: number;
  readonly action?: Action;
  readonly value?: unknown;
  readonly error?: string;
  readonly line?: string;
}

const PROGRAM = fileURLToPath(new URL('./replica-host.js', import.meta.url));

/** The global property with the hosts of this worker, which all its test files share. */
const HOSTS = Symbol.for('trellis.replica-hosts');
const shared = globalThis as { [HOSTS]?: Host[] };

const openHost = (index: number): Host => ((shared[HOSTS] ??= [])[index] ??= createHost());

/** Starts a host that does not keep this worker from exiting, and ends with it. */
function createHost(): Host {
  const child: NodeProcess = spawnNode([PROGRAM], { env: { PATH: process.env.PATH, NODE_ENV: 'test' } });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout.resume();
  // Each server listens to its messages.
  child.setMaxListeners(0);
  child.unref();
  child.channel?.unref();
  // The pipes are sockets.
  for (const pipe of [child.stdout, child.stderr]) (pipe as Socket).unref();
  const ended = once(child, 'exit').then(() => {
    throw new Error(`A host of servers ended:\n${errors}`);
  });
  ended.catch(() => undefined);
  let count = 0;
  return {
    add(onLine) {
      const id = (count += 1);
      const readLine = (reply: Reply): void => {
        if (reply.id === id && reply.line !== undefined) onLine(reply.line);
      };
      child.on('message', readLine);
      const call = (action: Action, message: object): Promise<unknown> => {
        const answer = new Promise((resolve, reject) => {
          const read = (reply: Reply): void => {
            if (reply.id !== id || reply.action !== action) return;
            child.off('message', read);
            if (action === 'close') child.off('message', readLine);
            if (reply.error === undefined) resolve(reply.value);
            else reject(new Error(reply.error));
          };
          child.on('message', read);
        });
        child.send({ ...message, id, action });
        return Promise.race([answer, ended]);
      };
      return { call: (action, message = {}) => call(action, message) };
    },
  };
}
