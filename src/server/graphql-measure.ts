import { Kind } from 'graphql';
import type { DocumentNode, FragmentDefinitionNode, SelectionNode, SelectionSetNode, ValueNode } from 'graphql';
import { DOCUMENT_LIMITS, refusal, requireWithin } from './graphql-limits.js';

interface Measure {
  readonly depth: number;
  /** Fields, spreads and inline fragments, those of spread fragments included. */
  readonly selections: number;
}

/** What stands in a document for itself: its operations, and fragments that none of them reaches. */
type Root = DocumentNode['definitions'][number] & { readonly selectionSet: SelectionSetNode };

/**
 * Measures a document's depth and size with all fragments spread, in time that
 * is linear in its length, and gives the parts that stand for themselves.
 *
 * @throws GraphQLError `invalid_input` past a limit, or for fragments that spread themselves.
 */
export function measureDocument({ definitions }: DocumentNode): {
  roots: readonly Root[];
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
} {
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [])),
  );
  const measuring = new Measuring(fragments);
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const roots: Root[] = [];
  let selections = 0;
  for (const root of [...operations, ...fragments.values()]) {
    if (root.kind === Kind.FRAGMENT_DEFINITION && measuring.hasReached(root)) continue;
    const measured = measuring.measure(root.selectionSet);
    requireWithin('depth', measured.depth, root);
    requireWithin('selections', (selections += measured.selections), root);
    roots.push(root);
  }
  return { roots, fragments };
}

class Measuring {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Of each fragment that was reached; nothing yet while it is being measured. */
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
    requireWithin('directives', selection.directives?.length ?? 0, selection);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value);
    if (selection.kind === Kind.FIELD) {
      for (const { value } of selection.arguments ?? []) requireShallow(value, DOCUMENT_LIMITS.valueDepth);
    }
    return selection.selectionSet ? this.measure(selection.selectionSet) : { depth: 0, selections: 0 };
  }

  #fragment(name: string): Measure {
    const fragment = this.#fragments.get(name);
    // That there is none is for validation to say.
    if (!fragment) return { depth: 0, selections: 0 };
    if (this.#known.has(fragment)) return this.#known.get(fragment) ?? refuseCycle(fragment);
    this.#known.set(fragment, undefined);
    const measured = this.measure(fragment.selectionSet);
    this.#known.set(fragment, measured);
    return measured;
  }
}

function refuseCycle(fragment: FragmentDefinitionNode): never {
  throw refusal(`Expected fragments that end; "${fragment.name.value}" spreads itself.`, fragment);
}

function requireShallow(value: ValueNode, levels: number): void {
  if (levels === 0) requireWithin('valueDepth', Infinity, value);
  if (value.kind === Kind.LIST) for (const item of value.values) requireShallow(item, levels - 1);
  if (value.kind === Kind.OBJECT) for (const field of value.fields) requireShallow(field.value, levels - 1);
}
