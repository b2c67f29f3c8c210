/** A thread that runs outputs, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Types } from '@graphql-codegen/plugin-helpers';
import { ContractError, type Diagnostic } from '../documents.js';
import type { Stub } from '../output.js';
import { type OutputFiles, runOutputs } from './run-output.js';

export interface WorkerInput {
  readonly root: string;
  readonly config: Types.Config;
  readonly outputs: readonly string[];
}

/** The part of a settled output that can be sent: not the functions that locate generated lines. */
export type OutputResult =
  | {
      readonly files: ReadonlyMap<string, string>;
      readonly stubs: readonly Stub[];
      readonly warnings: readonly Diagnostic[];
    }
  | { readonly diagnostics: readonly Diagnostic[] }
  | { readonly reason: unknown };

function toResult(settled: PromiseSettledResult<OutputFiles>): OutputResult {
  if (settled.status === 'fulfilled') {
    const { files, details } = settled.value;
    return { files, stubs: details?.stubs ?? [], warnings: details?.warnings ?? [] };
  }
  const reason: unknown = settled.reason;
  return reason instanceof ContractError ? { diagnostics: reason.diagnostics } : { reason };
}

const { root, config, outputs } = workerData as WorkerInput;
const settled = await runOutputs(root, config, outputs);
parentPort?.postMessage(settled.map(toResult));
