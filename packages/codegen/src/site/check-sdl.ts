import {
  astFromValue,
  type ASTVisitFn,
  type ASTVisitor,
  type ConstValueNode,
  type DefinitionNode,
  type DirectiveDefinitionNode,
  type DirectiveNode,
  type FieldDefinitionNode,
  getNamedType,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  introspectionTypes,
  isInputType,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  KnownTypeNamesRule,
  type NamedTypeNode,
  parse,
  print,
  specifiedDirectives,
  specifiedScalarTypes,
  type TypeDefinitionNode,
  typeFromAST,
  type TypeNode,
  valueFromAST,
  visit,
} from 'graphql';
import type { SDLValidationContext } from 'graphql/validation/ValidationContext.js';
// Not exported by the index of graphql, but the only access to its rules and their list that preserves locations.
import { specifiedSDLRules } from 'graphql/validation/specifiedRules.js';
import { validateSDL } from 'graphql/validation/validate.js';
import { MARKDOWN_TYPE } from './check-directives.js';
import { findGatsbyForm } from './gatsby-forms.js';
import {
  allQueryName,
  type DerivedNames,
  GENERATOR_DIRECTIVES,
  type DiagnosticList,
  hasFilter,
  isRecordDefinition,
  listDerivedNames,
  listDerivedNamesOfType,
  locateAstNode,
  singleQueryName,
  toTypeName,
  withHint,
} from './sdl.js';

/** Checks the documents against GraphQL's rules and the reserved names. */
export function checkSdl(all: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const definitions = withoutRepeatedKinds(all, diagnostics);
  checkFoundation(definitions, diagnostics);
  const derived = listDerivedNames(definitions);
  checkNames(definitions, diagnostics);
  for (const definition of definitions) checkDefinition(definition, derived, diagnostics);
  const document = {
    kind: Kind.DOCUMENT,
    definitions: [...definitions, ...declarePlaceholderTypes(definitions)],
  } as const;
  const names = definitions.flatMap((known) => (known.kind === Kind.DIRECTIVE_DEFINITION ? [known.name.value] : []));
  for (const error of validateSDL(document, undefined, RULES)) addSdlError(error, names, diagnostics);
  checkCircularDefaults(definitions, diagnostics);
}

/** Reports defaults of inputs that contain themselves, such as `input A { a: A = {} }`: their values would be endless. */
function checkCircularDefaults(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const inputs = definitions.filter(isInputDefinition);
  const fields = new Map<string, readonly InputValueDefinitionNode[]>();
  for (const { name, fields: own = [] } of inputs) fields.set(name.value, [...(fields.get(name.value) ?? []), ...own]);
  for (const root of [...fields.values()].flat()) {
    const seen = new Set<InputValueDefinitionNode>();
    const leadsToRoot = (value: ConstValueNode, type: TypeNode): boolean => {
      if (value.kind === Kind.LIST) return value.values.some((item) => leadsToRoot(item, type));
      if (value.kind !== Kind.OBJECT) return false;
      return (fields.get(nameOf(type)) ?? []).some((field) => {
        const given = value.fields.find(({ name }) => name.value === field.name.value)?.value;
        if (given !== undefined) return leadsToRoot(given, field.type);
        if (field === root) return true;
        if (field.defaultValue === undefined || seen.has(field)) return false;
        seen.add(field);
        return leadsToRoot(field.defaultValue, field.type);
      });
    };
    if (root.defaultValue === undefined || !leadsToRoot(root.defaultValue, root.type)) continue;
    diagnostics.add(root.defaultValue, `The default ${print(root.defaultValue)} contains itself.`);
  }
}

const isInputDefinition = (node: DefinitionNode) =>
  node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION;

const nameOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type));

/** The types that every project has, with the document that defines each. */
const BUILT_IN_KINDS: Readonly<Record<string, string>> = {
  Date: 'node.graphql',
  Directory: 'file.graphql',
  File: 'file.graphql',
  ImageProc: 'image.graphql',
  Markdown: 'markdown.graphql',
  Internal: 'node.graphql',
  Node: 'node.graphql',
  PageInfo: 'node.graphql',
  Site: 'site.graphql',
  SiteBuildMetadata: 'site.graphql',
  SitePage: 'site.graphql',
  SitePlugin: 'site.graphql',
  SiteSiteMetadata: 'site.graphql',
};

