/** Few at the same time, so that after a failure nothing much is still asked. */
const CHUNK = 8;

/** Maps in the order of the items; the first failure ends it. */
export async function mapInChunks<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const mapped: R[] = [];
  for (let start = 0; start < items.length; start += CHUNK) {
    mapped.push(...(await Promise.all(items.slice(start, start + CHUNK).map(map))));
  }
  return mapped;
}
