/** Runs the outputs with large documents in threads, at the same time as the others. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Types } from '@graphql-codegen/plugin-helpers';
import { ContractError, type Location } from '../documents.js';
import type { OutputResult, WorkerInput } from './output-worker.js';
import { type OutputFiles, runOutputs } from './run-output.js';

/** The settled runs of outputs, by output. */
export type SettledOutputs = ReadonlyMap<string, PromiseSettledResult<OutputFiles>>;

/** Smaller documents take less time than a thread takes to load the libraries. */
const LARGE = 100_000;

/** The sources need a compiler in each thread, which takes longer than a thread saves. */
const isBuilt = import.meta.url.endsWith('.js');

/** Returns how many threads run outputs by default, with this one. */
export const defaultParallelism = (): number => (isBuilt ? availableParallelism() : 1);

/** An output that needs nothing but its preset. */
interface SizedOutput {
  readonly output: string;
  /** The number of characters in its documents. */
  readonly size: number;
}

/** Runs outputs in as many threads as their sizes are worth, with this one. */
export async function runInThreads(
  root: string,
  config: Types.Config,
  outputs: readonly SizedOutput[],
  parallelism: number,
): Promise<SettledOutputs> {
  const sized = outputs.map(({ output, size }) => ({ output, size: isPlain(config.generates[output]) ? size : 0 }));
  const [own = [], ...others] = divide(sized, parallelism);
  const runs = await Promise.all([
    ...others.map((group) => runInThread(root, config, group)),
    runOutputs(root, config, own),
  ]);
  const groups = [...others, own];
  return new Map(
    groups.flatMap((group, index) =>
      group.flatMap((output, at) => {
        const result = runs[index]?.[at];
        return result === undefined ? [] : [[output, result] as const];
      }),
    ),
  );
}

/** Returns whether a thread can receive settings: those with functions stay in this one. */
function isPlain(settings: unknown): boolean {
  try {
    structuredClone(settings);
    return true;
  } catch {
    return false;
  }
}

/** Divides outputs into groups of similar sizes. The first has all small outputs, and is never empty. */
export function divide(outputs: readonly SizedOutput[], parallelism: number): readonly (readonly string[])[] {
  const small = outputs.filter(({ size }) => size < LARGE);
  const large = outputs.filter(({ size }) => size >= LARGE).toSorted((a, b) => b.size - a.size);
  const groups = [[...small, ...(small.length === 0 ? large.splice(-1) : [])]];
  for (const output of large) {
    if (groups.length < parallelism) groups.push([output]);
    else groups.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0]?.push(output);
  }
  return groups.map((group) => group.map(({ output }) => output));
}

const sizeOf = (group: readonly SizedOutput[]): number => group.reduce((sum, { size }) => sum + size, 0);

function runInThread(
  root: string,
  config: Types.Config,
  outputs: readonly string[],
): Promise<readonly PromiseSettledResult<OutputFiles>[]> {
  const generates = Object.fromEntries(outputs.map((output) => [output, config.generates[output] ?? []]));
  const { config: shared, importExtension } = config;
  const workerData: WorkerInput = { root, outputs, config: { config: shared, importExtension, generates } };
  const worker = new Worker(new URL('./output-worker.js', import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    worker.once('message', (results: readonly OutputResult[]) => resolve(results.map(toSettled)));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A thread of the generators ended with code ${code}.`)));
  });
}

/** The origins of the output of a thread, which cannot send functions. */
export const NO_ORIGINS = (): ReadonlyMap<string, Location> => new Map();

function toSettled(result: OutputResult): PromiseSettledResult<OutputFiles> {
  if ('reason' in result) return { status: 'rejected', reason: result.reason };
  if ('diagnostics' in result) return { status: 'rejected', reason: new ContractError([...result.diagnostics]) };
  const { files, stubs, warnings } = result;
  return { status: 'fulfilled', value: { files, details: { origins: NO_ORIGINS, stubs, warnings } } };
}
