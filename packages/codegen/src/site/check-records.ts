import {
  type ASTNode,
  type ConstDirectiveNode,
  type DefinitionNode,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  isObjectType,
  isScalarType,
  Kind,
} from 'graphql';
import {
  allQueryName,
  type DiagnosticList,
  findDirective,
  findStored,
  findTexts,
  getAstNode,
  getFieldShape,
  getTypeNode,
  isRecordDefinition,
  isRecordType,
  type LinkEnds,
  listRecordTypes,
  OPERATOR_INPUTS,
  readDirectives,
  type SdlField,
  singleQueryName,
} from './sdl.js';

/** Columns that the store adds to every record type. */
const RESERVED_COLUMNS = ['position'];

/** Checks the record types: their names, fields, columns and sources. */
export function checkRecords(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  diagnostics: DiagnosticList,
): void {
  const kinds = listRecordTypes(schema, definitions);
  checkNodes(schema, definitions, diagnostics);
  checkSources(definitions, diagnostics);
  checkKindNames(kinds, diagnostics);
  const inner = new Set<GraphQLObjectType>();
  for (const kind of kinds) {
    checkFields(kind, diagnostics);
    checkColumns(kind, diagnostics);
    for (const field of Object.values(kind.getFields())) gatherInner(getFieldShape(field).type, [], inner, diagnostics);
  }
  for (const type of inner) checkInnerFields(type, diagnostics);
}

/** Checks that record types implement Node and that other types do not. */
function checkNodes(schema: GraphQLSchema, definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    const type = definition.kind === Kind.OBJECT_TYPE_DEFINITION ? schema.getType(definition.name.value) : undefined;
    if (!isObjectType(type)) continue;
    const isNode = type.getInterfaces().some(({ name }) => name === 'Node');
    if (isRecordType(type) && !isNode)
      diagnostics.add(definition, `${type.name} is marked @record but does not implement Node.`);
    if (!isRecordType(type) && isNode) diagnostics.add(definition, `${type.name} implements Node but lacks @record.`);
  }
}

function checkKindNames(kinds: readonly GraphQLObjectType[], diagnostics: DiagnosticList): void {
  const taken = new Map<string, string>();
  for (const { name, astNode } of kinds) {
    const node = astNode as ASTNode;
    if (!/^[A-Z]/.test(name)) {
      diagnostics.add(node, `Expected the name of a record type to start with a capital letter; received "${name}".`);
    }
    const queries = [singleQueryName(name), allQueryName(name)];
    // Tables are named after record types, and names in SQL are case-insensitive.
    const clash = queries.find((query) => taken.has(query.toLowerCase()));
    if (clash !== undefined) {
      diagnostics.add(
        node,
        `The query "${clash}" conflicts with one of ${taken.get(clash.toLowerCase()) ?? ''}; case is ignored.`,
      );
    }
    for (const query of queries) taken.set(query.toLowerCase(), name);
  }
}

function checkColumns(kind: GraphQLObjectType, diagnostics: DiagnosticList): void {
  const taken = new Map(RESERVED_COLUMNS.map((name) => [name, 'the internal column of the record order']));
  for (const field of Object.values(kind.getFields())) {
    const { alias, computed } = readDirectives(field);
    if (alias !== undefined || computed !== undefined) continue;
    const column = field.name.toLowerCase();
    const other = taken.get(column);
    if (other !== undefined)
      diagnostics.add(field.astNode as ASTNode, `The name "${field.name}" conflicts with ${other}; case is ignored.`);
    taken.set(column, `${kind.name}.${field.name}`);
  }
}

/** Collects the objects inside a record. Reports those that contain themselves, which would need endless columns. */
function gatherInner(
  type: unknown,
  above: readonly GraphQLObjectType[],
  inner: Set<GraphQLObjectType>,
  diagnostics: DiagnosticList,
): void {
  if (!isObjectType(type) || isRecordType(type)) return;
  if (above.includes(type)) {
    diagnostics.add(type.astNode as ASTNode, `${type.name} contains itself.`);
    return;
  }
  if (inner.has(type)) return;
  inner.add(type);
  for (const field of Object.values(type.getFields())) {
    gatherInner(getFieldShape(field).type, [...above, type], inner, diagnostics);
  }
}

/** Checks that each `@source` is on a record type and that its patterns match files of the site only. */
function checkSources(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) checkExtension(definition.directives, diagnostics);
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const { name: type, directives } = definition;
    const source = directives?.find(({ name }) => name.value === 'source');
    if (source === undefined) continue;
    if (!isRecordDefinition(definition))
      diagnostics.add(source, `@source is only allowed on @record types; ${type.value} is not one.`);
    checkGlobs(source, diagnostics);
  }
}

