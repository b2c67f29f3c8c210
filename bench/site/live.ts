import { rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openSite, type Site } from '@trellis/site/site';
import { records } from '../../src/generated/site/records.js';
import { toTable } from '../table.js';
import { benchFolder } from './scan.js';

export interface LiveBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly changes: number;
}

/** Measures the delay until a query sees a change: edits of one file, and files that are created and deleted. */
export async function benchLive({ files, folders, changes }: LiveBenchOptions): Promise<string> {
  const directory = benchFolder({ files, folders });
  const stateDirectory = `${directory}.state-live`;
  const site = await openSite({ directory, stateDirectory, tables: records, watch: {} });
  const file = path.join(directory, 'changing.md');
  try {
    // The first change reads the stored records once.
    const first = await visibleAfter(site, file, 1);
    const edits: number[] = [];
    const renewals: number[] = [];
    for (let size = 2; size < changes + 2; size += 1) {
      edits.push(await visibleAfter(site, file, size));
      renewals.push(await visibleAfter(site, path.join(directory, `changing-${size}.md`), size));
      rmSync(path.join(directory, `changing-${size}.md`));
      await setTimeout(100);
    }
    const rows = Object.entries({ first: [first], edit: edits, 'new file': renewals });
    return toTable(
      [`ms until visible, ${files} files`, 'p50', 'p99', 'longest'],
      rows.map(([name, times]) => [name, ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(0))]),
    );
  } finally {
    site.close();
    rmSync(file, { force: true });
    rmSync(stateDirectory, { recursive: true, force: true });
  }
}

async function visibleAfter({ store }: Site, file: string, size: number): Promise<number> {
  writeFileSync(file, 'x'.repeat(size));
  const { ino } = statSync(file);
  const started = performance.now();
  const query = { filter: { absolutePath: { eq: file }, size: { eq: size }, ino: { eq: ino } } };
  while (store.find('File', query, { values: [], relations: [] }) === undefined) await setTimeout(2);
  return performance.now() - started;
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
