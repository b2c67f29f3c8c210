import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts a worker thread with a built module, also from the sources, which tests and benchmarks run. */
export function openThread(
  module: '../markdown/markdown-worker' | 'content/content-worker' | 'digests/digest-worker',
  options: WorkerOptions = {},
): Worker {
  const built = import.meta.url.replace(/^(.*)\/src\/(.*)\.ts$/u, '$1/dist/$2.js');
  const thread = new Worker(new URL(`./${module}.js`, built), { ...options, execArgv: [] });
  // Without a listener, an error ends the process: a thread may run out of memory while it is being terminated.
  return thread.on('error', () => undefined);
}
