/** The columns that contain, or once contained, text with characters beyond U+FFFF. */
export class NonBmpColumns {
  readonly #columns: Set<string>;
  #changed = false;

  constructor(stored: string | undefined) {
    this.#columns = new Set(stored === undefined ? [] : (JSON.parse(stored) as string[]));
  }

  has(kind: string, column: string): boolean {
    return this.#columns.has(`${kind} ${column}`);
  }

  hasAny(kind: string): boolean {
    return [...this.#columns].some((key) => key.startsWith(`${kind} `));
  }

  add(kind: string, column: string): void {
    const key = `${kind} ${column}`;
    if (this.#columns.has(key)) return;
    this.#columns.add(key);
    this.#changed = true;
  }

  /** Whether columns were added since the set was last stored. */
  get changed(): boolean {
    return this.#changed;
  }

  toText(): string {
    this.#changed = false;
    return JSON.stringify([...this.#columns]);
  }
}
