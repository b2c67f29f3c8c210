import { findSourceLine } from './find-source-line.js';
import type { Location } from './contract-error.js';
import type { OutputDetails } from './generator-output.js';
import { readGenerated } from './project.js';
import type { Project } from './project.js';
import { mergeFiles, runTargets } from './run-targets.js';

/** A file of `src/generated` that differs from the output of the generators. */
export interface Difference {
  /** Path from the root. */
  file: string;
  kind: 'missing' | 'edited' | 'stale';
  /** The number of the first line that differs, from 1. */
  line: number;
  /** That line as generated and as found on disk; absent past the end of the file. */
  expected?: string | undefined;
  found?: string | undefined;
  /** The contract line that the generated line comes from. */
  origin?: Location | undefined;
}

/**
 * Compares `src/generated` with the output of the generators. Generates everything in memory, ignores the cache and
 * changes no file.
 *
 * @throws ContractError when the contract has errors.
 */
export async function check(project: Project): Promise<Difference[]> {
  const outputs = await runTargets(project, project.targets);
  const onDisk = await readGenerated(project.root);
  const files = mergeFiles(outputs);
  const differing = outputs.flatMap(({ target, files: own, details }) =>
    [...own].flatMap(([file, text]) => {
      const found = onDisk.get(file);
      const locateLine = details.lineOrigins?.get(file.slice(target.output.length));
      return found === text ? [] : [toDifference(file, text, found, { ...details, locateLine })];
    }),
  );
  const stale = [...onDisk.keys()].filter((file) => !files.has(file));
  return [...differing, ...stale.map((file): Difference => ({ file, kind: 'stale', line: 1 }))];
}

interface Origins extends Pick<OutputDetails, 'origins'> {
  /** Finds the contract line of a generated line, for files that have line origins instead of named ones. */
  locateLine: ((line: number) => Location | undefined) | undefined;
}

function toDifference(file: string, text: string, foundText: string | undefined, origins: Origins): Difference {
  const expected = text.split('\n');
  if (foundText === undefined) return { file, kind: 'missing', line: 1 };
  const found = foundText.split('\n');
  const index = expected.findIndex((line, at) => line !== found[at]);
  const at = index < 0 ? expected.length : index;
  const { locateLine } = origins;
  const origin = locateLine ? locateLine(at + 1) : findSourceLine(expected, at, found[at], origins.origins);
  return { file, kind: 'edited', line: at + 1, expected: expected[at], found: found[at], origin };
}
