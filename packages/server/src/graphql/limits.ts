import { AppError, type ErrorCode } from '@trellis/core/errors';
import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** The size limits of a document. */
const DOCUMENT_LIMITS = {
  /**
   * GraphiQL's introspection has 13 levels; a query of a site crosses edges, node, parent and children about 3 times.
   */
  depth: 20,
  /** Filters nest one level for every field they cross, and several for a relation. */
  valueDepth: 30,
  /** All fields of all record types of a site are about 500; GraphiQL's introspection has 300. */
  selections: 3000,
  /** A file has 60 fields; with fragments for every other record type about 200. */
  breadth: 300,
  /** Each root field runs its own query in the store. */
  rootFields: 50,
  /** Each alias of a field, such as with different arguments, repeats the work of the field. */
  aliases: 50,
  /** Validation compares repeated fields in pairs: 100 fields are about 5,000 pairs. */
  repeats: 100,
  /** Validation prints the arguments of each pair: 100 fields of this total length are a million characters. */
  repeatedArguments: 10_000,
  directives: 10,
  /** Names in the schema have up to 40 characters, but error messages repeat names, and responses repeat aliases. */
  nameLength: 1000,
} as const;

type LimitName = keyof typeof DOCUMENT_LIMITS;

const EXPECTED: Readonly<Record<LimitName, (limit: number, received: number) => string>> = {
  depth: (limit, received) => `fields to be nested at most ${limit} levels deep; received ${received} levels`,
  valueDepth: (limit) => `arguments to be nested at most ${limit} levels deep; received more levels`,
  selections: (limit, received) =>
    `at most ${limit} fields and fragments in total, with all fragments expanded; received ${amount(received)}`,
  breadth: (limit, received) => `at most ${limit} fields in one selection; received ${received}`,
  rootFields: (limit, received) => `at most ${limit} root fields in an operation; received ${received}`,
  aliases: (limit, received) => `at most ${limit} aliases of one field; received ${received}`,
  repeats: (limit, received) => `the same field at most ${limit} times in one selection; received it ${received} times`,
  repeatedArguments: (limit, received) =>
    `at most ${limit} characters of arguments in total for a repeated field; received ${received}`,
  nameLength: (limit, received) => `names of at most ${limit} characters; received ${received} characters`,
  directives: (limit, received) => `at most ${limit} directives in one place; received ${received}`,
};

/** Nested fragments can multiply to numbers that are too long to print. */
const amount = (received: number): string => (received < 1e9 ? String(received) : 'more than a billion');

/** @throws GraphQLError `invalid_input` with the location of the node, if the number exceeds the limit. */
export function assertLimit(limit: LimitName, received: number, node: ASTNode): void {
  if (received > DOCUMENT_LIMITS[limit]) {
    throw documentError(`Expected ${EXPECTED[limit](DOCUMENT_LIMITS[limit], received)}.`, node);
  }
}

/** Creates an error in the caller's document, with its location. */
export function documentError(message: string, nodes: ASTNode | readonly ASTNode[], code: ErrorCode = 'invalid_input') {
  return new GraphQLError(message, { nodes, originalError: new AppError(code, message) });
}

/**
 * Checks a document against all limits, before steps whose duration grows faster than its length.
 *
 * @throws GraphQLError `invalid_input` with the limit, the received number and the location.
 */
export function assertBreadthLimits(document: DocumentNode): void {
  const { roots, fragments } = measureDocument(document);
  for (const root of roots) {
    const fields = fieldsOf([root.selectionSet], fragments);
    if (root.kind === Kind.OPERATION_DEFINITION) assertLimit('rootFields', fields.size, root);
    requireNarrow(fields, fragments);
  }
}