/** Reports built-in types that are defined again, and leaves these definitions out, as they would cause further errors. */
function withoutRepeatedKinds(
  definitions: readonly DefinitionNode[],
  diagnostics: DiagnosticList,
): readonly DefinitionNode[] {
  return definitions.filter((definition) => {
    const name = isTypeDefinitionNode(definition) ? definition.name.value : '';
    const document = BUILT_IN_KINDS[name];
    if (document === undefined || locateAstNode(definition).file.endsWith(`/${document}`)) return true;
    const builtIn = definitions.find(
      (other) =>
        isTypeDefinitionNode(other) && other.name.value === name && locateAstNode(other).file.endsWith(`/${document}`),
    );
    if (builtIn === undefined) return true;
    const { file, line } = locateAstNode(builtIn);
    const canExtend = builtIn.kind === Kind.OBJECT_TYPE_DEFINITION && name !== MARKDOWN_TYPE;
    const extension = canExtend ? `, or add fields to it: extend type ${name}` : '';
    diagnostics.add(
      definition,
      `${name} is a built-in type, which ${file}:${line} defines. Choose another name${extension}.`,
    );
    return false;
  });
}

/** The number of unknown types for which similar names are suggested, as each is compared with all types. */
const MAX_SUGGESTED = 100;

/** The rule of GraphQL, with suggestions for the first unknown types only. */
function FirstUnknownTypesRule(context: SDLValidationContext): ASTVisitor {
  const defined = context.getDocument().definitions.filter(isTypeDefinitionNode);
  const known = new Set([...defined, ...specifiedScalarTypes, ...introspectionTypes].map(toName));
  const { NamedType: suggest } = KnownTypeNamesRule(context) as { readonly NamedType: ASTVisitFn<NamedTypeNode> };
  let count = 0;
  return {
    NamedType(...visit) {
      const [node] = visit;
      if (known.has(node.name.value)) return;
      count += 1;
      if (count <= MAX_SUGGESTED) suggest(...visit);
      else context.reportError(new GraphQLError(`Unknown type "${node.name.value}".`, { nodes: node }));
    },
  };
}

const toName = ({ name }: GraphQLNamedType | TypeDefinitionNode): string =>
  typeof name === 'string' ? name : name.value;

const RULES = specifiedSDLRules.map((rule) => (rule === KnownTypeNamesRule ? FirstUnknownTypesRule : rule));

/** Adds an error of GraphQL. The message about an unknown directive is replaced by one that lists the known ones. */
function addSdlError(error: GraphQLError, names: readonly string[], diagnostics: DiagnosticList): void {
  const node = error.nodes?.at(-1);
  const hint = findGatsbyForm(error.message);
  if (node?.kind !== Kind.DIRECTIVE || !error.message.startsWith('Unknown directive')) {
    diagnostics.addError(error, hint);
    return;
  }
  const name = node.name.value;
  const message = `Expected one of @${names.toSorted().join(', @')}, @deprecated; received @${name}.`;
  diagnostics.add(node, withHint(message, GENERATOR_DIRECTIVES.includes(name) ? COPY_DIRECTIVE : hint));
}

/** The documents of a project keep the directives that there were when it was created. */
const COPY_DIRECTIVE = 'Copy its definition from schema/directives.graphql of a new project ("npm create trellis").';

/** Checks that the documents define the types that derived types rely on. */
function checkFoundation(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const [first] = definitions;
  const start =
    first === undefined ? { file: 'schema', line: 1, column: 1 } : { ...locateAstNode(first), line: 1, column: 1 };
  const names = definitions.map((definition) => ('name' in definition ? definition.name?.value : undefined));
  for (const [name, kind] of Object.entries({ Date: 'scalar', Node: 'interface', PageInfo: 'type' })) {
    if (!names.includes(name)) diagnostics.addAt(start, `The documents do not define "${kind} ${name}".`);
  }
  if (!definitions.some(isRecordDefinition)) {
    diagnostics.addAt(start, 'No type is marked @record.');
  }
}

function checkDefinition(definition: DefinitionNode, derived: DerivedNames, diagnostics: DiagnosticList): void {
  const { kind } = definition;
  if (kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION) {
    diagnostics.add(definition, 'Expected the definition of a type, directive or extension; received a query.');
    return;
  }
  if (kind === Kind.SCHEMA_DEFINITION || kind === Kind.SCHEMA_EXTENSION) {
    diagnostics.add(
      definition,
      'A schema definition is not allowed: the types of operations, Query and Subscription, are generated.',
    );
    return;
  }
  const name = definition.name.value;
  if (name === 'Mutation') {
    diagnostics.add(definition, `The name "${name}" is reserved: the schema is read-only.`);
  }
  if (name === 'Query' && isTypeDefinitionNode(definition)) {
    diagnostics.add(definition, 'The type Query is generated. Add fields with "extend type Query".');
  }
  if (name === 'Node' && isTypeExtensionNode(definition)) {
    diagnostics.add(
      definition,
      'The interface Node cannot be extended, as the records of built-in types have its fields.',
    );
  }
  if (!derived.has(name)) return;
  const message = isTypeExtensionNode(definition)
    ? `The type "${name}" is generated and cannot be extended.`
    : `The name "${name}" is reserved: it is generated for the record types.`;
  diagnostics.add(definition, message);
}

