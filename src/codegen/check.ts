import { readFolder } from './files.js';
import { findOrigin } from './find-origin.js';
import type { Project } from './project.js';
import { mergeFiles, readJobs, runTargets } from './run-targets.js';
import type { Generated, Location } from './target.js';

/** A generated file on disk that is not what the contract makes of it. */
export interface Difference {
  /** Path below `src/generated`. */
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
  const made = await runTargets(await readJobs(project));
  const onDisk = await readFolder(project.folder);
  const files = mergeFiles(made);
  const differing = made.flatMap((target) =>
    [...target.files].flatMap(([file, text]) => {
      const found = onDisk.get(file);
      return found === text ? [] : [toDifference(file, text, found, target)];
    }),
  );
  const stale = [...onDisk.keys()].filter((file) => !files.has(file));
  return [...differing, ...stale.map((file): Difference => ({ file, kind: 'stale', line: 1 }))];
}

function toDifference(
  file: string,
  text: string,
  foundText: string | undefined,
  { origins, lineOrigins }: Generated,
): Difference {
  const wanted = text.split('\n');
  if (foundText === undefined) return { file, kind: 'missing', line: 1 };
  const found = foundText.split('\n');
  const index = wanted.findIndex((line, at) => line !== found[at]);
  const at = index < 0 ? wanted.length : index;
  const locateLine = lineOrigins?.get(file);
  const origin = locateLine ? locateLine(at + 1) : findOrigin(wanted, at, found[at], origins);
  return { file, kind: 'edited', line: at + 1, expected: wanted[at], found: found[at], origin };
}
