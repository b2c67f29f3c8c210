import { readFolder } from './files.js';
import type { Project } from './project.js';
import { mergeFiles, readJobs, runTargets } from './run-targets.js';
import type { Location } from './target.js';

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
      return found === text ? [] : [toDifference(file, text, found, target.origins)];
    }),
  );
  const stale = [...onDisk.keys()].filter((file) => !files.has(file));
  return [...differing, ...stale.map((file): Difference => ({ file, kind: 'stale', line: 1 }))];
}

function toDifference(
  file: string,
  text: string,
  foundText: string | undefined,
  origins: ReadonlyMap<string, Location>,
): Difference {
  if (foundText === undefined)
    return { file, kind: 'missing', line: 1, origin: findOrigin(text.split('\n'), 0, origins) };
  const wanted = text.split('\n');
  const found = foundText.split('\n');
  const index = wanted.findIndex((line, at) => line !== found[at]);
  const at = index < 0 ? wanted.length : index;
  const origin = findOrigin(wanted, at, origins);
  return { file, kind: 'edited', line: at + 1, expected: wanted[at], found: found[at], origin };
}

/** Finds the contract line of the member on a line, or else of the nearest name at or above it. */
function findOrigin(
  lines: readonly string[],
  from: number,
  origins: ReadonlyMap<string, Location>,
): Location | undefined {
  const above = lines.slice(0, from + 1).reverse();
  return findMember(above, origins) ?? firstOf(above.flatMap(wordsOf), origins);
}

/** Finds `Owner.member` for the first name of a line and an owner named above, no further than the declaration around it. */
function findMember(above: readonly string[], origins: ReadonlyMap<string, Location>): Location | undefined {
  const [member] = wordsOf(above[0] ?? '');
  const head = above.findIndex((line) => /^[\w$]/u.test(line));
  const owners = above.slice(0, head + 1).flatMap(wordsOf);
  return firstOf(
    owners.map((owner) => `${owner}.${member ?? ''}`),
    origins,
  );
}

function firstOf(names: readonly string[], origins: ReadonlyMap<string, Location>): Location | undefined {
  const name = names.find((candidate) => origins.has(candidate));
  return name === undefined ? undefined : origins.get(name);
}

const wordsOf = (line: string): readonly string[] => line.match(/[\w$]+/gu) ?? [];