/** Checks the types of default values and of directive arguments. */
export function checkValues(
  schema: GraphQLSchema,
  definitions: readonly DefinitionNode[],
  diagnostics: DiagnosticList,
): void {
  const document = { kind: Kind.DOCUMENT, definitions } as const;
  visit(document, {
    InputValueDefinition: (node) => checkDefault(schema, node, diagnostics),
    Directive: (node) => checkDirective(schema, node, diagnostics),
  });
}

function checkDefault(
  schema: GraphQLSchema,
  { type, defaultValue }: InputValueDefinitionNode,
  diagnostics: DiagnosticList,
) {
  if (defaultValue === undefined) return;
  const inputType = typeFromAST(schema, type);
  // Derived types are placeholders here, which can't validate a value.
  if (inputType === undefined || !isInputType(inputType) || isPlaceholder(getNamedType(inputType))) return;
  const value = valueFromAST(defaultValue, inputType);
  if (value === undefined) {
    diagnostics.add(defaultValue, `Expected a default of type ${print(type)}; received ${print(defaultValue)}.`);
  } else if (!canIntrospect(value, inputType)) {
    diagnostics.add(
      defaultValue,
      `Introspection cannot show lists and objects of a scalar as a default; received ${print(defaultValue)}.`,
    );
  }
}

/** Returns whether introspection can print a default: all but lists and objects of scalars of the application. */
function canIntrospect(value: unknown, type: GraphQLInputType): boolean {
  try {
    astFromValue(value, type);
    return true;
  } catch {
    return false;
  }
}

const isPlaceholder = ({ astNode }: GraphQLNamedType): boolean => astNode != null && astNode.loc === undefined;

function checkDirective(schema: GraphQLSchema, node: DirectiveNode, diagnostics: DiagnosticList): void {
  const known = schema.getDirective(node.name.value)?.args ?? [];
  for (const { name, value } of node.arguments ?? []) {
    const argument = known.find((candidate) => candidate.name === name.value);
    if (argument === undefined || valueFromAST(value, argument.type) !== undefined) continue;
    diagnostics.add(
      value,
      `Expected a value of type ${String(argument.type)} for "${name.value}"; received ${print(value)}.`,
    );
  }
}

const BODIES = { enum: '{ _ }', input: '{ _: Int }', type: '{ _: Int }' };

/**
 * Returns placeholders of the types that will be derived, so that hand-written types can refer to them and the
 * documents form a complete schema.
 */
export function declarePlaceholderTypes(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const taken = new Set(definitions.map((node) => isTypeDefinitionNode(node) && node.name.value));
  const names = [...listDerivedNames(definitions)].filter(([name]) => !taken.has(name));
  const text = names.map(([name, kind]) => `${kind} ${name} ${BODIES[kind]}`);
  const query = taken.has('Query')
    ? []
    : [`type Query { ${['_', ...queryNames(definitions)].map((name) => `${name}: Int`).join(' ')} }`];
  const document = parse([...text, ...query].join('\n'), { noLocation: true });
  return document.definitions;
}

/** Returns each name once, as `check-records.ts` reports record types with the same queries. */
function queryNames(definitions: readonly DefinitionNode[]): ReadonlySet<string> {
  const kinds = definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION).filter(isRecordDefinition);
  return new Set(kinds.flatMap(({ name }) => [singleQueryName(name.value), allQueryName(name.value)]));
}

/** Checks the names of types and directives against those of GraphQL, of derived types and of the generated files. */
function checkNames(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  checkDerivedNames(definitions, diagnostics);
  checkStandardNames(definitions, diagnostics);
  checkTypeScriptNames(definitions.filter(isTypeDefinitionNode), diagnostics);
  checkArgumentNames(definitions, diagnostics);
}

/** Checks that derived names are unique: `Pan` and `PanGroup` would both have a `PanGroupConnection`. */
function checkDerivedNames(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const owners = new Map([...listDerivedNames([]).keys()].map((name) => [name, 'all record types']));
  for (const definition of definitions.filter(hasFilter)) {
    const type = definition.name.value;
    for (const name of listDerivedNamesOfType(definition).keys()) {
      const owner = owners.get(name) ?? type;
      if (owner !== type) diagnostics.add(definition, `The name "${name}" is reserved: it is generated for ${owner}.`);
      owners.set(name, owner);
    }
  }
}

/** The directive of live queries. */
const LIVE = '@live';

