import { ContractError } from './contract-error.js';
import type { Diagnostic } from './contract-error.js';
import { readDocuments } from './documents.js';
import type { OutputDetails } from './generator-output.js';
import type { Project, CodegenTarget } from './project.js';

/** A target with the text of its documents. */
export interface LoadedTarget {
  target: CodegenTarget;
  documents: ReadonlyMap<string, string>;
}

/** The output of a target. */
export interface TargetOutput {
  target: CodegenTarget;
  /** Path from the root → text. */
  files: ReadonlyMap<string, string>;
  details: OutputDetails;
}

/** Reads the documents of every target. @throws ContractError when a pattern matches no document. */
export async function loadTargets({ root, targets }: Project): Promise<LoadedTarget[]> {
  return all(targets, async (target) => ({ target, documents: await readDocuments(root, target.documents) }));
}

/**
 * Runs graphql-codegen in memory, separately for each target, so that an error in one target does not hide the errors
 * of others. Results are in the order of the targets.
 *
 * @throws ContractError with the errors of all targets.
 */
export async function runTargets(project: Project, targets: readonly CodegenTarget[]): Promise<TargetOutput[]> {
  return all(targets, (target) => runTarget(project, target));
}

async function runTarget({ root, config }: Project, target: CodegenTarget): Promise<TargetOutput> {
  const { CodegenContext, executeCodegen } = await import('@graphql-codegen/cli');
  const generates = { [target.output]: config.generates[target.output] ?? [] };
  const context = new CodegenContext({ config: { ...config, cwd: root, silent: true, generates } });
  const { result, error } = await executeCodegen(context);
  if (error) throw error instanceof AggregateError && error.errors.length === 1 ? (error.errors[0] as Error) : error;
  const details = context.getPluginContext()[target.output] as OutputDetails | undefined;
  return {
    target,
    files: new Map(result.map(({ filename, content }) => [filename, content])),
    details: details ?? { origins: new Map(), stubs: [] },
  };
}

/** Merges the files of several targets. @throws Error when two targets generate the same file. */
export function mergeFiles(outputs: readonly Pick<TargetOutput, 'files'>[]): Map<string, string> {
  const merged = new Map<string, string>();
  for (const [name, text] of outputs.flatMap(({ files }) => [...files])) {
    if (merged.has(name)) throw new Error(`Two targets generate ${name}.`);
    merged.set(name, text);
  }
  return merged;
}

/** Waits for all items, so that the contract errors of every target are reported together. */
async function all<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(items.map(run));
  const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const unexpected = errors.find((error) => !(error instanceof ContractError));
  if (unexpected !== undefined) throw new Error('A generator failed.', { cause: unexpected });
  if (errors.length > 0)
    throw new ContractError(sortDiagnostics((errors as ContractError[]).flatMap((e) => e.diagnostics)));
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Sorts errors by position and removes the duplicates that a document shared by several targets causes. */
function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const byPlace = [...diagnostics].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.message, b.message),
  );
  return byPlace.filter((diagnostic, index) => JSON.stringify(diagnostic) !== JSON.stringify(byPlace[index - 1]));
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
