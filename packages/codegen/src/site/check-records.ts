import {
  type ASTNode,
  type DefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  isObjectType,
  isScalarType,
  Kind,
} from 'graphql';
import { checkBackReference, checkLink, checkMarkdown, checkSources, MARKDOWN_TYPE } from './check-directives.js';
import { isMarkdownOfGatsby } from './gatsby-forms.js';
import {
  allQueryName,
  type DiagnosticList,
  findDirective,
  findStored,
  findStoredScalar,
  getAstNode,
  getFieldShape,
  getTypeNode,
  isRecordType,
  linkColumn,
  listRecordTypes,
  OPERATOR_INPUTS,
  readDirectives,
  type SdlField,
  singleQueryName,
  SOURCES,
  STORED_SCALARS,
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
  checkScalars(schema, definitions, diagnostics);
}

/** Checks that record types implement Node and that other types do not. */
function checkNodes(schema: GraphQLSchema, definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    const type = definition.kind === Kind.OBJECT_TYPE_DEFINITION ? schema.getType(definition.name.value) : undefined;
    if (!isObjectType(type)) continue;
    const isNode = type.getInterfaces().some(({ name }) => name === 'Node');
    if (isRecordType(type) && !isNode)
      diagnostics.add(definition, `${type.name} is marked @record but does not implement Node.`);
    if (!isRecordType(type) && isNode) {
      const advice = isMarkdownOfGatsby(type.name)
        ? FRONT_MATTER
        : `Add it: type ${type.name} implements Node @record.`;
      diagnostics.add(definition, `${type.name} implements Node but lacks @record. ${advice}`);
    }
  }
}

const FRONT_MATTER =
  'The values of front matter are fields of a record type: type Post implements Node @record @source(glob: "posts/*.md") { title: String }.';

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
    const { alias, computed, markdown } = readDirectives(field);
    if (alias !== undefined || computed !== undefined || markdown !== undefined) continue;
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

/** Checks that the fields of a record type can be stored or computed, and the directives on them. */
function checkFields(kind: GraphQLObjectType, diagnostics: DiagnosticList): void {
  for (const field of Object.values(kind.getFields())) {
    if (field.name in NODE_RELATIONS) continue;
    checkShape(field, diagnostics);
    checkDate(field, diagnostics);
    checkSource(kind, field, diagnostics);
    checkSearch(field, diagnostics);
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
        `@${source.name.value} is only allowed on fields of @record types; ${type.name} is not one.${adviseLink(type, field)}`,
      );
    }
    const { type: inner } = getFieldShape(field);
    if (isRecordType(inner) && sources.length === 0)
      diagnostics.add(
        getAstNode(field),
        `Expected a scalar, an enum or an object; received the record type ${inner.name}.`,
      );
    const search = findDirective(field, 'search');
    if (search !== undefined)
      diagnostics.add(search, `@search is only allowed on fields of @record types; ${type.name} is not one.`);
    if (field.args.length > 0 && type.name !== MARKDOWN_TYPE)
      diagnostics.add(getAstNode(field), 'Only @computed fields of @record types can have arguments.');
  }
}

/** Checks the types that scalars of the application name as their storage. */
function checkScalars(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  diagnostics: DiagnosticList,
): void {
  for (const { kind, ...definition } of definitions) {
    const type = 'name' in definition ? schema.getType(definition.name?.value ?? '') : undefined;
    if (kind !== Kind.SCALAR_TYPE_DEFINITION || !isScalarType(type)) continue;
    const stored = findStoredScalar(type);
    const directive = findDirective(type, 'stored');
    if (directive === undefined || stored === undefined) continue;
    if (type.name === 'Date')
      diagnostics.add(directive, 'A Date is stored as text, and cannot be stored in another way.');
    else if (!STORED_SCALARS.some((one) => one === stored))
      diagnostics.add(
        directive,
        `Expected @stored(as:) to be one of ${STORED_SCALARS.join(', ')}; received "${stored}".`,
      );
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
  if (isScalarType(type) && !(type.name in OPERATOR_INPUTS)) {
    if (findStoredScalar(type) === undefined) {
      const how = `scalar ${type.name} @stored(as: "String")`;
      diagnostics.add(
        getTypeNode(field),
        `A record cannot store ${type.name}. Name the scalar that stores it: ${how}.`,
      );
    }
  } else if (!isLeafType(type) && !isObjectType(type)) {
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

/** A field with a higher weight would leave the others without effect. */
const MAX_WEIGHT = 1000;

function checkSearch(field: SdlField, diagnostics: DiagnosticList): void {
  const search = findDirective(field, 'search');
  const { searchWeight = 1, alias, computed, link, markdown } = readDirectives(field);
  if (search === undefined) return;
  const { type } = getFieldShape(field);
  const isStored = [alias, computed, link, markdown].every((directive) => directive === undefined);
  if (!isStored || type.name !== 'String')
    diagnostics.add(search, `Expected @search on a stored field with text; received ${String(field.type)}.`);
  if (!(searchWeight > 0 && searchWeight <= MAX_WEIGHT)) {
    diagnostics.add(
      search,
      `Expected the weight of @search to be more than 0 and at most ${MAX_WEIGHT}; received ${searchWeight}.`,
    );
  }
}

/** Checks that only fields of type Date without arguments take those of `@dateformat`. */
export function checkDate(field: SdlField, diagnostics: DiagnosticList): void {
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
  const { computed, alias, link, back, child, markdown } = readDirectives(field);
  if (computed === undefined && field.args.length > 0) {
    diagnostics.add(getAstNode(field), 'Only @computed fields can declare arguments; @dateformat adds those of dates.');
  }
  if (first === undefined || computed !== undefined) checkUnlinked(field, diagnostics);
  if (computed !== undefined) checkNeeds(kind, field, computed.needs, diagnostics);
  if (alias !== undefined) checkAlias(kind, field, alias, diagnostics);
  if (child) checkChild(field, diagnostics);
  checkSlug(kind, field, diagnostics);
  checkMarkdown(kind, { field, of: markdown }, diagnostics);
  if (link !== undefined) checkLink(kind, field, link, diagnostics);
  if (back !== undefined) checkBackReference(kind, field, back, diagnostics);
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
  findStored(kind, path) !== undefined || hasOwnKeyColumn(kind, kind.getFields()[path]);

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

function checkSlug(kind: GraphQLObjectType, field: SdlField, diagnostics: DiagnosticList): void {
  const directive = findDirective(field, 'slug');
  if (directive === undefined) return;
  const { type, list } = getFieldShape(field);
  if (type.name !== 'String' || list)
    diagnostics.add(getTypeNode(field), `Expected the type String; received ${String(field.type)}.`);
  if (findDirective(kind, 'source') === undefined)
    diagnostics.add(directive, `Expected @slug in a record type with @source; ${kind.name} has no files.`);
}

/** Names the form for a path inside an object. */
function adviseLink(type: GraphQLObjectType, field: SdlField): string {
  const { type: linked } = getFieldShape(field);
  if (linked.name !== 'File' && linked.name !== 'Directory') return '';
  const place = `x.${field.name}`;
  return ` Make ${type.name}.${field.name} a String, and add a field to the record type: ${field.name}: ${linked.name} @link(from: "${place}"), where x is the field with the type ${type.name}.`;
}

/** Returns whether the keys of a link are stored in a column of the field itself. */
function hasOwnKeyColumn(kind: GraphQLObjectType, field: SdlField | undefined): boolean {
  if (field === undefined) return false;
  const { link } = readDirectives(field);
  return link !== undefined && linkColumn(kind, field, link) === field.name;
}
