import { Kind } from 'graphql';
import type { DocumentNode, FragmentDefinitionNode, SelectionNode, SelectionSetNode, ValueNode } from 'graphql';
import { DOCUMENT_LIMITS, documentError, assertLimit } from './graphql-limits.js';

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
export function measureDocument({ definitions }: DocumentNode): {
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
