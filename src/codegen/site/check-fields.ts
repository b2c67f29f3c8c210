import { isLeafType, isObjectType, isScalarType } from 'graphql';
import type { ASTNode, GraphQLObjectType } from 'graphql';
import { findDirective, readDirectives } from './field-directives.js';
import type { MistakeList } from './mistakes.js';
import { OPERATOR_INPUTS } from './names.js';
import { findStored, isRecordType, shapeOf } from './sdl-types.js';
import type { SdlField } from './sdl-types.js';

/** At most one of these says where the value of a field comes from; without any it is stored. */
const SOURCES = ['alias', 'child', 'computed', 'link'] as const;

/** Whether a record can hold the fields of its kind, and each directive stands where it has a meaning. */
export function checkFields(kind: GraphQLObjectType, mistakes: MistakeList): void {
  for (const field of Object.values(kind.getFields())) {
    if (field.name in NODE_RELATIONS) continue;
    checkShape(field, mistakes);
    checkDate(field, mistakes);
    checkSource(kind, field, mistakes);
  }
}

/** The fields of Node that lead to other records; their place in the tree of records is their directive. */
export const NODE_RELATIONS = { parent: { by: 'parent' }, children: { by: 'children' } } as const;

/** Whether the fields of an object inside a record, or of a computed one, can be filtered and sorted by. */
export function checkInnerFields(type: GraphQLObjectType, mistakes: MistakeList): void {
  for (const field of Object.values(type.getFields())) {
    checkShape(field, mistakes);
    checkDate(field, mistakes);
    for (const name of SOURCES) {
      const directive = findDirective(field, name);
      if (directive !== undefined)
        mistakes.add(directive, `Expected @${name} on a field of a @record type; ${type.name} is none.`);
    }
    const { type: inner } = shapeOf(field);
    if (isRecordType(inner))
      mistakes.add(at(field), `Expected a scalar, an enum or an object; ${inner.name} is a kind of record.`);
    if (field.args.length > 0)
      mistakes.add(at(field), `Expected no arguments: only @computed fields of a @record type take them.`);
  }
}

function checkShape(field: SdlField, mistakes: MistakeList): void {
  const { type, nested, list } = shapeOf(field);
  if (field.name.includes('___')) {
    mistakes.add(
      at(field),
      `Expected a name without "___", which joins the steps of a path; received "${field.name}".`,
    );
  }
  if (nested)
    mistakes.add(typeOf(field), `Expected a list of single values; received ${String(field.type)}, a list of lists.`);
  if (isScalarType(type) ? !(type.name in OPERATOR_INPUTS) : !isLeafType(type) && !isObjectType(type)) {
    const known = Object.keys(OPERATOR_INPUTS).join(', ');
    mistakes.add(
      typeOf(field),
      `Expected a type that a record can store: ${known}, an enum or an object; received ${type.name}.`,
    );
  }
  const index = findDirective(field, 'index');
  if (index !== undefined && (list || !isLeafType(type) || readDirectives(field).computed !== undefined)) {
    mistakes.add(index, `Expected @index on a stored field of one value; received ${String(field.type)}.`);
  }
}

function checkDate(field: SdlField, mistakes: MistakeList): void {
  const dateformat = findDirective(field, 'dateformat');
  if (dateformat === undefined) return;
  const { type } = shapeOf(field);
  if (type.name !== 'Date')
    mistakes.add(dateformat, `Expected @dateformat on a field of type Date; received ${String(field.type)}.`);
  if (field.args.length > 0)
    mistakes.add(dateformat, 'Expected no arguments in writing: @dateformat brings those of a date.');
}

function checkSource(kind: GraphQLObjectType, field: SdlField, mistakes: MistakeList): void {
  const directives = field.astNode?.directives?.filter(({ name }) => SOURCES.some((source) => source === name.value));
  const [first, second] = directives ?? [];
  if (first !== undefined && second !== undefined) {
    const received = `@${first.name.value} and @${second.name.value}`;
    mistakes.add(second, `Expected one of @${SOURCES.join(', @')}; received ${received}.`);
  }
  const { computed, alias, link, child } = readDirectives(field);
  if (computed === undefined && field.args.length > 0) {
    mistakes.add(at(field), 'Expected no arguments: only @computed fields take them, and dates by @dateformat.');
  }
  if (first === undefined || computed !== undefined) checkUnlinked(field, mistakes);
  if (computed !== undefined) checkNeeds(kind, field, computed.needs, mistakes);
  if (alias !== undefined) checkAlias(kind, field, alias, mistakes);
  if (link !== undefined || child) checkRelation(field, mistakes);
  if (link !== undefined) checkLink(kind, field, link, mistakes);
}

function checkUnlinked(field: SdlField, mistakes: MistakeList): void {
  const { type } = shapeOf(field);
  if (!isRecordType(type)) return;
  mistakes.add(typeOf(field), `Expected @link or @child on a field that leads to the kind ${type.name}.`);
}

function checkNeeds(kind: GraphQLObjectType, field: SdlField, needs: readonly string[], mistakes: MistakeList): void {
  const directive = findDirective(field, 'computed');
  for (const path of needs) {
    if (path === 'parent' || findStored(kind, path) !== undefined || directive === undefined) continue;
    mistakes.add(directive, `Expected "needs" to name stored fields of ${kind.name}; received "${path}".`);
  }
}

function checkAlias(kind: GraphQLObjectType, field: SdlField, of: string, mistakes: MistakeList): void {
  const stored = findStored(kind, of);
  const [mine, theirs] = [shapeOf(field), stored && shapeOf(stored)];
  const fits = theirs?.type === mine.type && theirs.list === mine.list && (mine.nullable || !theirs.nullable);
  if (fits && isLeafType(mine.type)) return;
  const directive = findDirective(field, 'alias');
  if (directive === undefined) return;
  const expected = `Expected @alias of a stored field of ${kind.name} with the type ${String(field.type)}`;
  mistakes.add(directive, `${expected}; received "${of}"${stored ? ` with the type ${String(stored.type)}` : ''}.`);
}

function checkRelation(field: SdlField, mistakes: MistakeList): void {
  const { type, list, nullable } = shapeOf(field);
  if (isRecordType(type) && !list && nullable) return;
  const expected = isRecordType(type) ? `${type.name}, for there may be none` : 'a @record type';
  mistakes.add(typeOf(field), `Expected ${expected}; received ${String(field.type)}.`);
}

function checkLink(
  kind: GraphQLObjectType,
  field: SdlField,
  link: { from: string; to: string },
  mistakes: MistakeList,
) {
  const { type } = shapeOf(field);
  const directive = findDirective(field, 'link');
  if (directive === undefined) return;
  const ends = [
    { end: 'from', path: link.from, of: kind },
    ...(isObjectType(type) && isRecordType(type) ? [{ end: 'to', path: link.to, of: type }] : []),
  ];
  for (const { end, path, of } of ends) {
    const stored = findStored(of, path);
    if (stored !== undefined && !shapeOf(stored).list) continue;
    mistakes.add(
      directive,
      `Expected "${end}" to name a stored field of ${of.name} with one value; received "${path}".`,
    );
  }
}

// Only types that graphql-js itself makes lack the nodes that they were read from.
const at = (field: SdlField): ASTNode => field.astNode as ASTNode;
const typeOf = (field: SdlField): ASTNode => field.astNode?.type as ASTNode;
