/** Gives one of many that are found together. */
export type Load<Key, Value> = (key: Key) => Promise<Value | undefined>;

/**
 * Finds at once what is asked for in one turn, such as by the same field of
 * every record of a list. What was found is kept, so a loader is for one request.
 */
export function createLoader<Key, Value>(find: (keys: readonly Key[]) => ReadonlyMap<Key, Value>): Load<Key, Value> {
  const known = new Map<Key, Promise<Value | undefined>>();
  let turn: { readonly keys: Key[]; readonly found: Promise<ReadonlyMap<Key, Value>> } | undefined;

  function join(key: Key): Promise<Value | undefined> {
    if (!turn) {
      const keys: Key[] = [];
      turn = { keys, found: Promise.resolve().then(() => ((turn = undefined), find(keys))) };
    }
    turn.keys.push(key);
    return turn.found.then((found) => found.get(key));
  }

  return (key) => {
    const value = known.get(key) ?? join(key);
    known.set(key, value);
    return value;
  };
}
