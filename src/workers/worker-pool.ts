import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Log } from '@trellis/server/http/request';
import type { FromWorker, ToWorker } from './primary-link.js';

/** A worker that serves requests, or is about to. */
interface RunningWorker {
  readonly process: Worker;
  readonly startedAt: number;
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>;
  isListening: boolean;
  isReady: boolean;
  isSiteSettled: boolean;
}

export interface WorkerPoolOptions {
  readonly count: number;
  readonly log: Log;
  /** Receives the messages of workers. */
  readonly onMessage: (message: FromWorker, reply: (message: ToWorker) => void) => void;
}

export interface WorkerPool {
  /**
   * Resolves with the origin of the server when all workers serve requests.
   *
   * @throws Error with the message of the first worker that could not start.
   */
  readonly ready: Promise<string>;
  /** Resolves when all workers serve the site, or know why it can't be served. */
  readonly siteSettled: Promise<void>;
  /** The number of workers that serve requests. */
  readonly readyCount: number;
  /** How many workers have ended unexpectedly. */
  readonly failures: number;
  /** Sends a message to all workers that listen. */
  broadcast(message: ToWorker): void;
  /** Stops all workers, and kills those that have not ended by then. */
  stop(killAfterMs: number): Promise<void>;
}

/** The pauses before a worker is replaced: it grows while replacements end soon after their start. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;

/** A worker that has run for this long did not fail at its start. */
const STABLE_MS = 30_000;

/** Starts the workers, and replaces those that end. */
export function startWorkers(options: WorkerPoolOptions): WorkerPool {
  return new ClusterPool(options);
}

class ClusterPool implements WorkerPool {
  readonly ready: Promise<string>;
  readonly siteSettled: Promise<void>;
  failures = 0;
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Map<number, RunningWorker>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #settle!: { readonly resolve: (origin: string) => void; readonly reject: (reason: Error) => void };
  #settleSite!: () => void;
  #isStarted = false;
  #isStopping = false;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.siteSettled = new Promise((resolve) => (this.#settleSite = resolve));
    // The caller may stop the workers before it waits for them.
    this.ready.catch(() => undefined);
    cluster.setupPrimary({ serialization: 'advanced' });
    for (let place = 0; place < options.count; place += 1) this.#start();
  }

  get readyCount(): number {
    return [...this.#workers.values()].filter(({ isReady }) => isReady).length;
  }

  broadcast(message: ToWorker): void {
    for (const { process, isListening } of this.#workers.values()) if (isListening) send(process, message);
  }

  async stop(killAfterMs: number): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const workers = [...this.#workers.values()];
    for (const { process } of workers) send(process, { kind: 'stop' });
    const timer = setTimeout(() => {
      for (const { process } of this.#workers.values()) process.process.kill('SIGKILL');
    }, killAfterMs);
    await Promise.all(workers.map(({ ended }) => ended));
    clearTimeout(timer);
  }

  #start(): void {
    const process = cluster.fork();
    const ended = new Promise<string>((resolve) => {
      process.on('exit', (code, signal) => resolve(signal ? `with ${signal}` : `with exit code ${code}`));
      // Otherwise, a message to a worker that has just ended could not be sent.
      process.on(
        'error',
        ({ message }) => process.process.pid === undefined && resolve(`before it started: ${message}`),
      );
    });
    const worker = {
      process,
      startedAt: performance.now(),
      ended,
      isListening: false,
      isReady: false,
      isSiteSettled: false,
    };
    this.#workers.set(process.id, worker);
    process.on('message', (message: FromWorker) => this.#receive(worker, message));
    void ended.then(async (how) => {
      // Its last messages, such as the reason of its end, may still arrive.
      if (process.isConnected()) await once(process, 'disconnect');
      this.#replace(worker, how);
    });
  }

  #receive(worker: RunningWorker, message: FromWorker): void {
    const { log, onMessage, count } = this.#options;
    if (message.kind === 'listening') worker.isListening = true;
    if (message.kind === 'ready') {
      worker.isReady = true;
      this.#isStarted ||= this.readyCount === count;
      if (this.#isStarted) this.#settle.resolve(message.origin);
    }
    if (message.kind === 'site-settled') {
      worker.isSiteSettled = true;
      const settled = [...this.#workers.values()].filter(({ isSiteSettled }) => isSiteSettled);
      if (settled.length === count) this.#settleSite();
    }
    if (message.kind === 'failed') {
      if (this.#isStarted) log.error(`A worker can't start: ${message.message}`);
      this.#settle.reject(new Error(message.message));
    }
    onMessage(message, (reply) => send(worker.process, reply));
  }

  #replace({ process, startedAt }: RunningWorker, how: string): void {
    this.#workers.delete(process.id);
    if (this.#isStopping) return;
    if (!this.#isStarted) {
      this.#settle.reject(new Error(`a worker ended ${how} while it started`));
      return;
    }
    const { log } = this.#options;
    this.failures += 1;
    this.#pauseMs =
      performance.now() - startedAt < STABLE_MS ? Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    log.error({ worker: process.id }, `Worker ${process.id} ended ${how}. A new one replaces it.`);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#start();
    }, this.#pauseMs);
    this.#timers.add(timer);
  }
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
