/**
 * Runs the contenders one after the other, round after round, so that a busy
 * minute of the machine falls on all of them alike.
 */
export async function alternate<T, Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results[name].push(await contenders[name]());
  }
  return results;
}

/** The one in the middle; the mean of the two in the middle of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
