import {
  type DocumentNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  Kind,
  type ValidationRule,
} from 'graphql';
import type { FieldFunctions } from './computed-fields.js';

/** Shared by all copies of this package in a process. */
const REPEATABLE = Symbol.for('@trellis/site repeatable');

/**
 * Marks a hand-written resolver whose results stay the same until a record of the site changes. The server keeps the
 * responses of queries in which all hand-written resolvers are marked.
 */
export function repeatable<Resolver extends (...args: never[]) => unknown>(resolve: Resolver): Resolver {
  return Object.assign(resolve, { [REPEATABLE]: true });
}

/** The arguments of dates that compare with the current time. */
const CLOCK_ARGUMENTS = ['difference', 'fromNow'];

/** Finds the documents whose results stay the same until a record of the site changes. */
export interface RepeatableDocuments {
  /** Notes what a document selects, during its validation, which visits all fields anyway. */
  readonly rule: ValidationRule;
  /** Returns whether a document is repeatable, which has been validated with the rule. */
  readonly has: (document: DocumentNode) => boolean;
}

export function findRepeatableDocuments(schema: GraphQLSchema, resolvers: FieldFunctions): RepeatableDocuments {
  const found = new WeakSet<DocumentNode>();
  const isUnmarked = (type: string, field: string): boolean => {
    const members = resolvers[type];
    return members !== undefined && Object.hasOwn(members, field) && !(REPEATABLE in (members[field] ?? {}));
  };
  return {
    has: (document) => found.has(document),
    rule: (context) => {
      const document = context.getDocument();
      found.add(document);
      return {
        Field({ name, arguments: args = [] }) {
          const parent = context.getParentType();
          const isDate = args.length > 0 && getNamedType(context.getType())?.name === 'Date';
          const dependsOnClock =
            isDate && args.some((one) => CLOCK_ARGUMENTS.includes(one.name.value) && one.value.kind !== Kind.NULL);
          const isUnknown = !parent || listObjectTypes(parent, schema).some((type) => isUnmarked(type, name.value));
          if (dependsOnClock || isUnknown) found.delete(document);
        },
      };
    },
  };
}

function listObjectTypes(type: GraphQLNamedType, schema: GraphQLSchema): readonly string[] {
  if (isObjectType(type)) return [type.name];
  return isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : [];
}
