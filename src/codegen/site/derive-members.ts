import type { Field, RecordTable } from '../../site/fields.js';

/** One path through a record, as a member of its FieldsEnum. */
export interface Member {
  /** The names of the path joined by `___`. */
  readonly name: string;
  readonly deprecated: boolean;
}

/** The fields that a field leads to: those of its object, or of the record behind a relation. */
export type Inner = (field: Field) => readonly Field[];

/** A path has at most this many steps; without a limit `parent___parent___…` would have no end. */
const MAX_STEPS = 4;

/** Fields by kind of record; `Node` has those that every kind has. */
export function innerFields(tables: readonly RecordTable[], nodeFields: readonly Field[]): Inner {
  const kinds = new Map([['Node', nodeFields], ...tables.map(({ kind, fields }) => [kind, fields] as const)]);
  return (field) => {
    if (field.kind === 'scalar') return [];
    return field.kind === 'relation' ? (kinds.get(field.type) ?? []) : field.fields;
  };
}

/**
 * The members of a FieldsEnum, each object's where the object stands.
 *
 * A list is a member beside its inner fields; a single object is not. On the last
 * step objects are left out, while lists stay. The first field with arguments
 * deprecates itself and all that follows on its level, with what is inside: the
 * original does so, and queries written for it see the same schema.
 */
export function listMembers(fields: readonly Field[], inner: Inner, steps = 1, inherited = false): Member[] {
  let deprecated = inherited;
  return fields.flatMap((field) => {
    deprecated ||= field.kind === 'computed' && field.hasArguments;
    const within = inner(field);
    const own = within.length === 0 || field.list ? [{ name: field.name, deprecated }] : [];
    const deeper = steps < MAX_STEPS ? listMembers(within, inner, steps + 1, deprecated) : [];
    return [...own, ...deeper.map((member) => ({ ...member, name: `${field.name}___${member.name}` }))];
  });
}
