import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Types } from '@graphql-codegen/plugin-helpers';
import {
  ContractError,
  type Diagnostic,
  digestTexts,
  findText,
  listFiles,
  readDocuments,
  readFolder,
  removeFiles,
  throwDiagnostics,
  writeFiles,
} from '../documents.js';
import type { OutputDetails, Stub } from '../output.js';
import { defaultParallelism, isSelfContained, type OutputFiles, runInThreads } from './run-output.js';

/** The result of a run. Paths are relative to the root. */
export interface GenerateResult {
  written: readonly string[];
  removed: readonly string[];
  unchanged: number;
  /** Outputs of `codegen.ts` that were generated. */
  generated: readonly string[];
  /** The stubs of all targets. */
  stubs: readonly Stub[];
  /** The warnings of the targets that ran. */
  warnings: readonly Diagnostic[];
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
  const { onDisk, fresh, due } = await findDue(project, useCache);
  const outputs = await runTargets(project, due);
  const files = new Map(outputs.flatMap((output) => [...output.files]));
  const cached = new Set(Object.values(fresh).flatMap((entry) => Object.keys(entry.outputs)));
  const written = new Map([...files].filter(([name, text]) => onDisk.get(name) !== text));
  const removed = [...onDisk.keys()].filter((name) => !files.has(name) && !cached.has(name));

  await writeFiles(project.root, written);
  await removeFiles(project.root, removed);
  const entries = due.map((job, index) => [job.target.output, toEntry(project, job, outputs[index])] as const);
  if (due.length > 0) await writeCache(project.root, { ...fresh, ...Object.fromEntries(entries) });

  return {
    written: [...written.keys()],
    removed,
    unchanged: files.size + cached.size - written.size,
    generated: due.map(({ target }) => target.output),
    stubs: [...Object.values(fresh).flatMap(({ stubs }) => stubs), ...outputs.flatMap(({ details }) => details.stubs)],
    warnings: outputs.flatMap(({ details }) => details.warnings ?? []),
  };
}

/** The state of a project before a run. */
interface DueTargets {
  /** The generated files: path from the root → text. */
  readonly onDisk: ReadonlyMap<string, string>;
  /** The entries of the targets whose inputs and outputs have not changed since their last run. */
  readonly fresh: Cache;
  /** All other targets. */
  readonly due: readonly LoadedTarget[];
}

/** Finds the targets that have to run. */
export async function findDue(project: Project, useCache: boolean): Promise<DueTargets> {
  const jobs = await loadTargets(project);
  const [onDisk, cache] = await Promise.all([readGenerated(project.root), useCache ? readCache(project.root) : {}]);
  const fresh = freshEntries(project, jobs, onDisk, cache);
  return { onDisk, fresh, due: jobs.filter(({ target }) => !Object.hasOwn(fresh, target.output)) };
}

/** The folder that contains only generated files. */
const GENERATED = 'src/generated';

/** The folder of the generating code: this package. */
const GENERATORS = fileURLToPath(new URL('..', import.meta.url));

/** A repository whose `src/generated` is generated from contract documents. */
export interface Project {
  root: string;
  /** The default export of `codegen.ts`. */
  config: Types.Config;
  targets: readonly CodegenTarget[];
  /** Digest of the generating code. Computed once, as the process does not reload code that changes later. */
  generators: string;
  /** Receives the outputs that are being made, with the number of characters in their documents; none at the end. */
  onProgress?: (due: ReadonlyMap<string, number>) => void;
}

/** An entry of `generates` in `codegen.ts`. */
interface CodegenTarget {
  /** The key of the entry: a file, or a folder with a trailing slash. */
  output: string;
  /** Paths or patterns of its documents, from the root. A `*` in the file name matches any characters. */
  documents: readonly string[];
}

/**
 * Opens the repository at `root` for generation with the code in a folder.
 *
 * @throws ContractError when an output is outside `src/generated`.
 */
export async function openProject(root: string, config: Types.Config, generators = GENERATORS): Promise<Project> {
  return { root, config, targets: listTargets(config), generators: await digestGenerators(root, generators) };
}

