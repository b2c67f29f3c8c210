import { isLeafType, isObjectType, isScalarType } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import { checkLink, hasOwnKeyColumn } from './check-links.js';
import { findDirective, readDirectives } from './field-directives.js';
import type { DiagnosticList } from './diagnostics.js';
import { OPERATOR_INPUTS } from './names.js';
import { findStored, isRecordType, getAstNode, getFieldShape, getTypeNode } from './sdl-types.js';
import type { SdlField } from './sdl-types.js';

/** The directives that determine the origin of a field's value, at most one per field. Other fields are stored. */
const SOURCES = ['alias', 'child', 'computed', 'link'] as const;

/** Checks that the fields of a record type can be stored or computed, and the directives on them. */
export function checkFields(kind: GraphQLObjectType, diagnostics: DiagnosticList): void {
  for (const field of Object.values(kind.getFields())) {
    if (field.name in NODE_RELATIONS) continue;
    checkShape(field, diagnostics);
    checkDate(field, diagnostics);
    checkSource(kind, field, diagnostics);
  }
}

/** The fields of Node that are relations. They have no directive: the tree of records defines them. */
export const NODE_RELATIONS = { parent: { by: 'parent' }, children: { by: 'children' } } as const;

/** Checks that the fields of an object inside a record, or of a computed object, support filters and sorting. */
export function checkInnerFields(type: GraphQLObjectType, diagnostics: DiagnosticList): void {
  for (const field of Object.values(type.getFields())) {
    checkShape(field, diagnostics);
    checkDate(field, diagnostics);
    const sources = SOURCES.flatMap((name) => findDirective(field, name) ?? []);
    for (const source of sources) {
      diagnostics.add(
        source,
        `@${source.name.value} is only allowed on fields of @record types; ${type.name} is not one.`,
      );
    }
    const { type: inner } = getFieldShape(field);
    if (isRecordType(inner) && sources.length === 0)
      diagnostics.add(
        getAstNode(field),
        `Expected a scalar, an enum or an object; received the record type ${inner.name}.`,
      );
    if (field.args.length > 0)
      diagnostics.add(getAstNode(field), 'Only @computed fields of @record types can have arguments.');
  }
}

function checkShape(field: SdlField, diagnostics: DiagnosticList): void {
  const { type, nested, list } = getFieldShape(field);
  if (field.name.includes('___')) {
    diagnostics.add(
      getAstNode(field),
      `Expected a name without "___", which separates the segments of a path; received "${field.name}".`,
    );
  }
  if (nested)
    diagnostics.add(
      getTypeNode(field),
      `Expected a list of single values; received ${String(field.type)}, a list of lists.`,
    );
  if (isScalarType(type) ? !(type.name in OPERATOR_INPUTS) : !isLeafType(type) && !isObjectType(type)) {
    const known = Object.keys(OPERATOR_INPUTS).join(', ');
    diagnostics.add(
      getTypeNode(field),
      `Expected a type that a record can store: ${known}, an enum or an object; received ${type.name}.`,
    );
  }
  const index = findDirective(field, 'index');
  if (index !== undefined && (list || !isLeafType(type) || readDirectives(field).computed !== undefined)) {
    diagnostics.add(index, `Expected @index on a stored field with one value; received ${String(field.type)}.`);
  }
}

function checkDate(field: SdlField, diagnostics: DiagnosticList): void {
  const dateformat = findDirective(field, 'dateformat');
  if (dateformat === undefined) return;
  const { type } = getFieldShape(field);
  if (type.name !== 'Date')
    diagnostics.add(dateformat, `Expected @dateformat on a field of type Date; received ${String(field.type)}.`);
  if (field.args.length > 0)
    diagnostics.add(dateformat, 'A field with @dateformat cannot declare arguments: the directive adds them.');
}

function checkSource(kind: GraphQLObjectType, field: SdlField, diagnostics: DiagnosticList): void {
  const directives = field.astNode?.directives?.filter(({ name }) => SOURCES.some((source) => source === name.value));
  const [first, second] = directives ?? [];
  if (first !== undefined && second !== undefined) {
    const received = `@${first.name.value} and @${second.name.value}`;
    diagnostics.add(second, `Expected at most one of @${SOURCES.join(', @')}; received ${received}.`);
  }
  const { computed, alias, link, child } = readDirectives(field);
  if (computed === undefined && field.args.length > 0) {
    diagnostics.add(getAstNode(field), 'Only @computed fields can declare arguments; @dateformat adds those of dates.');
  }
  if (first === undefined || computed !== undefined) checkUnlinked(field, diagnostics);
  if (computed !== undefined) checkNeeds(kind, field, computed.needs, diagnostics);
  if (alias !== undefined) checkAlias(kind, field, alias, diagnostics);
  if (child) checkChild(field, diagnostics);
  if (link !== undefined) checkLink(kind, field, link, diagnostics);
}

function checkUnlinked(field: SdlField, diagnostics: DiagnosticList): void {
  const { type } = getFieldShape(field);
  if (!isRecordType(type)) return;
  diagnostics.add(getTypeNode(field), `Expected @link or @child on a field of the record type ${type.name}.`);
}

function checkNeeds(
  kind: GraphQLObjectType,
  field: SdlField,
  needs: readonly string[],
  diagnostics: DiagnosticList,
): void {
  const directive = findDirective(field, 'computed');
  for (const path of needs) {
    if (path === 'parent' || hasColumn(kind, path) || directive === undefined) continue;
    diagnostics.add(directive, `Expected "needs" to name stored fields of ${kind.name}; received "${path}".`);
  }
}

const hasColumn = (kind: GraphQLObjectType, path: string): boolean =>
  findStored(kind, path) !== undefined || hasOwnKeyColumn(kind.getFields()[path]);

function checkAlias(kind: GraphQLObjectType, field: SdlField, of: string, diagnostics: DiagnosticList): void {
  const stored = findStored(kind, of);
  const [mine, theirs] = [getFieldShape(field), stored && getFieldShape(stored)];
  const fits = theirs?.type === mine.type && theirs.list === mine.list && (mine.nullable || !theirs.nullable);
  if (fits && isLeafType(mine.type)) return;
  const directive = findDirective(field, 'alias');
  if (directive === undefined) return;
  const expected = `Expected @alias of a stored field of ${kind.name} with the type ${String(field.type)}`;
  diagnostics.add(directive, `${expected}; received "${of}"${stored ? ` with the type ${String(stored.type)}` : ''}.`);
}

function checkChild(field: SdlField, diagnostics: DiagnosticList): void {
  const { type, list, nullable } = getFieldShape(field);
  if (isRecordType(type) && !list && nullable) return;
  const expected = isRecordType(type) ? `${type.name}, one record or null` : 'a @record type';
  diagnostics.add(getTypeNode(field), `Expected ${expected}; received ${String(field.type)}.`);
}
