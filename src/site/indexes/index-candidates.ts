import type { ScalarField } from '../../core/record-types.js';

/** Collects the columns that an index for a query would cover, while the query is compiled. */
export class IndexCandidates {
  /** The columns that are compared with one value. */
  readonly equal = new Set<string>();
  /** The other columns of the filter. A copy in the index saves reading the row. */
  readonly read = new Set<string>();

  /** Whether the filter also has conditions on relations, list elements or computed values. */
  hasOtherConditions = false;

  /** Whether an index alone finds the matches, without further conditions. */
  get coversFilter(): boolean {
    return this.read.size === 0 && !this.hasOtherConditions;
  }

  addFilter(field: ScalarField, input: Readonly<Record<string, unknown>>): void {
    const asked = Object.entries(input).filter(([, value]) => value !== undefined);
    if (asked.length === 0) return;
    if (field.list) {
      this.hasOtherConditions = true;
      return;
    }
    const equal = asked.some(
      ([operator, value]) => operator === 'eq' || (operator === 'in' && Array.isArray(value) && value.length === 1),
    );
    (equal ? this.equal : this.read).add(field.column);
  }
}
