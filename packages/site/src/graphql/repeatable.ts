import type { RecordField } from '@trellis/core/record-types';
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type ValidationRule,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import type { RecordTables } from '../records/record-schema.js';
import type { FieldFunctions } from './computed-fields.js';

/** Shared by all copies of this package in a process. */
const REPEATABLE = Symbol.for('@trellis/site repeatable');

/**
 * Marks a hand-written resolver whose results stay the same until a record of the site changes. The server keeps the
 * responses of queries in which all hand-written resolvers are marked.
 *
 * @param reads The types of the records that it reads beside its own record; by default any. The server keeps responses
 * while records of other types change.
 */
export function repeatable<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  reads?: readonly string[],
): Resolver {
  return Object.assign(resolve, { [REPEATABLE]: reads ?? true });
}

/** The record types that a field with `@markdown` reads, for the targets of links. */
const MARKDOWN_READS = ['File', 'Directory', 'ImageProc'];

/** The arguments of dates that compare with the current time. */
const CLOCK_ARGUMENTS = ['difference', 'fromNow'];

type Variables = Readonly<Record<string, unknown>>;

/** Finds the documents whose results stay the same until a record of the site changes. */
export interface RepeatableDocuments {
  /** Notes what a document selects, during its validation, which visits all fields anyway. */
  readonly rule: ValidationRule;
  /** Returns whether a document is repeatable, which has been validated with the rule. */
  readonly has: (document: DocumentNode) => boolean;
  /**
   * Returns the record types that an operation of such a document may read: its result is the same until a record of
   * these types changes. `undefined` for any type.
   */
  readonly kindsOf: (
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables | undefined,
  ) => readonly string[] | undefined;
}

interface Application {
  readonly schema: GraphQLSchema;
  readonly resolvers: FieldFunctions;
  readonly tables: RecordTables;
}

export function findRepeatableDocuments(application: Application): RepeatableDocuments {
  const found = new WeakSet<DocumentNode>();
  const documents = new WeakMap<DocumentNode, DocumentReads>();
  const places = listPlaces(application);
  return {
    has: (document) => found.has(document),
    kindsOf: (document, operation, variables) => documents.get(document)?.kindsOf(operation, variables),
    rule: (context) => {
      const document = context.getDocument();
      const reads = new DocumentReads(application, places);
      found.add(document);
      documents.set(document, reads);
      return {
        Field(node) {
          const parent = context.getParentType();
          const type = getNamedType(context.getType());
          const { name, arguments: args = [] } = node;
          const dependsOnClock =
            type?.name === 'Date' &&
            args.some((one) => CLOCK_ARGUMENTS.includes(one.name.value) && one.value.kind !== Kind.NULL);
          const owners = parent ? listObjectTypes(parent, application.schema) : [];
          const isUnmarked = owners.some((owner) => {
            const resolver = findResolver(application, owner, name.value);
            return resolver !== undefined && !(REPEATABLE in resolver);
          });
          if (dependsOnClock || !parent || isUnmarked) found.delete(document);
          reads.addField(node, owners, type);
        },
      };
    },
  };
}

function listObjectTypes(type: GraphQLNamedType, schema: GraphQLSchema): readonly string[] {
  if (isObjectType(type)) return [type.name];
  return isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : [];
}

/** Ignores inherited properties, such as `constructor`. */
function findResolver({ resolvers }: Application, type: string, field: string): object | undefined {
  const members = resolvers[type];
  return members && Object.hasOwn(members, field) ? members[field] : undefined;
}

/** How the value of an argument names fields of a record type. */
type Naming = 'filter' | 'path' | 'sort';

/** The arguments that name fields of a record type. */
interface Place {
  readonly kind: string;
  readonly named: Readonly<Record<string, Naming>>;
  /** Whether all arguments together are a filter. */
  readonly isFilter?: boolean;
}

/** Lists the derived fields whose arguments name fields: `Query.allFile`, `FileConnection.group`. */
function listPlaces({ schema, tables }: Application): ReadonlyMap<string, Place> {
  const query = schema.getQueryType()?.name ?? 'Query';
  return new Map(
    Object.values(tables).flatMap(({ kind, single, all }): (readonly [string, Place])[] => [
      [`${query}.${single}`, { kind, named: {}, isFilter: true }],
      [`${query}.${all}`, { kind, named: { filter: 'filter', sort: 'sort' } }],
      [`${kind}Connection.group`, { kind, named: { field: 'path' } }],
      [`${kind}Connection.distinct`, { kind, named: { field: 'path' } }],
    ]),
  );
}

/** The record types that the operations of a document may read. */
class DocumentReads {
  readonly #application: Application;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #selected: KindSet;
  /** The arguments that name fields, which may contain variables. */
  readonly #named: { readonly kind: string; readonly how: Naming; readonly value: ValueNode }[] = [];
  /** The result for operations without variables. */
  #constant: readonly string[] | undefined;

  constructor(application: Application, places: ReadonlyMap<string, Place>) {
    this.#application = application;
    this.#places = places;
    this.#selected = new KindSet(application);
  }

