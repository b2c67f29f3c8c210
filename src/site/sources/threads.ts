import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts a worker thread with a module of this folder, compiled or not. */
export function openThread(
  module: 'content/content-worker' | 'digests/digest-worker',
  options: WorkerOptions = {},
): Worker {
  if (import.meta.url.endsWith('.ts')) return openUncompiled(new URL(`./${module}.ts`, import.meta.url), options);
  return new Worker(new URL(`./${module}.js`, import.meta.url), { ...options, execArgv: [] });
}

/** In tests and benchmarks, the modules are TypeScript, which a new thread can load only with `tsx`. */
function openUncompiled(url: URL, options: WorkerOptions): Worker {
  const start = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(url.href)}); })`;
  return new Worker(start, { ...options, eval: true, execArgv: [] });
}
