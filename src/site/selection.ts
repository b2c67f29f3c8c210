import type { RelationField } from './fields.js';

/** What a question wants of each record, so that nothing else is read. */
export interface Selection {
  readonly values: readonly SelectedValue[];
  readonly relations: readonly SelectedRelation[];
}

/** A column, or an object of them, under its name in the record. */
export type SelectedValue = SelectedColumn | SelectedObject;

export interface SelectedColumn {
  readonly kind: 'column';
  readonly name: string;
  readonly column: string;
  /** What SQLite's value stands for. */
  readonly holds: 'json' | 'boolean' | 'float' | 'value';
}

export interface SelectedObject {
  readonly kind: 'object';
  readonly name: string;
  readonly values: readonly SelectedValue[];
  /** All columns of the object when it may be null, which it is when all of them are. */
  readonly presence: readonly string[];
}

/** Related records, kept under {@link relatedKey} of the record. */
export interface SelectedRelation {
  readonly field: RelationField;
  readonly select: (kind: string) => Selection;
}

/**
 * A record as it was asked for: plain values under their own names, related
 * records under {@link relatedKey}, and `__typename`.
 */
export type SiteRecord = Record<string, unknown>;

/** No field has such a name, so that a relation never hides a column (`parent` is both). */
export const relatedKey = (field: string): `~${string}` => `~${field}`;
