import type { RelationField } from '../core/record-types.js';

/** The fields of each record that a query selects, so that only they are read. */
export interface RecordSelection {
  readonly values: readonly SelectedValue[];
  readonly relations: readonly SelectedRelation[];
}

/** A column or an object of columns, with its name in the record. */
export type SelectedValue = SelectedColumn | SelectedObject;

export interface SelectedColumn {
  readonly kind: 'column';
  readonly name: string;
  readonly column: string;
  /** The form in which SQLite stores the value. */
  readonly holds: 'json' | 'boolean' | 'float' | 'value';
}

export interface SelectedObject {
  readonly kind: 'object';
  readonly name: string;
  readonly values: readonly SelectedValue[];
  /** All columns of a nullable object, which is null if all of them are; empty otherwise. */
  readonly presence: readonly string[];
}

/** Related records, stored in the record under {@link relatedKey}. */
export interface SelectedRelation {
  readonly field: RelationField;
  readonly select: (kind: string) => RecordSelection;
}

/**
 * The selected part of a record: plain values by field name, related records by {@link relatedKey}, and `__typename`.
 */
export type SiteRecord = Record<string, unknown>;

/** Returns a key that no field has, so that a relation never hides a column of the same name, such as `parent`. */
export const relatedKey = (field: string): `~${string}` => `~${field}`;
