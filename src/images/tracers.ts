import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { inTurn } from '../in-turn.js';
import type { TraceTask } from './trace-picture.js';

/** Draws outlines in threads of their own. */
export interface Tracers {
  trace(task: TraceTask): Promise<string>;
  close(): Promise<void>;
}

/** One core is left for answering. */
const MAX_THREADS = Math.max(1, Math.min(availableParallelism() - 1, 4));

/** A thread takes some 100 ms to start, and 20 MB to stay. */
const IDLE_MS = 30_000;

/** A megapixel of noise takes a few seconds; what takes longer is stopped. */
const TIMEOUT_MS = 60_000;

export function openTracers(): Tracers {
  const turn = inTurn(MAX_THREADS);
  const idle: Worker[] = [];
  const stops = new Map<Worker, NodeJS.Timeout>();

  function take(): Worker {
    const worker = idle.pop() ?? openWorker();
    clearTimeout(stops.get(worker));
    return worker;
  }

  function giveBack(worker: Worker): void {
    idle.push(worker);
    stops.set(worker, setTimeout(() => stop(worker), IDLE_MS).unref());
  }

  function stop(worker: Worker): void {
    clearTimeout(stops.get(worker));
    stops.delete(worker);
    const index = idle.indexOf(worker);
    if (index >= 0) idle.splice(index, 1);
    void worker.terminate();
  }

  return {
    trace: (task) =>
      turn(async () => {
        const worker = take();
        try {
          const svg = await ask(worker, task);
          giveBack(worker);
          return svg;
        } catch (error) {
          stop(worker);
          throw error;
        }
      }),
    async close() {
      await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
      for (const timer of stops.values()) clearTimeout(timer);
    },
  };
}

/** A thread has one task at a time, so that it can be stopped when it takes too long. */
function ask(worker: Worker, task: TraceTask): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new Error('The outlines took too long.'))), TIMEOUT_MS);
    const onMessage = (svg: string): void => finish(() => resolve(svg));
    const onError = (error: unknown): void =>
      finish(() => reject(error instanceof Error ? error : new Error(String(error))));
    const onExit = (): void => onError(new Error('The thread that draws outlines has ended.'));
    function finish(settle: () => void): void {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit).unref();
      settle();
    }
    worker.ref();
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(task);
  });
}

function openWorker(): Worker {
  if (import.meta.url.endsWith('.ts')) return openUncompiledWorker(new URL('./trace-worker.ts', import.meta.url));
  return new Worker(new URL('./trace-worker.js', import.meta.url), { execArgv: [] });
}

/** In tests and benchmarks the sources are TypeScript, which a new thread can't read until told how. */
function openUncompiledWorker(url: URL): Worker {
  const start = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(url.href)}); })`;
  return new Worker(start, { eval: true, execArgv: [] });
}
