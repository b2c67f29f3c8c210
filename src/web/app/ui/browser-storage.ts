interface BrowserStorage extends Pick<Storage, 'getItem' | 'removeItem'> {
  /** Returns whether the browser has stored the value. */
  readonly setItem: (key: string, value: string) => boolean;
}

/** Values that all tabs of the browser share. */
export const sharedStorage = createBrowserStorage(() => localStorage);

/** Values of this tab. */
export const tabStorage = createBrowserStorage(() => sessionStorage);

/**
 * Wraps a storage of the browser, which throws for any use if the user has blocked it, and for writes if it is full: GraphiQL
 * shares its space. A value that is not stored lasts as long as the document.
 *
 * @param find may throw, or return `null`, as Firefox does if its storage is switched off
 */
function createBrowserStorage(find: () => Storage | null): BrowserStorage {
  const unsaved = new Map<string, string>();
  const isDone = (act: (storage: Storage) => void): boolean => {
    try {
      const storage = find();
      if (storage !== null) act(storage);
      return storage !== null;
    } catch {
      return false;
    }
  };
  return {
    getItem(key) {
      let found: string | null = null;
      isDone((storage) => (found = storage.getItem(key)));
      return unsaved.get(key) ?? found;
    },
    setItem(key, value) {
      unsaved.delete(key);
      const isStored = isDone((storage) => storage.setItem(key, value));
      if (!isStored) unsaved.set(key, value);
      return isStored;
    },
    removeItem(key) {
      unsaved.delete(key);
      isDone((storage) => storage.removeItem(key));
    },
  };
}
