import {
  astFromValue,
  BreakingChangeType,
  buildSchema,
  DangerousChangeType,
  findBreakingChanges,
  findDangerousChanges,
  getNamedType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  Kind,
  parse,
  print,
  Source,
  visit,
} from 'graphql';
import type { Location } from '../documents.js';
import type { Severity } from './changes.js';
import type { FoundChange } from './openapi.js';

/** One version of a schema: as published, and the documents that people write. */
export interface SchemaVersion {
  readonly sdl: string;
  /** The file with the published schema, for names that the documents do not contain. */
  readonly file: string;
  /** Path → SDL. */
  readonly documents: ReadonlyMap<string, string>;
}

/**
 * Compares two versions of a schema with graphql-js. New types and fields, which graphql-js does not list, are safe
 * changes. Nor does it list changes of `@oneOf`, of the defaults of input fields and of arguments that get a default.
 */
export function compareGraphql(before: SchemaVersion, after: SchemaVersion): readonly FoundChange[] {
  const [old, now] = [before, after].map(({ sdl }) => buildSchema(sdl)) as [GraphQLSchema, GraphQLSchema];
  const places = [indexPlaces(before), indexPlaces(after)] as const;
  const toChange =
    (severity: Severity) =>
    ({ type, description }: { readonly type: string; readonly description: string }) => {
      const name = findName(description);
      return {
        rule: toRule(type),
        severity,
        message: description,
        location: locate(places, name, after),
        operations: listQueries(old, now, name),
      };
    };
  return [
    ...[...findBreakingChanges(old, now), ...listNewChoices(old, now)].map(toChange('breaking')),
    ...[...findDangerousChanges(old, now), ...listDefaultChanges(old, now)].map(toChange('dangerous')),
    ...listAdditions(old, now).map(toChange('safe')),
  ];
}

/** Returns the type or member that a sentence of graphql-js is about. */
function findName(description: string): string {
  const [, value, union, owner = ''] =
    /^(\w+) was (?:removed from|added to) (?:enum|(union)) type (\w+)/.exec(description) ?? [];
  if (value !== undefined) return union === undefined ? `${owner}.${value}` : owner;
  const [, field, input] = / field (\w+) on input type (\w+)/.exec(description) ?? [];
  if (field !== undefined && input !== undefined) return `${input}.${field}`;
  return / on (\w+\.\w+)/.exec(description)?.[1] ?? /\w+(?:\.\w+)?/.exec(description)?.[0] ?? '';
}

/** `FIELD_REMOVED` → `field-removed`. */
const toRule = (type: string): string => type.toLowerCase().replaceAll('_', '-');

/** The names of the rules for GraphQL. */
export const GRAPHQL_RULES: readonly (readonly [rule: string, severity: Severity])[] = [
  ...Object.values(BreakingChangeType).map((type) => [toRule(type), 'breaking'] as const),
  ['one-of-added', 'breaking'],
  ...Object.values(DangerousChangeType).map((type) => [toRule(type), 'dangerous'] as const),
  ['input-field-default-value-change', 'dangerous'],
  ['type-added', 'safe'],
  ['field-added', 'safe'],
];

interface Addition {
  readonly type: string;
  readonly description: string;
}

function listAdditions(old: GraphQLSchema, now: GraphQLSchema): readonly Addition[] {
  return Object.values(now.getTypeMap()).flatMap((type): readonly Addition[] => {
    const known = old.getType(type.name);
    if (known === undefined) return [{ type: 'TYPE_ADDED', description: `${type.name} was added.` }];
    if (!hasFields(type) || !hasFields(known)) return [];
    const fields = known.getFields();
    return Object.keys(type.getFields())
      .filter((name) => !Object.hasOwn(fields, name))
      .map((name) => ({ type: 'FIELD_ADDED', description: `${type.name}.${name} was added.` }));
  });
}

/** Lists the input objects that both versions have. */
const listInputs = (old: GraphQLSchema, now: GraphQLSchema) =>
  Object.values(now.getTypeMap()).flatMap((type) => {
    const known = old.getType(type.name);
    return isInputObjectType(type) && isInputObjectType(known) ? [{ known, type }] : [];
  });

const listNewChoices = (old: GraphQLSchema, now: GraphQLSchema): readonly Addition[] =>
  listInputs(old, now)
    .filter(({ known, type }) => type.isOneOf && !known.isOneOf)
    .map(({ type: { name } }) => ({
      type: 'ONE_OF_ADDED',
      description: `${name} requires exactly one of its fields.`,
    }));

