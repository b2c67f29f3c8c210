import { build, runChild } from '../child.js';
import { median } from '../rounds.js';
import { toTable } from '../table.js';
import { SCALE_QUERIES, type ScaleQuery } from './scale-queries.js';
import { benchFolder } from './scan.js';

export interface ScaleBenchOptions {
  readonly rounds: number;
  /** The number of files on the small site. */
  readonly few: number;
  /** The number of files on the large site. */
  readonly files: number;
}

interface Measured {
  readonly first: readonly number[];
  readonly again: readonly number[];
  /** The number of records on the page. */
  readonly rows?: number;
}

type Times = Readonly<Record<string, Measured>>;

/** Measures queries over few and many files in one process, in turns: after a record changed, and repeated. */
export async function benchScale({ rounds, few: fewFiles, files }: ScaleBenchOptions): Promise<string> {
  build();
  const directories = [fewFiles, files].map((size) => benchFolder({ files: size, folders: size / 20 }));
  const input = JSON.stringify([SCALE_QUERIES, rounds, ...directories]);
  const [few, many] = await runChild<[Times, Times]>('site/scale-child.js', [input]);
  const rows = SCALE_QUERIES.map((query) => rowOf(query, few, many));
  return toTable(
    [
      'query',
      `${fewFiles.toLocaleString('en')}: first, ms`,
      'again',
      `${files.toLocaleString('en')}: first, ms`,
      'again',
      'records',
      'times',
      'at most',
    ],
    rows,
  );
}

function rowOf({ name, bound }: ScaleQuery, few: Times, many: Times): string[] {
  const of = (times: Times, which: 'first' | 'again'): number => median(times[name]?.[which] ?? []);
  const times = of(many, 'again') / of(few, 'again');
  const shown = [of(few, 'first'), of(few, 'again'), of(many, 'first'), of(many, 'again')].map((ms) => ms.toFixed(2));
  const records = [few, many].map((measured) => measured[name]?.rows ?? '').join(' ');
  return [
    name,
    ...shown,
    records,
    times.toFixed(2),
    'times' in bound ? `${bound.times} times` : `${bound.milliseconds} ms`,
  ];
}
