import { isLeafType, isObjectType, isScalarType } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import { checkLink, isOwnLink } from './check-links.js';
import { findDirective, readDirectives } from './field-directives.js';
import type { MistakeList } from './mistakes.js';
import { OPERATOR_INPUTS } from './names.js';
import { findStored, isRecordType, nodeOf, shapeOf, typeNodeOf } from './sdl-types.js';
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
    const sources = SOURCES.flatMap((name) => findDirective(field, name) ?? []);
    for (const source of sources) {
      mistakes.add(source, `Expected @${source.name.value} on a field of a @record type; ${type.name} is none.`);
    }
    const { type: inner } = shapeOf(field);
    if (isRecordType(inner) && sources.length === 0)
      mistakes.add(nodeOf(field), `Expected a scalar, an enum or an object; ${inner.name} is a kind of record.`);
    if (field.args.length > 0)
      mistakes.add(nodeOf(field), `Expected no arguments: only @computed fields of a @record type take them.`);
  }
}

function checkShape(field: SdlField, mistakes: MistakeList): void {
  const { type, nested, list } = shapeOf(field);
  if (field.name.includes('___')) {
    mistakes.add(
      nodeOf(field),
      `Expected a name without "___", which joins the steps of a path; received "${field.name}".`,
    );
  }
  if (nested)
    mistakes.add(
      typeNodeOf(field),
      `Expected a list of single values; received ${String(field.type)}, a list of lists.`,
    );
  if (isScalarType(type) ? !(type.name in OPERATOR_INPUTS) : !isLeafType(type) && !isObjectType(type)) {
    const known = Object.keys(OPERATOR_INPUTS).join(', ');
    mistakes.add(
      typeNodeOf(field),
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
    mistakes.add(nodeOf(field), 'Expected no arguments: only @computed fields take them, and dates by @dateformat.');
  }
  if (first === undefined || computed !== undefined) checkUnlinked(field, mistakes);
  if (computed !== undefined) checkNeeds(kind, field, computed.needs, mistakes);
  if (alias !== undefined) checkAlias(kind, field, alias, mistakes);
  if (child) checkChild(field, mistakes);
  if (link !== undefined) checkLink(kind, field, link, mistakes);
}

function checkUnlinked(field: SdlField, mistakes: MistakeList): void {
  const { type } = shapeOf(field);
  if (!isRecordType(type)) return;
  mistakes.add(typeNodeOf(field), `Expected @link or @child on a field that leads to the kind ${type.name}.`);
}

function checkNeeds(kind: GraphQLObjectType, field: SdlField, needs: readonly string[], mistakes: MistakeList): void {
  const directive = findDirective(field, 'computed');
  for (const path of needs) {
    if (path === 'parent' || hasColumn(kind, path) || directive === undefined) continue;
    mistakes.add(directive, `Expected "needs" to name stored fields of ${kind.name}; received "${path}".`);
  }
}

const hasColumn = (kind: GraphQLObjectType, path: string): boolean =>
  findStored(kind, path) !== undefined || isOwnLink(kind.getFields()[path]);

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

function checkChild(field: SdlField, mistakes: MistakeList): void {
  const { type, list, nullable } = shapeOf(field);
  if (isRecordType(type) && !list && nullable) return;
  const expected = isRecordType(type) ? `${type.name}, for there may be none` : 'a @record type';
  mistakes.add(typeNodeOf(field), `Expected ${expected}; received ${String(field.type)}.`);
}