/** Record directives are allowed on the definition of a type only, so that readers find them in one place. */
function checkExtension(directives: readonly ConstDirectiveNode[] = [], diagnostics: DiagnosticList): void {
  for (const directive of directives.filter(({ name }) => ['record', 'source'].includes(name.value))) {
    const name = `@${directive.name.value}`;
    diagnostics.add(directive, `${name} is not allowed on an extension. Move it to the definition of the type.`);
  }
}

function checkGlobs(source: ConstDirectiveNode, diagnostics: DiagnosticList): void {
  const glob = source.arguments?.find(({ name }) => name.value === 'glob')?.value;
  if (glob?.kind === Kind.LIST && glob.values.length === 0)
    diagnostics.add(glob, 'Expected at least one pattern; received an empty list.');
  for (const text of findTexts(source, 'glob')) {
    if (isBelowSite(text.value)) continue;
    const expected = "Expected a pattern of files below the site's folder, such as `content/*.md`";
    diagnostics.add(text, `${expected}; received "${text.value}".`);
  }
}

/** Rejects patterns that are empty, absolute or negated, or have a segment `.` or `..`. */
const isBelowSite = (glob: string): boolean =>
  glob.trim() !== '' && !/^(?:[/\\]|[A-Za-z]:|!(?!\())/.test(glob) && !DOTS.test(glob);

/** Such a segment may also be an alternative in a pattern: `{..,a}/*.md`. */
const DOTS = /(?:^|[/{,(|])\.{1,2}(?=$|[/},)|])/;

/** The directives that determine the origin of a field's value, at most one per field. Other fields are stored. */
const SOURCES = ['alias', 'child', 'computed', 'link'] as const;

/** Checks that the fields of a record type can be stored or computed, and the directives on them. */
function checkFields(kind: GraphQLObjectType, diagnostics: DiagnosticList): void {
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
function checkInnerFields(type: GraphQLObjectType, diagnostics: DiagnosticList): void {
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

/** Returns whether the keys of a link are stored in a column of the field itself. */
function hasOwnKeyColumn(field: SdlField | undefined): boolean {
  const link = field && readDirectives(field).link;
  return link !== undefined && link.from === undefined;
}

/** Checks that both ends of a link exist and have values of the same type. */
function checkLink(kind: GraphQLObjectType, field: SdlField, link: LinkEnds, diagnostics: DiagnosticList): void {
  const { type, list, nullable } = getFieldShape(field);
  const directive = findDirective(field, 'link');
  if (directive === undefined) return;
  if (!isObjectType(type) || !isRecordType(type)) {
    diagnostics.add(getTypeNode(field), `Expected a @record type; received ${String(field.type)}.`);
    return;
  }
  if (!list && !nullable) {
    const expected = `Expected ${type.name}, as the linked record may be missing`;
    diagnostics.add(getTypeNode(field), `${expected}; received ${String(field.type)}.`);
  }
  const to = findEnd({ end: 'to', path: link.to, of: type, list: false });
  const from = link.from === undefined ? 'text' : findEnd({ end: 'from', path: link.from, of: kind, list });
  for (const found of [from, to]) if (typeof found === 'object') diagnostics.add(directive, found.message);
  if (typeof from === 'string' && typeof to === 'string' && from !== to)
    diagnostics.add(
      directive,
      `Expected "to" to name a field of the same type as the keys (${from}); received "${link.to}" (${to}).`,
    );
}

interface End {
  readonly end: 'from' | 'to';
  readonly path: string;
  readonly of: GraphQLObjectType;
  readonly list: boolean;
}

/** Returns the type of the values at an end of a link, or an error message. */
function findEnd({ end, path, of, list }: End): string | { readonly message: string } {
  const stored = findStored(of, path);
  const shape = stored && getFieldShape(stored);
  if (shape?.list === list && isLeafType(shape.type)) return valueOf(shape.type);
  const values = list ? 'a list of values' : 'one value';
  return { message: `Expected "${end}" to name a stored field of ${of.name} with ${values}; received "${path}".` };
}

/** Returns the type of values in storage, where dates, ids and enums are text. */
function valueOf({ name }: GraphQLNamedOutputType): string {
  if (name === 'Int' || name === 'Float') return 'numbers';
  return name === 'Boolean' ? 'booleans' : 'text';
}
