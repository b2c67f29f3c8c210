import { ContractError } from './contract-error.js';
import type { Mistake } from './contract-error.js';
import { readDocuments } from './documents.js';
import type { Details } from './generated.js';
import type { Project, Target } from './project.js';

/** A target with the documents that it is made from. */
export interface Job {
  target: Target;
  documents: ReadonlyMap<string, string>;
}

/** What graphql-codegen made of a target. */
export interface Made {
  target: Target;
  /** Path from the root → text. */
  files: ReadonlyMap<string, string>;
  details: Details;
}

/** Reads the documents of every target. @throws ContractError when one has none. */
export async function readJobs({ root, targets }: Project): Promise<Job[]> {
  return all(targets, async (target) => ({ target, documents: await readDocuments(root, target.documents) }));
}

/**
 * Runs graphql-codegen in memory, once for each target so that a mistake in one
 * hides no mistake in another. Results are in the order given.
 *
 * @throws ContractError with the mistakes of all of them.
 */
export async function runTargets(project: Project, targets: readonly Target[]): Promise<Made[]> {
  return all(targets, (target) => runTarget(project, target));
}

async function runTarget({ root, config }: Project, target: Target): Promise<Made> {
  const { CodegenContext, executeCodegen } = await import('@graphql-codegen/cli');
  const generates = { [target.output]: config.generates[target.output] ?? [] };
  const context = new CodegenContext({ config: { ...config, cwd: root, silent: true, generates } });
  const { result, error } = await executeCodegen(context);
  if (error) throw error instanceof AggregateError && error.errors.length === 1 ? (error.errors[0] as Error) : error;
  const details = context.getPluginContext()[target.output] as Details | undefined;
  return {
    target,
    files: new Map(result.map(({ filename, content }) => [filename, content])),
    details: details ?? { origins: new Map(), stubs: [] },
  };
}

/** Puts the files of several targets together. @throws Error when two make the same file. */
export function mergeFiles(made: readonly Pick<Made, 'files'>[]): Map<string, string> {
  const merged = new Map<string, string>();
  for (const [name, text] of made.flatMap(({ files }) => [...files])) {
    if (merged.has(name)) throw new Error(`Expected one target to make ${name}; two do.`);
    merged.set(name, text);
  }
  return merged;
}

/** Waits for all, so that the mistakes of every target are told at once. */
async function all<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(items.map(run));
  const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const defect = errors.find((error) => !(error instanceof ContractError));
  if (defect !== undefined) throw new Error('A generator failed.', { cause: defect });
  if (errors.length > 0) throw new ContractError(sortMistakes((errors as ContractError[]).flatMap((e) => e.mistakes)));
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Orders mistakes by place and drops the repetitions that a document shared by targets brings. */
function sortMistakes(mistakes: readonly Mistake[]): Mistake[] {
  const byPlace = [...mistakes].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.message, b.message),
  );
  return byPlace.filter((mistake, index) => JSON.stringify(mistake) !== JSON.stringify(byPlace[index - 1]));
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
