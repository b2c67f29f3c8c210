import { watch as watchFolder } from 'node:fs';
import path from 'node:path';
import { matchesPattern } from './documents.js';
import type { Project } from './project.js';

/** Editors save a file in several steps within a few milliseconds, which must cause only one run. */
const QUIET_MILLISECONDS = 50;

/**
 * Calls `run` immediately and after each save of a document until the signal aborts. Runs never overlap. Resolves when
 * the last run has finished. `run` must not reject.
 */
export async function watch(project: Project, run: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(run);
    }, QUIET_MILLISECONDS);
  };

  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    watchDocuments(project, schedule, reject, signal);
    running = run();
  });
  clearTimeout(timer);
  await running;
}

function watchDocuments(
  { root, targets }: Project,
  onSave: () => void,
  onError: (error: Error) => void,
  signal: AbortSignal,
): void {
  const patterns = targets.flatMap(({ documents }) => documents);
  const folders = new Set(patterns.map((pattern) => path.posix.dirname(pattern)));
  for (const folder of folders) {
    const own = patterns.filter((pattern) => path.posix.dirname(pattern) === folder);
    const isDocument = (name: string | null) => name === null || own.some((pattern) => matchesPattern(pattern, name));
    watchFolder(path.join(root, folder), { signal }, (_event, name) => {
      if (isDocument(name)) onSave();
    }).on('error', onError);
  }
}
