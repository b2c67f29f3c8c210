import type { ScalarField } from './fields.js';

/** What an index for one question would hold, gathered while it is compiled. */
export class IndexHints {
  /** Columns that are compared with one value. */
  readonly equal = new Set<string>();
  /** Columns that the filter looks at in another way; a copy in the index saves reading the row. */
  readonly read = new Set<string>();

  /** Whether the filter looks at more than columns: at relations, at elements of lists, or at computed values. */
  looksFurther = false;

  /** Whether an index finds the matches themselves, and nothing else has to be tested. */
  get isPlain(): boolean {
    return this.read.size === 0 && !this.looksFurther;
  }

  noteFilter(field: ScalarField, input: Readonly<Record<string, unknown>>): void {
    const asked = Object.entries(input).filter(([, value]) => value !== undefined);
    if (asked.length === 0) return;
    if (field.list) {
      this.looksFurther = true;
      return;
    }
    const equal = asked.some(
      ([operator, value]) => operator === 'eq' || (operator === 'in' && Array.isArray(value) && value.length === 1),
    );
    (equal ? this.equal : this.read).add(field.column);
  }
}
