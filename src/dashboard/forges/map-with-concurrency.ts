/** Small, so that few requests are still running when one fails. */
const CHUNK = 8;

/** Maps items in order, with up to 8 calls at a time. The first failure ends it. */
export async function mapWithConcurrency<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const mapped: R[] = [];
  for (let start = 0; start < items.length; start += CHUNK) {
    mapped.push(...(await Promise.all(items.slice(start, start + CHUNK).map(map))));
  }
  return mapped;
}
