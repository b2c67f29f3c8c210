import { digestTexts, readCache, writeCache } from './cache.js';
import type { Cache, CacheEntry } from './cache.js';
import { removeFiles, writeFiles } from './files.js';
import type { Stub } from './generator-output.js';
import { readGenerated } from './project.js';
import type { Project } from './project.js';
import { mergeFiles, loadTargets, runTargets } from './run-targets.js';
import type { LoadedTarget } from './run-targets.js';

/** The result of a run. Paths are relative to the root. */
export interface GenerateResult {
  written: readonly string[];
  removed: readonly string[];
  unchanged: number;
  /** Outputs of `codegen.ts` that were generated. */
  generated: readonly string[];
  /** The stubs of the targets that ran. */
  stubs: readonly Stub[];
}

/**
 * Updates `src/generated`: writes changed files, removes files that no target generates, and leaves all others
 * untouched.
 *
 * A target runs if its documents, its files or the generating code changed since the last run. Without `useCache`,
 * every target runs.
 *
 * @throws ContractError before any file is changed.
 */
export async function generate(project: Project, { useCache } = { useCache: true }): Promise<GenerateResult> {
  const jobs = await loadTargets(project);
  const [onDisk, cache] = await Promise.all([readGenerated(project.root), useCache ? readCache(project.root) : {}]);
  const fresh = freshEntries(project, jobs, onDisk, cache);
  const due = jobs.filter(({ target }) => !Object.hasOwn(fresh, target.output));

  const outputs = await runTargets(
    project,
    due.map(({ target }) => target),
  );
  const files = mergeFiles(outputs);
  const cached = new Set(Object.values(fresh).flatMap((entry) => Object.keys(entry.outputs)));
  const written = new Map([...files].filter(([name, text]) => onDisk.get(name) !== text));
  const removed = [...onDisk.keys()].filter((name) => !files.has(name) && !cached.has(name));

  await writeFiles(project.root, written);
  await removeFiles(project.root, removed);
  const entries = due.map((job, index) => [job.target.output, toEntry(project, job, outputs[index]?.files)] as const);
  if (due.length > 0) await writeCache(project.root, { ...fresh, ...Object.fromEntries(entries) });

  return {
    written: [...written.keys()],
    removed,
    unchanged: files.size + cached.size - written.size,
    generated: due.map(({ target }) => target.output),
    stubs: outputs.flatMap(({ details }) => details.stubs),
  };
}

/** Returns the cache entries whose inputs and outputs have not changed. */
function freshEntries(
  project: Project,
  jobs: readonly LoadedTarget[],
  onDisk: ReadonlyMap<string, string>,
  cache: Cache,
): Cache {
  const digests = new Map([...onDisk].map(([name, text]) => [name, digestTexts([[name, text]])]));
  const isFresh = ({ inputs, outputs }: CacheEntry, job: LoadedTarget) =>
    inputs === digestInputs(project, job) &&
    Object.entries(outputs).every(([name, digest]) => digests.get(name) === digest);
  const entries = jobs.flatMap((job): [string, CacheEntry][] => {
    const entry = cache[job.target.output];
    return entry !== undefined && isFresh(entry, job) ? [[job.target.output, entry]] : [];
  });
  return Object.fromEntries(entries);
}

function toEntry(project: Project, job: LoadedTarget, files: ReadonlyMap<string, string> = new Map()): CacheEntry {
  const outputs = [...files].map(([name, text]) => [name, digestTexts([[name, text]])]);
  return { inputs: digestInputs(project, job), outputs: Object.fromEntries(outputs) as Record<string, string> };
}

const digestInputs = ({ generators }: Project, { documents }: LoadedTarget) =>
  digestTexts([['', generators], ...documents]);