/** Lists changed defaults of optional input fields, and those that optional arguments get, as graphql-js omits both. */
function listDefaultChanges(old: GraphQLSchema, now: GraphQLSchema): readonly Addition[] {
  const fields = listInputs(old, now).flatMap(({ known, type }) =>
    Object.values(type.getFields()).flatMap((field): readonly Addition[] => {
      const previous = known.getFields()[field.name];
      if (previous === undefined || isRequiredInputField(previous)) return [];
      const description = describeDefault(`${type.name}.${field.name}`, previous, field);
      return description === undefined ? [] : [{ type: 'INPUT_FIELD_DEFAULT_VALUE_CHANGE', description }];
    }),
  );
  const all = listArguments(now);
  const args = [...listArguments(old)].flatMap(([name, previous]): readonly Addition[] => {
    const arg = all.get(name);
    if (arg === undefined || isRequiredArgument(previous) || previous.defaultValue !== undefined) return [];
    const description = describeDefault(name, previous, arg);
    return description === undefined ? [] : [{ type: 'ARG_DEFAULT_VALUE_CHANGE', description }];
  });
  return [...fields, ...args];
}

/** Lists the arguments of fields as `Query.plants arg limit`. */
const listArguments = (schema: GraphQLSchema): ReadonlyMap<string, GraphQLArgument> =>
  new Map(
    Object.values(schema.getTypeMap())
      .filter((type) => hasFields(type))
      .flatMap((type) =>
        Object.values(type.getFields()).flatMap((field) =>
          field.args.map((arg) => [`${type.name}.${field.name} arg ${arg.name}`, arg] as const),
        ),
      ),
  );

function describeDefault(name: string, previous: InputValue, value: InputValue): string | undefined {
  const [before, after] = [showDefault(previous), showDefault(value)];
  return before === after ? undefined : `${name} has the default ${after} instead of ${before}.`;
}

type InputValue = GraphQLArgument | GraphQLInputField;

function showDefault({ defaultValue, type }: InputValue): string {
  const value = astFromValue(defaultValue, type);
  return value ? print(value) : 'none';
}

const hasFields = (type: unknown): type is GraphQLInterfaceType | GraphQLObjectType =>
  isObjectType(type) || isInterfaceType(type);

/** Maps `Type`, `Type.field` and `Type.VALUE` to their lines. */
function indexPlaces({ documents, file, sdl }: SchemaVersion): ReadonlyMap<string, Location> {
  const places = new Map<string, Location>();
  for (const [name, text] of [...documents, [file, sdl] as const]) {
    if (text.trim() === '') continue;
    for (const definition of parse(new Source(text, name)).definitions) {
      visit(definition, {
        enter(node) {
          const isMember =
            node.kind === Kind.FIELD_DEFINITION ||
            node.kind === Kind.ENUM_VALUE_DEFINITION ||
            node.kind === Kind.INPUT_VALUE_DEFINITION;
          if (!('name' in node) || node.name?.kind !== Kind.NAME || !('name' in definition)) return undefined;
          const { line = 1, column = 1 } = node.name.loc?.startToken ?? {};
          const key = isMember ? `${definition.name?.value ?? ''}.${node.name.value}` : node.name.value;
          if ((isMember || node === definition) && !places.has(key)) places.set(key, { file: name, line, column });
          return node.kind === Kind.FIELD_DEFINITION ? false : undefined;
        },
      });
    }
  }
  return places;
}

/** Finds a name in the new version, else in the previous one, else its type. */
function locate(
  [old, now]: readonly [ReadonlyMap<string, Location>, ReadonlyMap<string, Location>],
  name: string,
  { file }: SchemaVersion,
): Location {
  const [type = '', field] = name.split('.');
  const member = field === undefined ? type : `${type}.${field}`;
  return now.get(member) ?? old.get(member) ?? now.get(type) ?? old.get(type) ?? { file, line: 1, column: 1 };
}

/** Lists the fields of `Query` that return or take a type, directly or inside of their result and arguments. */
function listQueries(old: GraphQLSchema, now: GraphQLSchema, name: string): readonly string[] {
  const [type = '', field] = name.split('.');
  if (type === 'Query') return field === undefined ? [] : [field];
  const queries = [old, now].flatMap((schema) =>
    Object.values(schema.getQueryType()?.getFields() ?? {})
      .filter((query) =>
        [query.type, ...query.args.map((arg) => arg.type)].some((one) => reaches(getNamedType(one), type, new Set())),
      )
      .map((query) => query.name),
  );
  return [...new Set(queries)];
}

/** Relations lead from every record to every other, so those of `Node` do not count. */
function reaches(from: GraphQLNamedType, type: string, seen: Set<string>): boolean {
  if (from.name === type) return true;
  if (seen.has(from.name)) return false;
  seen.add(from.name);
  return listParts(from).some((part) => part.name !== 'Node' && reaches(part, type, seen));
}

/** Lists the types that a type consists of. */
function listParts(type: GraphQLNamedType): readonly GraphQLNamedType[] {
  if (isUnionType(type)) return type.getTypes();
  if (isInputObjectType(type)) return Object.values(type.getFields()).map((field) => getNamedType(field.type));
  if (!hasFields(type)) return [];
  return Object.values(type.getFields()).flatMap((field) =>
    [field.type, ...field.args.map((arg) => arg.type)].map((one): GraphQLNamedType => getNamedType(one)),
  );
}
