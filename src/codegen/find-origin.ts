import type { Location } from './target.js';

type Origins = ReadonlyMap<string, Location>;

/**
 * Finds the contract line behind a generated line: that of the member it
 * declares, or of a name that the line found in its place lacks, or of the
 * nearest name at or above it.
 */
export function findOrigin(
  lines: readonly string[],
  at: number,
  found: string | undefined,
  origins: Origins,
): Location | undefined {
  const above = lines.slice(0, at + 1).reverse();
  const known = new Set(wordsOf(found ?? ''));
  const added = wordsOf(lines[at] ?? '').filter((word) => !known.has(word));
  return findMember(above, origins) ?? firstOf(added, origins) ?? firstOf(above.flatMap(wordsOf), origins);
}

/** Finds `Owner.member` for the first name of a line and an owner named no further above than the declaration around it. */
function findMember(above: readonly string[], origins: Origins): Location | undefined {
  const [member] = wordsOf(above[0] ?? '');
  const head = above.findIndex((line) => /^[\w$]/u.test(line));
  const owners = above.slice(0, head + 1).flatMap(wordsOf);
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
