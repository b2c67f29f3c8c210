import { isEnumType, isLeafType, isObjectType } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import type { RecordField, RecordTable, Relation, ScalarType } from '../../core/record-types.js';
import { NODE_RELATIONS } from './check-fields.js';
import { findDirective, findTexts, readDirectives } from './field-directives.js';
import { allQueryName, singleQueryName } from './names.js';
import { isRecordType, getFieldShape } from './sdl-types.js';
import type { SdlField, SdlFields } from './sdl-types.js';

/** Returns the field table of a record type that has passed all checks. */
export const readTable = (kind: GraphQLObjectType): RecordTable => ({
  kind: kind.name,
  single: singleQueryName(kind.name),
  all: allQueryName(kind.name),
  ...readSource(kind),
  fields: readFields(kind),
});

function readSource(kind: GraphQLObjectType): Pick<RecordTable, 'source'> {
  const globs = findTexts(findDirective(kind, 'source'), 'glob').map(({ value }) => value);
  return globs.length === 0 ? {} : { source: { globs } };
}

/** @param above The names of the enclosing fields, outermost first. */
export const readFields = (type: SdlFields, above: readonly string[] = []): readonly RecordField[] =>
  Object.values(type.getFields()).map((field) => readField(field, above));

function readField(field: SdlField, above: readonly string[]): RecordField {
  const names = [...above, field.name];
  const { list, nullable, type } = getFieldShape(field);
  const base = { name: field.name, path: names.join('.'), list, nullable };
  const { alias, computed, dateformat, index } = readDirectives(field);
  const relation = above.length === 0 ? readRelation(field) : undefined;
  if (relation !== undefined) return { kind: 'relation', ...base, type: type.name, relation };
  const fields = isObjectType(type) && !isRecordType(type) ? readFields(type, names) : [];
  if (computed !== undefined) {
    const { needs } = computed;
    return {
      kind: 'computed',
      ...base,
      type: scalarName(type),
      fields,
      needs,
      hasArguments: field.args.length > 0,
      dateArguments: dateformat,
    };
  }
  if (!isLeafType(type)) return { kind: 'object', ...base, type: type.name, fields };
  const column = alias ?? base.path;
  return {
    kind: 'scalar',
    ...base,
    type: scalarName(type) as ScalarType,
    ...(isEnumType(type) && { values: type.getValues().map(({ name }) => name) }),
    column,
    dateArguments: dateformat,
    indexed: index,
  };
}

const scalarName = (type: { name: string }): string => (isEnumType(type) ? 'String' : type.name);

function readRelation(field: SdlField): Relation | undefined {
  if (field.name === 'parent' || field.name === 'children') return NODE_RELATIONS[field.name];
  const { child, link } = readDirectives(field);
  if (child) return { by: 'child' };
  return link && { by: 'link', from: link.from ?? field.name, to: link.to };
}
