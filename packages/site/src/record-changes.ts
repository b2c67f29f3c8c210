/** The changes of a site's records, as clients follow them. */

/** A change of the records that queries see. */
export interface RecordChange {
  /** The state of the records after the change. Increases with each change, also after the records were made again. */
  readonly revision: number;
  /** The types of the records that were added, changed or deleted. */
  readonly kinds: readonly string[];
  /** The ids of these records, at most {@link MAX_IDS}. */
  readonly ids: readonly string[];
  /** Whether more records changed than `ids` lists. */
  readonly isTruncated: boolean;
}

/** Enough for any change made by hand; a client that receives more queries everything again. */
export const MAX_IDS = 1000;

/** Collects the changes of one transaction, or those that a client has not received yet. */
export class ChangedRecords {
  readonly #kinds = new Set<string>();
  readonly #ids = new Set<string>();
  #isTruncated = false;

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  add(kind: string, id: string): void {
    this.#kinds.add(kind);
    if (this.#ids.size < MAX_IDS) this.#ids.add(id);
    else this.#isTruncated ||= !this.#ids.has(id);
  }

  merge({ kinds, ids, isTruncated }: RecordChange): void {
    for (const kind of kinds) this.#kinds.add(kind);
    for (const id of ids) if (this.#ids.size < MAX_IDS) this.#ids.add(id);
    this.#isTruncated ||= isTruncated || ids.some((id) => !this.#ids.has(id));
  }

  toChange(revision: number): RecordChange {
    return { revision, kinds: [...this.#kinds], ids: [...this.#ids], isTruncated: this.#isTruncated };
  }
}

/** Sends changes to those who follow them. */
export class ChangeFeed {
  readonly #followers = new Set<Follower>();
  readonly #revision: () => number;

  /** @param revision Returns the current revision. */
  constructor(revision: () => number) {
    this.#revision = revision;
  }

  publish(change: RecordChange): void {
    for (const follower of this.#followers) follower.receive(change);
  }

  /**
   * Returns the changes from now on, after a first one with the current revision and no records. Changes that were not
   * read yet are merged into one, so that a slow reader needs little memory. Ends when the records are closed.
   */
  follow(): AsyncIterableIterator<RecordChange> {
    const none: RecordChange = { revision: this.#revision(), kinds: [], ids: [], isTruncated: false };
    const follower: Follower = new Follower(none, () => this.#followers.delete(follower));
    this.#followers.add(follower);
    return follower;
  }

  close(): void {
    for (const follower of [...this.#followers]) void follower.return();
  }
}

/** A generator would not end before its next value. */
class Follower implements AsyncIterableIterator<RecordChange> {
  readonly #onEnd: () => void;
  #pending: RecordChange | undefined;
  #waiting: ((result: IteratorResult<RecordChange, undefined>) => void) | undefined;
  #isOver = false;

  constructor(first: RecordChange, onEnd: () => void) {
    this.#pending = first;
    this.#onEnd = onEnd;
  }

  receive(change: RecordChange): void {
    if (this.#waiting) {
      this.#settle({ done: false, value: change });
      return;
    }
    const merged = new ChangedRecords();
    if (this.#pending) merged.merge(this.#pending);
    merged.merge(change);
    this.#pending = merged.toChange(change.revision);
  }

  /** Must not be called again before it has settled. */
  next(): Promise<IteratorResult<RecordChange, undefined>> {
    const value = this.#pending;
    this.#pending = undefined;
    if (this.#isOver) return Promise.resolve(OVER);
    if (value) return Promise.resolve({ done: false, value });
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  return(): Promise<IteratorResult<RecordChange, undefined>> {
    this.#isOver = true;
    this.#onEnd();
    this.#settle(OVER);
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #settle(result: IteratorResult<RecordChange, undefined>): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(result);
  }
}

const OVER = { done: true, value: undefined } as const;
