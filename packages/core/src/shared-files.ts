/** A store of derived files that several servers share, such as a bucket. Its failures never fail a request. */
export interface SharedFiles {
  /**
   * Writes a stored file to `target`, without the folders above it. Returns its size, or `undefined` if the store does
   * not have the file or does not respond.
   */
  fetch(key: string, target: string): Promise<number | undefined>;
  /** Stores a complete file in the background. Its content never changes. */
  offer(key: string, file: string): void;
}
