import { once } from 'node:events';
import { spawnNode, type NodeProcess } from '../../tests/child-process.js';
import { listMaliciousPatterns, type MaliciousPattern } from '../../tests/fuzz/malicious-patterns.js';
import { build } from '../child.js';
import { ask } from '../server.js';
import { toTable } from '../table.js';
import { benchFolder } from './scan.js';

export interface PatternBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly patterns: number;
  readonly clients: number;
}

/** The longest time that the event loop was blocked: wall-clock time and processor time, in milliseconds. */
interface Hold {
  readonly wallMs: number;
  readonly cpuMs: number;
}

interface Outcome extends MaliciousPattern {
  readonly milliseconds: number;
  readonly hold: Hold;
  readonly refused: string;
}

/** Sends slow patterns and measures how long they block the event loop, and the response times of /healthz meanwhile. */
export async function benchPatterns({ files, folders, patterns, clients }: PatternBenchOptions): Promise<string> {
  build();
  const directory = benchFolder({ files, folders });
  const server = await startMeasured(['serve', '--site', directory, '--state', `${directory}.state`]);
  try {
    const names = await readNames(server.origin);
    await server.longestHold();
    const waits: number[] = [];
    const health = pollHealth(server.origin, waits);
    const queue = [...listMaliciousPatterns(patterns, names)];
    const outcomes: Outcome[] = [];
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) outcomes.push(await send(server, next));
    };
    await Promise.all(Array.from({ length: clients }, work));
    await health.stop();
    return report(outcomes, waits);
  } finally {
    await server.stop();
  }
}

interface MeasuredServer {
  readonly origin: string;
  /** Returns the longest block of the event loop since the previous call. */
  longestHold(): Promise<Hold>;
  stop(): Promise<void>;
}

async function startMeasured(args: readonly string[]): Promise<MeasuredServer> {
  const child = spawnNode(['--import', './bench/operations/loop-delay.js', 'dist/cli.js', ...args], {
    env: { ...process.env, NODE_ENV: 'production', PORT: '0', TRELLIS_SERVICES: 'site', LOG_LEVEL: 'warn' },
  });
  child.stderr.pipe(process.stderr);
  const exited = once(child, 'exit');
  try {
    const origin = await Promise.race([untilReady(child), exited.then(() => undefined)]);
    if (origin === undefined) throw new Error('The server ended before it was ready.');
    return {
      origin,
      async longestHold() {
        const answer = once(child, 'message');
        child.send('longest block');
        const [hold] = (await answer) as [Hold];
        return hold;
      },
      async stop() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

function untilReady(child: NodeProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const [, origin] = /ready at (http:\/\/\S+)/.exec(text) ?? [];
      if (origin !== undefined) resolve(origin);
    });
  });
}

async function readNames(origin: string): Promise<string[]> {
  const data = (await ask(origin, '{ allFile(limit: 200) { nodes { relativePath } } }')) as {
    allFile: { nodes: { relativePath: string }[] };
  };
  return data.allFile.nodes.map(({ relativePath }) => relativePath);
}

async function send(server: MeasuredServer, { operator, pattern }: MaliciousPattern): Promise<Outcome> {
  const startedAt = performance.now();
  const response = await fetch(`${server.origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      query: 'query ($filter: FileFilterInput) { allFile(filter: $filter) { totalCount nodes { id } } }',
      variables: { filter: { relativePath: { [operator]: pattern } } },
    }),
  });
  const { errors } = (await response.json()) as { errors?: { message: string }[] };
  const milliseconds = performance.now() - startedAt;
  return { operator, pattern, milliseconds, hold: await server.longestHold(), refused: errors?.[0]?.message ?? '' };
}

function pollHealth(origin: string, waits: number[]): { stop(): Promise<void> } {
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      await (await fetch(`${origin}/healthz`)).text();
      waits.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const running = run();
  return {
    async stop() {
      isOver = true;
      await running;
    },
  };
}

function report(outcomes: readonly Outcome[], waits: readonly number[]): string {
  const rows = (['glob', 'regex'] as const).map((operator) => {
    const own = outcomes.filter((one) => one.operator === operator);
    const refusals = [...new Set(own.map(({ refused }) => refused.slice(0, 60)).filter(Boolean))];
    return [
      operator,
      String(own.length),
      String(own.filter(({ refused }) => refused === '').length),
      percentile(
        own.map(({ milliseconds }) => milliseconds),
        0.5,
      ),
      percentile(
        own.map(({ milliseconds }) => milliseconds),
        1,
      ),
      percentile(
        own.map(({ hold }) => hold.wallMs),
        1,
      ),
      percentile(
        own.map(({ hold }) => hold.cpuMs),
        0.99,
      ),
      percentile(
        own.map(({ hold }) => hold.cpuMs),
        1,
      ),
      refusals.slice(0, 3).join(' / '),
    ];
  });
  const head = [
    ...['patterns', 'sent', 'answered', 'median ms', 'slowest ms'],
    ...['blocked ms', 'cpu 99 %', 'CPU ms', 'refusals'],
  ];
  const worst = outcomes.reduce((one, other) => (other.hold.cpuMs > one.hold.cpuMs ? other : one));
  return `${toTable(head, rows)}

/healthz meanwhile: ${waits.length} requests, median ${percentile(waits, 0.5)} ms, 99 % ${percentile(waits, 0.99)} ms, longest ${percentile(waits, 1)} ms.
The longest block, ${worst.hold.cpuMs.toFixed(0)} ms of processor time, was by ${worst.operator} ${worst.pattern}`;
}

function percentile(values: readonly number[], part: number): string {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) * part)] ?? NaN).toFixed(0);
}
