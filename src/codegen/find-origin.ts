import type { Location } from './contract-error.js';

type Origins = ReadonlyMap<string, Location>;

/**
 * Finds the contract line behind a generated line: that of the member it
 * declares, or of a name that the line found in its place lacks, or of the
 * innermost name on it or around it. None is better than one that is wrong.
 */
export function findOrigin(
  lines: readonly string[],
  at: number,
  found: string | undefined,
  origins: Origins,
): Location | undefined {
  const around = listAround(lines, at);
  const known = new Set(wordsOf(found ?? ''));
  const added = wordsOf(lines[at] ?? '').filter((word) => !known.has(word));
  return findMember(around, origins) ?? firstOf(added, origins) ?? firstOf(around.flatMap(wordsOf), origins);
}

/** The line, and those above that it is inside of by their indentation, the innermost first. */
function listAround(lines: readonly string[], at: number): string[] {
  const around = [lines[at] ?? ''];
  let depth = depthOf(around[0]);
  for (let index = at - 1; index >= 0 && depth > 0; index -= 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '' || depthOf(line) >= depth) continue;
    around.push(line);
    depth = depthOf(line);
  }
  return around;
}

/** Finds `Owner.member` for the first name of a line and an owner named on it or around it. */
function findMember(around: readonly string[], origins: Origins): Location | undefined {
  const [member] = wordsOf(around[0] ?? '');
  const owners = around.flatMap(wordsOf);
  return firstOf(
    owners.map((owner) => `${owner}.${member ?? ''}`),
    origins,
  );
}

function firstOf(names: readonly string[], origins: Origins): Location | undefined {
  const name = names.find((candidate) => origins.has(candidate));
  return name === undefined ? undefined : origins.get(name);
}

const wordsOf = (line: string): readonly string[] => line.match(/[\w$]+/gu) ?? [];

const depthOf = (line = ''): number => line.length - line.trimStart().length;