/** Lists the entries of `generates`. @throws ContractError when an output is outside `src/generated`. */
export const listTargets = (config: Types.Config): readonly CodegenTarget[] =>
  Object.keys(config.generates).map((output) => toTarget(config, output));

/** Creates the error of a mistake in the list of targets, whose lines are not known. */
const configError = (message: string): ContractError =>
  new ContractError([{ file: 'codegen.ts', line: 1, column: 1, message }]);

function toTarget(config: Types.Config, output: string): CodegenTarget {
  if (!output.startsWith(`${GENERATED}/`))
    throw configError(`Expected an output below ${GENERATED}; received ${output}.`);
  const settings = config.generates[output] ?? [];
  const { schema, documents, watchPattern } = Array.isArray(settings) ? {} : settings;
  const pointers = [config.schema, schema, config.documents, documents, watchPattern].flatMap(listOf);
  return {
    output,
    documents: pointers.flatMap((pointer) => (typeof pointer === 'string' ? pointer : Object.keys(pointer))),
  };
}

const listOf = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/**
 * Reads every file below `src/generated`: path from the root → text. Line ends are those of the generators, as git changes
 * them on Windows.
 */
export async function readGenerated(root: string): Promise<Map<string, string>> {
  const files = await readFolder(path.join(root, GENERATED));
  return new Map([...files].map(([name, text]) => [`${GENERATED}/${name}`, text.replaceAll('\r\n', '\n')]));
}

/** Returns a digest of the generating code: the generators, `codegen.ts` and the versions of the libraries. */
async function digestGenerators(root: string, folder: string): Promise<string> {
  const settings = ['codegen.ts', 'package-lock.json'].map((name) => path.join(root, name));
  const generators = (await listFiles(folder)).map((name) => path.join(folder, name));
  const files = [...settings, ...generators];
  return digestTexts(await Promise.all(files.map(async (file) => [file, (await findText(file)) ?? ''] as const)));
}

/** The output of a target. */
export interface TargetOutput {
  target: CodegenTarget;
  /** Path from the root → text. */
  files: ReadonlyMap<string, string>;
  details: OutputDetails;
}

/**
 * Runs targets in memory, and reports the errors of all of them. Results are in the order of the targets.
 *
 * @param parallelism The number of threads for targets with large documents. The output of a thread has no origins.
 * @throws ContractError with the errors of all targets.
 * @throws Error when two targets generate the same file.
 */
export async function runTargets(
  { root, config, onProgress }: Project,
  jobs: readonly LoadedTarget[],
  parallelism = defaultParallelism(),
): Promise<TargetOutput[]> {
  const isOwn = ({ target }: LoadedTarget): boolean => isSelfContained(config, target.output);
  const others = jobs.filter((job) => !isOwn(job));
  const due = new Map(jobs.map(({ target, documents }) => [target.output, countCharacters(documents)]));
  const sized = jobs.filter(isOwn).map(({ target: { output } }) => ({ output, size: due.get(output) ?? 0 }));
  const onDone = (output: string): void => {
    due.delete(output);
    onProgress?.(due);
  };
  onProgress?.(due);
  const [inThreads, byCommand] = await Promise.all([
    runInThreads(root, config, sized, { parallelism, onDone }),
    Promise.allSettled(
      others.map(({ target: { output } }) => runWithCommand(root, config, output).finally(() => onDone(output))),
    ),
  ]);
  const rejected = [...inThreads.values(), ...byCommand].filter((result) => result.status === 'rejected');
  throwErrors(rejected.flatMap(({ reason }) => unwrap(reason)));
  const results = new Map([
    ...inThreads,
    ...others.map(({ target }, index) => [target.output, byCommand[index]] as const),
  ]);
  const outputs = jobs.map(({ target }) => {
    const result = results.get(target.output);
    const { files, details = NO_DETAILS } = result?.status === 'fulfilled' ? result.value : NO_FILES;
    return { target, files, details };
  });
  const names = outputs.flatMap(({ files }) => [...files.keys()]);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw configError(`Two targets generate ${repeated}.`);
  return outputs;
}