/** Checks that the documents don't define the scalars and directives of GraphQL again. */
function checkStandardNames(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const standard = [
    ...specifiedScalarTypes.map(({ name }) => name),
    ...specifiedDirectives.map(({ name }) => `@${name}`),
  ];
  for (const definition of definitions) {
    const isDirective = definition.kind === Kind.DIRECTIVE_DEFINITION;
    if (!isDirective && !isTypeDefinitionNode(definition)) continue;
    const name = `${isDirective ? '@' : ''}${definition.name.value}`;
    if (name === LIVE)
      diagnostics.add(definition, `The name "${name}" is reserved: it is generated for all record types.`);
    if (standard.includes(name)) diagnostics.add(definition, `${name} is part of GraphQL. Choose another name.`);
    if (!isDirective && name.startsWith('__')) {
      diagnostics.add(
        definition,
        `Name "${name}" must not begin with "__", which is reserved by GraphQL introspection.`,
      );
    }
  }
}

/** The names that the generated files declare, import or use, apart from those of the types of the schema. */
const TYPESCRIPT_NAMES: ReadonlySet<string> = new Set([
  ...['Array', 'Exclude', 'InputMaybe', 'Maybe', 'NonNullable', 'Omit', 'Partial', 'Pick', 'Promise', 'PropertyKey'],
  ...['Readonly', 'ReadonlyArray', 'Record', 'RequireFields', 'Scalars'],
  ...[
    'DirectiveResolverFn',
    'DirectiveResolvers',
    'LiveDirectiveArgs',
    'LiveDirectiveResolver',
    'GraphQLResolveInfo',
    'GraphQLScalarType',
    'GraphQLScalarTypeConfig',
  ],
  ...['IsTypeOfResolverFn', 'MissingResolver', 'NextResolverFn', 'Resolver', 'ResolverFn', 'ResolverTypeWrapper'],
  ...['ResolverWithResolve', 'Resolvers', 'ResolversInterfaceTypes', 'ResolversParentTypes', 'ResolversTypes'],
  ...['ResolversUnionTypes', 'ScalarCodec', 'SiteContext', 'SiteResolvers', 'TypeResolveFn'],
  ...['SubscriptionObject', 'SubscriptionResolveFn', 'SubscriptionResolver', 'SubscriptionResolverObject'],
  ...['SubscriptionSubscribeFn', 'SubscriptionSubscriberObject'],
  ...['NodeRecord', 'RecordConnection', 'RecordKind', 'RecordTable', 'RecordsByKind'],
]);

/** Checks that each type has a name of its own in the generated files, where names start with a capital letter. */
function checkTypeScriptNames(definitions: readonly TypeDefinitionNode[], diagnostics: DiagnosticList): void {
  const records = definitions.filter(isRecordDefinition).map(({ name }) => `${name.value}Record`);
  const taken = new Map<string, string>();
  for (const definition of definitions) {
    const name = toTypeName(definition.name.value);
    const other = taken.get(name) ?? definition.name.value;
    if (other !== definition.name.value) {
      const message = `The names "${definition.name.value}" and "${other}" are the same in the generated files.`;
      diagnostics.add(definition, message);
    }
    taken.set(name, definition.name.value);
    if (TYPESCRIPT_NAMES.has(name) || records.includes(name) || /(?:FieldResolvers|ScalarConfig)$/u.test(name)) {
      diagnostics.add(definition, `The name "${definition.name.value}" is reserved: the generated files use it.`);
    }
  }
}

/**
 * Checks that the types of arguments have names of their own, such as `QuerySearchArgs` for those of `Query.search`, and
 * `TagDirectiveArgs` for those of `@tag`.
 */
function checkArgumentNames(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  const taken = new Map(
    definitions.filter(isTypeDefinitionNode).map(({ name }) => [toTypeName(name.value), `the type ${name.value}`]),
  );
  const take = (node: DirectiveDefinitionNode | FieldDefinitionNode, generated: string, of: string): void => {
    const other = taken.get(generated);
    if (other !== undefined && other !== of)
      diagnostics.add(
        node,
        `The arguments of ${of} and ${other} have the same name in the generated files: ${generated}.`,
      );
    taken.set(generated, of);
  };
  for (const definition of definitions) {
    const name = 'name' in definition ? (definition.name?.value ?? '') : '';
    if (definition.kind === Kind.DIRECTIVE_DEFINITION) take(definition, `${toTypeName(name)}DirectiveArgs`, `@${name}`);
    if (!('fields' in definition)) continue;
    for (const field of definition.fields ?? []) {
      if (field.kind !== Kind.FIELD_DEFINITION || (field.arguments ?? []).length === 0) continue;
      take(field, `${toTypeName(name)}${toTypeName(field.name.value)}Args`, `${name}.${field.name.value}`);
    }
  }
}
