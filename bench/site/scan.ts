import { rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build, runChild } from '../child.js';
import { alternate, median } from '../rounds.js';
import { toTable } from '../table.js';
import { makeFiles } from './make-files.js';

export interface ScanBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly rounds: number;
}

interface Measured {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
  readonly megabytes: number;
  readonly peakMegabytes?: number;
}

/** Measures a cold and a warm scan of a folder, each beside a bare walk, which is its lower bound. */
export async function benchScan({ files, folders, rounds }: ScanBenchOptions): Promise<string> {
  build();
  const directory = benchFolder({ files, folders });
  const state = `${directory}.state`;
  const threads = String(Math.min(availableParallelism(), 4));
  await warmUp(directory, state);
  const results = await alternate<Measured, string>(rounds, {
    'bare walk: stat': () => runChild('site/bare-walk-child.js', [directory, 'stat']),
    'warm start': () => runChild('site/scan-child.js', [directory, state]),
    'bare walk: stat and hash': () => runChild('site/bare-walk-child.js', [directory, 'hash', threads]),
    'cold scan': () => cold(directory, `${state}-cold`),
  });
  return report(results);
}

/** Returns the path of a folder with that many files, and creates it if it is missing. */
export function benchFolder(size: { files: number; folders: number }): string {
  const directory = path.join(tmpdir(), 'trellis-bench', `${size.files}-${size.folders}`);
  makeFiles(directory, size);
  return directory;
}

/** Two starts, because files made in the last two seconds are read twice. */
async function warmUp(directory: string, state: string): Promise<void> {
  await setTimeout(2100);
  await runChild('site/scan-child.js', [directory, state]);
  await runChild('site/scan-child.js', [directory, state]);
}

async function cold(directory: string, state: string): Promise<Measured> {
  rmSync(state, { recursive: true, force: true });
  return runChild('site/scan-child.js', [directory, state]);
}

const LIMITS: Readonly<Record<string, string>> = {
  'warm start': 'bare walk: stat',
  'cold scan': 'bare walk: stat and hash',
};

function report(results: Record<string, Measured[]>): string {
  const of = (name: string, field: keyof Measured): number =>
    median((results[name] ?? []).map((one) => one[field] ?? NaN));
  const rows = Object.keys(results).map((name) => {
    const limit = LIMITS[name];
    const ratio = limit === undefined ? '' : (of(name, 'milliseconds') / of(limit, 'milliseconds')).toFixed(2);
    const numbers = (['milliseconds', 'cpuMilliseconds', 'megabytes', 'peakMegabytes'] as const).map((field) =>
      of(name, field),
    );
    return [name, ...numbers.map((value) => (Number.isNaN(value) ? '' : value.toFixed(0))), ratio];
  });
  return toTable(['', 'ms', 'CPU ms', 'RSS MB', 'peak MB', 'of its limit'], rows);
}