type Fields = ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]>;
type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Collects the fields of one object of the response by their response names. Repeated fields are in one entry. */
function fieldsOf(sets: readonly SelectionSetNode[], fragments: Fragments): Fields {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const same = fields.get(name);
        if (same) same.push(selection);
        else fields.set(name, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  sets.forEach(collect);
  return fields;
}

function requireNarrow(fields: Fields, fragments: Fragments): void {
  const names = new Map<string, number>();
  let breadth = 0;
  for (const same of fields.values()) {
    const [first] = same;
    const aliases = (names.get(first.name.value) ?? 0) + 1;
    names.set(first.name.value, aliases);
    assertLimit('aliases', aliases, first);
    assertLimit('breadth', (breadth += 1), first);
    requireFewRepeats(same);
    const below = same.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (below.length > 0) requireNarrow(fieldsOf(below, fragments), fragments);
  }
}

function requireFewRepeats(same: readonly [FieldNode, ...FieldNode[]]): void {
  if (same.length === 1) return;
  assertLimit('repeats', same.length, same[0]);
  const characters = same.reduce((sum, field) => sum + argumentsLength(field), 0);
  assertLimit('repeatedArguments', characters, same[0]);
}

const argumentsLength = (field: FieldNode): number =>
  (field.arguments ?? []).reduce((sum, { loc }) => sum + (loc ? loc.end - loc.start : 0), 0);

interface Measure {
  readonly depth: number;
  /** The number of fields, spreads and inline fragments, with fragments expanded. */
  readonly selections: number;
}

/** An operation, or a fragment that no operation uses. */
type Root = DocumentNode['definitions'][number] & { readonly selectionSet: SelectionSetNode };

/**
 * Measures the depth and size of a document with all fragments expanded, in time linear in its length.
 *
 * @returns the operations and the unused fragments, and all fragments by name.
 * @throws GraphQLError `invalid_input` above a limit, or for a fragment that spreads itself.
 */
function measureDocument({ definitions }: DocumentNode): {
  roots: readonly Root[];
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
} {
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [])),
  );
  const measurement = new Measurement(fragments);
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const roots: Root[] = [];
  let selections = 0;
  for (const root of [...operations, ...fragments.values()]) {
    if (root.kind === Kind.FRAGMENT_DEFINITION && measurement.hasReached(root)) continue;
    const measured = measurement.measure(root.selectionSet);
    assertLimit('depth', measured.depth, root);
    assertLimit('selections', (selections += measured.selections), root);
    roots.push(root);
  }
  return { roots, fragments };
}

class Measurement {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The fragments reached so far; `undefined` for a fragment whose measurement is in progress. */
  readonly #known = new Map<FragmentDefinitionNode, Measure | undefined>();

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  hasReached(fragment: FragmentDefinitionNode): boolean {
    return this.#known.has(fragment);
  }

  measure({ selections }: SelectionSetNode): Measure {
    let [depth, count] = [0, selections.length];
    for (const selection of selections) {
      const inner = this.#below(selection);
      depth = Math.max(depth, inner.depth + (selection.kind === Kind.FIELD ? 1 : 0));
      count += inner.selections;
    }
    return { depth, selections: count };
  }

  #below(selection: SelectionNode): Measure {
    assertLimit('directives', selection.directives?.length ?? 0, selection);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value);
    if (selection.kind === Kind.FIELD) {
      for (const { value } of selection.arguments ?? []) requireShallow(value, DOCUMENT_LIMITS.valueDepth);
    }
    return selection.selectionSet ? this.measure(selection.selectionSet) : { depth: 0, selections: 0 };
  }

  #fragment(name: string): Measure {
    const fragment = this.#fragments.get(name);
    // Validation reports unknown fragments later.
    if (!fragment) return { depth: 0, selections: 0 };
    if (this.#known.has(fragment)) return this.#known.get(fragment) ?? throwCycle(fragment);
    this.#known.set(fragment, undefined);
    const measured = this.measure(fragment.selectionSet);
    this.#known.set(fragment, measured);
    return measured;
  }
}

function throwCycle(fragment: FragmentDefinitionNode): never {
  throw documentError(`Fragment "${fragment.name.value}" spreads itself.`, fragment);
}

function requireShallow(value: ValueNode, levels: number): void {
  if (levels === 0) assertLimit('valueDepth', Infinity, value);
  if (value.kind === Kind.LIST) for (const item of value.values) requireShallow(item, levels - 1);
  if (value.kind === Kind.OBJECT) for (const field of value.fields) requireShallow(field.value, levels - 1);
}
