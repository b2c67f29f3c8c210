import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { spawnNode, type NodeProcess } from '../../child-process.js';
import {
  collect,
  startServer,
  toServerEnvironment,
  untilPrinted,
  untilReady,
  type RunningServer,
  parseLog,
} from '../../running-server.js';

const PROGRAM = fileURLToPath(new URL('./server-host.js', import.meta.url));

export type HostedServer = Omit<RunningServer, 'process'>;

/** A process that runs servers, one at a time. */
interface Host {
  readonly child: NodeProcess;
  readonly read: () => string;
  readonly ended: Promise<unknown>;
  isBusy: boolean;
}

/** The global property with the host of this worker, which all its test files share. */
const HOST = Symbol.for('trellis.server-host');
const shared = globalThis as { [HOST]?: Host };

/**
 * Starts a server like `startServer`, in the process that ran the servers of earlier test files, which has loaded and
 * compiled the server already. A second server at the same time gets a process of its own.
 */
export async function startHostedServer(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<HostedServer> {
  const host = (shared[HOST] ??= startHost());
  if (host.isBusy) return startServer(args, env);
  host.isBusy = true;
  const { child, read } = host;
  const start = read().length;
  const output = (): string => read().slice(start);
  const ended = Promise.race([once(child, 'message'), host.ended]).finally(() => (host.isBusy = false));
  child.send({ args: ['serve', '--port', '0', ...args], env: toServerEnvironment(env) });
  const origin = await Promise.race([untilReady(child, output), ended.then(() => undefined)]);
  if (origin === undefined) throw new Error(`The server ended before it was ready:\n${output()}`);
  return {
    ...{ origin, output },
    lines: () => parseLog(output()),
    printed: (text) => untilPrinted(output, text),
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

/** Starts a host that does not keep this worker from exiting, and ends with it. */
function startHost(): Host {
  const child = spawnNode([PROGRAM], { env: toServerEnvironment({}) });
  const ended = once(child, 'exit').finally(() => Reflect.deleteProperty(shared, HOST));
  child.unref();
  child.channel?.unref();
  // The pipes are sockets.
  for (const pipe of [child.stdout, child.stderr]) (pipe as Socket).unref();
  return { child, read: collect(child), ended, isBusy: false };
}
