/**
 * Runs the contenders in turns, round after round, so that other load on the
 * machine affects all of them.
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

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Returns the options of a load. It ends with a sample of its rate, which is shorter than a second only in a smoke run. */
export function lasting(seconds: number): { readonly duration: number; readonly sampleInt: number } {
  return { duration: seconds, sampleInt: Math.min(1_000, seconds * 1_000) };
}
