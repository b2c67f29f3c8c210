import {
  type DefinitionNode,
  isTypeDefinitionNode,
  Kind,
  specifiedDirectives,
  specifiedScalarTypes,
  type TypeDefinitionNode,
} from 'graphql';
import {
  type DiagnosticList,
  hasFilter,
  isRecordDefinition,
  listDerivedNames,
  listDerivedNamesOfType,
  toTypeName,
} from './sdl.js';

/** Checks the names of types and directives against those of GraphQL, of derived types and of the generated files. */
export function checkNames(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  checkDerivedNames(definitions, diagnostics);
  checkStandardNames(definitions, diagnostics);
  checkTypeScriptNames(definitions.filter(isTypeDefinitionNode), diagnostics);
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