  /** @param owners The object types that may have the field. */
  addField({ name: { value: name }, arguments: args = [] }: FieldNode, owners: readonly string[], type: unknown): void {
    if (name.startsWith('__')) return;
    if (isAbstractType(type)) this.#selected.isAny = true;
    if (isObjectType(type) && type.name in this.#application.tables) this.#selected.add(type.name);
    for (const owner of owners) {
      this.#selected.addComputed(owner, name);
      const place = this.#places.get(`${owner}.${name}`);
      if (!place) continue;
      const { kind, named, isFilter } = place;
      this.#selected.add(kind);
      if (isFilter === true) {
        const fields = args.map((one) => ({ ...one, kind: Kind.OBJECT_FIELD }) as const);
        this.#named.push({ kind, how: 'filter', value: { kind: Kind.OBJECT, fields } });
      }
      for (const { name: argument, value } of args) {
        const how = named[argument.value];
        if (how) this.#named.push({ kind, how, value });
      }
    }
  }

  kindsOf({ variableDefinitions = [] }: OperationDefinitionNode, given: Variables = {}): readonly string[] | undefined {
    if (this.#selected.isAny) return undefined;
    if (this.#constant) return this.#constant;
    const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
    );
    const variables = { ...Object.fromEntries(defaults), ...given };
    const kinds = new KindSet(this.#application, this.#selected);
    for (const { kind, how, value } of this.#named) kinds.addNamed(kind, how, valueFromASTUntyped(value, variables));
    const list = kinds.isAny ? undefined : [...kinds];
    if (variableDefinitions.length === 0) this.#constant = list;
    return list;
  }
}

/** Record types that are read. */
class KindSet implements Iterable<string> {
  /** Whether records of any type may be read. */
  isAny = false;
  readonly #application: Application;
  readonly #kinds: Set<string>;

  constructor(application: Application, before: Iterable<string> = []) {
    this.#application = application;
    this.#kinds = new Set(before);
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#kinds[Symbol.iterator]();
  }

  add(kind: string): void {
    this.#kinds.add(kind);
  }

  /** Adds what the resolver of a field reads, if it is written by hand or derived from text. */
  addComputed(owner: string, name: string): void {
    const resolver = findResolver(this.#application, owner, name);
    if (resolver) {
      const reads = REPEATABLE in resolver ? resolver[REPEATABLE] : undefined;
      if (Array.isArray(reads)) for (const kind of reads as string[]) this.add(kind);
      else this.isAny = true;
      return;
    }
    const field = this.#application.tables[owner]?.fields.find((one) => one.name === name);
    if (field?.kind === 'computed' && field.markdown !== undefined) MARKDOWN_READS.forEach((kind) => this.add(kind));
  }

  addNamed(kind: string, how: Naming, value: unknown): void {
    if (value === null || value === undefined) return;
    if (how === 'filter') this.#addFilter(kind, this.#fieldsOf(kind), value);
    else if (how === 'path') this.#addPath(kind, value);
    else for (const path of [(value as { fields?: unknown }).fields].flat()) this.#addPath(kind, path);
  }

  #fieldsOf(kind: string): readonly RecordField[] {
    return this.#application.tables[kind]?.fields ?? [];
  }

  #addFilter(kind: string, fields: readonly RecordField[], filter: unknown): void {
    for (const [name, input] of Object.entries((filter ?? {}) as Variables)) {
      const field = fields.find((one) => one.name === name);
      if (field) this.#addCondition(kind, field, input);
      else if (name === 'or' || name === 'not')
        for (const branch of [input].flat()) this.#addFilter(kind, fields, branch);
    }
  }

  #addCondition(kind: string, field: RecordField, input: unknown): void {
    // A condition that is null has no effect.
    if (input === null || input === undefined) return;
    const below = this.#enter(kind, field);
    if (!below) return;
    const filters = field.list ? (input as { elemMatch?: unknown }).elemMatch : input;
    for (const filter of [filters].flat()) this.#addFilter(below.kind, below.fields, filter);
  }

  #addPath(kind: string, path: unknown): void {
    let at: Level | undefined = { kind, fields: this.#fieldsOf(kind) };
    for (const name of typeof path === 'string' ? path.split('___') : []) {
      const field: RecordField | undefined = at?.fields.find((one) => one.name === name);
      at = at && field && this.#enter(at.kind, field);
    }
  }

  /** Adds what the value of a field is read from, and returns the level below it, if it has one. */
  #enter(kind: string, field: RecordField): Level | undefined {
    if (field.kind === 'computed') this.addComputed(kind, field.name);
    if (field.kind === 'object') return { kind, fields: field.fields };
    if (field.kind !== 'relation') return undefined;
    // Any record may be behind the fields of Node, which have no table.
    if (!(field.type in this.#application.tables)) this.isAny = true;
    this.add(field.type);
    return { kind: field.type, fields: this.#fieldsOf(field.type) };
  }
}

interface Level {
  readonly kind: string;
  readonly fields: readonly RecordField[];
}
