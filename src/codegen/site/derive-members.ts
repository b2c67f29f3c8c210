import type { RecordField, RecordTable } from '../../core/record-types.js';

/** A member of a FieldsEnum: the path of a field. */
export interface EnumMember {
  /** The path, with `___` between its segments. */
  readonly name: string;
  readonly deprecated: boolean;
}

/** Returns the fields inside a field: those of its object, or of the related record; empty for a scalar. */
export type InnerFields = (field: RecordField) => readonly RecordField[];

/** The limit of segments in a path, without which `parent___parent___…` would be endless. */
const MAX_SEGMENTS = 4;

/** Creates the lookup of fields inside fields. `Node` has the fields that all record types share. */
export function createInnerFields(tables: readonly RecordTable[], nodeFields: readonly RecordField[]): InnerFields {
  const kinds = new Map([['Node', nodeFields], ...tables.map(({ kind, fields }) => [kind, fields] as const)]);
  return (field) => {
    if (field.kind === 'scalar') return [];
    return field.kind === 'relation' ? (kinds.get(field.type) ?? []) : field.fields;
  };
}

/**
 * Lists the members of a FieldsEnum, with the fields of an object in the position of the object.
 *
 * A list is a member in addition to its inner fields; a single object is not. In the last segment, lists are included
 * and single objects are omitted. The first field with arguments deprecates itself and everything after it on its
 * level, including inner fields: the original server does so, and its queries must see the same schema.
 */
export function listMembers(
  fields: readonly RecordField[],
  inner: InnerFields,
  segments = 1,
  inherited = false,
): EnumMember[] {
  let deprecated = inherited;
  return fields.flatMap((field) => {
    deprecated ||= field.kind === 'computed' && field.hasArguments;
    const within = inner(field);
    const own = within.length === 0 || field.list ? [{ name: field.name, deprecated }] : [];
    const deeper = segments < MAX_SEGMENTS ? listMembers(within, inner, segments + 1, deprecated) : [];
    return [...own, ...deeper.map((member) => ({ ...member, name: `${field.name}___${member.name}` }))];
  });
}
