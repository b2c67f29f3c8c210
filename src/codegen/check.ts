import { findOrigin } from './find-origin.js';
import type { Location } from './contract-error.js';
import type { Details } from './generated.js';
import { readGenerated } from './project.js';
import type { Project } from './project.js';
import { mergeFiles, runTargets } from './run-targets.js';

/** A generated file on disk that is not what the contract makes of it. */
export interface Difference {
  /** Path from the root. */
  file: string;
  kind: 'missing' | 'edited' | 'stale';
  /** The first line that differs, from 1, as the contract makes it and as it was found; absent past the end. */
  line: number;
  expected?: string | undefined;
  found?: string | undefined;
  /** The contract line behind that line. */
  origin?: Location | undefined;
}

/**
 * Compares `src/generated` with what the contract makes of it now. Generates
 * everything in memory, trusts no cache and touches no file.
 *
 * @throws ContractError when the documents can't be generated from.
 */
export async function check(project: Project): Promise<Difference[]> {
  const made = await runTargets(project, project.targets);
  const onDisk = await readGenerated(project.root);
  const files = mergeFiles(made);
  const differing = made.flatMap(({ target, files: own, details }) =>
    [...own].flatMap(([file, text]) => {
      const found = onDisk.get(file);
      const locateLine = details.lineOrigins?.get(file.slice(target.output.length));
      return found === text ? [] : [toDifference(file, text, found, { ...details, locateLine })];
    }),
  );
  const stale = [...onDisk.keys()].filter((file) => !files.has(file));
  return [...differing, ...stale.map((file): Difference => ({ file, kind: 'stale', line: 1 }))];
}

interface Origins extends Pick<Details, 'origins'> {
  /** Finds the contract line behind a line of the file, where names do not. */
  locateLine: ((line: number) => Location | undefined) | undefined;
}

function toDifference(file: string, text: string, foundText: string | undefined, origins: Origins): Difference {
  const wanted = text.split('\n');
  if (foundText === undefined) return { file, kind: 'missing', line: 1 };
  const found = foundText.split('\n');
  const index = wanted.findIndex((line, at) => line !== found[at]);
  const at = index < 0 ? wanted.length : index;
  const { locateLine } = origins;
  const origin = locateLine ? locateLine(at + 1) : findOrigin(wanted, at, found[at], origins.origins);
  return { file, kind: 'edited', line: at + 1, expected: wanted[at], found: found[at], origin };
}
