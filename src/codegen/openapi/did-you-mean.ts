/** Returns the end of a message about an unknown name: ` Did you mean "limit"?`, or an empty string. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = closestName(name, known);
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
}

/**
 * Returns the known name with the smallest edit distance, if that is at most two or a third of the length of the name.
 * Ignores case.
 */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  const ranked = [...known]
    .map((candidate) => ({ candidate, edits: countEdits(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best !== undefined && best.edits <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

/** Returns the Levenshtein distance: the number of insertions, deletions and replacements. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of Array.from(from).entries()) {
    const next = [line + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