const countCharacters = (documents: ReadonlyMap<string, string>): number =>
  [...documents.values()].reduce((sum, text) => sum + text.length, 0);

/** Runs an output that needs the loaders of graphql-codegen. */
async function runWithCommand(root: string, config: Types.Config, output: string): Promise<OutputFiles> {
  const { CodegenContext, executeCodegen } = await import('@graphql-codegen/cli').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw configError(`The target ${output} has documents: install @graphql-codegen/cli.`);
  });
  const generates = { [output]: config.generates[output] ?? [] };
  const context = new CodegenContext({ config: { ...config, cwd: root, silent: true, generates } });
  const { result, error } = await executeCodegen(context);
  if (error) throw error;
  return {
    files: new Map(result.map(({ filename, content }) => [filename, content])),
    details: context.getPluginContext()[output] as OutputDetails | undefined,
  };
}

const unwrap = (error: unknown): unknown[] => (error instanceof AggregateError ? error.errors : [error]);

const NO_DETAILS: OutputDetails = { origins: () => new Map(), stubs: [] };
const NO_FILES: OutputFiles = { files: new Map(), details: NO_DETAILS };

/** Throws the contract errors of all targets together, or the first other error of a generator. */
function throwErrors(errors: readonly unknown[]): void {
  const unexpected = errors.find((error) => !(error instanceof ContractError));
  if (unexpected !== undefined) throw new Error('A generator failed.', { cause: unexpected });
  throwDiagnostics((errors as ContractError[]).flatMap(({ diagnostics }) => diagnostics));
}

/** A target with the text of its documents. */
export interface LoadedTarget {
  target: CodegenTarget;
  documents: ReadonlyMap<string, string>;
}

/** Reads the documents of every target. @throws ContractError when a pattern matches no document. */
async function loadTargets({ root, targets }: Project): Promise<LoadedTarget[]> {
  const loaded = await Promise.allSettled(
    targets.map(async (target) => ({ target, documents: await readDocuments(root, target.documents) })),
  );
  throwErrors(loaded.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : [])));
  return loaded.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** The digests of the last run of a target. */
interface CacheEntry {
  /** Digest of the documents, the settings of the target and the generating code. */
  inputs: string;
  /** Path below `src/generated` → digest of its text. */
  outputs: Readonly<Record<string, string>>;
  stubs: readonly Stub[];
}

/** Target name → the digests of its last run. */
type Cache = Readonly<Record<string, CacheEntry>>;

const CACHE_FOLDER = '.cache';
const CACHE_FILE = 'generate.json';

/** Reads the cache. A missing or invalid cache counts as empty, which only costs time. */
async function readCache(root: string): Promise<Cache> {
  try {
    const cache: unknown = JSON.parse((await findText(path.join(root, CACHE_FOLDER, CACHE_FILE))) ?? '{}');
    return isRecord(cache) && Object.values(cache).every(isEntry) ? (cache as Cache) : {};
  } catch {
    return {};
  }
}

async function writeCache(root: string, cache: Cache): Promise<void> {
  await writeFiles(path.join(root, CACHE_FOLDER), new Map([[CACHE_FILE, JSON.stringify(cache)]]));
}

function isEntry(value: unknown): boolean {
  return isRecord(value) && typeof value.inputs === 'string' && isRecord(value.outputs) && Array.isArray(value.stubs);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

function toEntry(project: Project, job: LoadedTarget, output?: TargetOutput): CacheEntry {
  const digests = [...(output?.files ?? [])].map(([name, text]) => [name, digestTexts([[name, text]])]);
  return {
    inputs: digestInputs(project, job),
    outputs: Object.fromEntries(digests) as Record<string, string>,
    stubs: output?.details.stubs ?? [],
  };
}

const digestInputs = ({ config, generators }: Project, { target, documents }: LoadedTarget) =>
  digestTexts([['', generators], ['settings', JSON.stringify(config.generates[target.output])], ...documents]);
