import type { Location } from './contract-error.js';

type Origins = ReadonlyMap<string, Location>;

/**
 * Finds the contract line that a generated line comes from. Tries, in this order: the member that the line declares,
 * the names that the line on disk lacks, and the names on the line and on the lines that enclose it, innermost first.
 * Returns `undefined` rather than an uncertain match.
 *
 * @param found The line on disk in the place of the generated one.
 */
export function findSourceLine(
  lines: readonly string[],
  at: number,
  found: string | undefined,
  origins: Origins,
): Location | undefined {
  const enclosing = listEnclosing(lines, at);
  const known = new Set(wordsOf(found ?? ''));
  const added = wordsOf(lines[at] ?? '').filter((word) => !known.has(word));
  return findMember(enclosing, origins) ?? findFirst(added, origins) ?? findFirst(enclosing.flatMap(wordsOf), origins);
}

/** Lists the line and, by indentation, the lines above that enclose it, innermost first. */
function listEnclosing(lines: readonly string[], at: number): string[] {
  const enclosing = [lines[at] ?? ''];
  let depth = depthOf(enclosing[0]);
  for (let index = at - 1; index >= 0 && depth > 0; index -= 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '' || depthOf(line) >= depth) continue;
    enclosing.push(line);
    depth = depthOf(line);
  }
  return enclosing;
}

/** Finds `Owner.member`: the member is the first name of the line, the owner any name on it or on an enclosing line. */
function findMember(enclosing: readonly string[], origins: Origins): Location | undefined {
  const [member] = wordsOf(enclosing[0] ?? '');
  const owners = enclosing.flatMap(wordsOf);
  return findFirst(
    owners.map((owner) => `${owner}.${member ?? ''}`),
    origins,
  );
}

function findFirst(names: readonly string[], origins: Origins): Location | undefined {
  const name = names.find((candidate) => origins.has(candidate));
  return name === undefined ? undefined : origins.get(name);
}

const wordsOf = (line: string): readonly string[] => line.match(/[\w$]+/gu) ?? [];

const depthOf = (line = ''): number => line.length - line.trimStart().length;
