/** Loads one value by its key, in a batch with the keys that are requested at the same time. */
export type BatchLoad<Key, Value> = (key: Key) => Promise<Value | undefined>;

/**
 * Creates a loader that batches the keys requested in one microtask turn, such as by the same field of every record of
 * a list. Results are cached forever, so each request needs its own loader.
 */
export function createBatchLoader<Key, Value>(
  find: (keys: readonly Key[]) => ReadonlyMap<Key, Value>,
): BatchLoad<Key, Value> {
  const known = new Map<Key, Promise<Value | undefined>>();
  let batch: { readonly keys: Key[]; readonly found: Promise<ReadonlyMap<Key, Value>> } | undefined;

  function addToBatch(key: Key): Promise<Value | undefined> {
    if (!batch) {
      const keys: Key[] = [];
      batch = { keys, found: Promise.resolve().then(() => ((batch = undefined), find(keys))) };
    }
    batch.keys.push(key);
    return batch.found.then((found) => found.get(key));
  }

  return (key) => {
    const value = known.get(key) ?? addToBatch(key);
    known.set(key, value);
    return value;
  };
}
