import { Kind } from 'graphql';
import type { DocumentNode, FragmentDefinitionNode, SelectionNode, SelectionSetNode, ValueNode } from 'graphql';
import { AppError } from '../errors.js';

/** GraphiQL's introspection is 13 deep; a site's query crosses edges, node, parent and children some three times. */
const MAX_DEPTH = 20;

/** Filters nest one level for every field they cross, and a relation is several. */
const MAX_VALUE_DEPTH = 30;

/** @throws AppError `invalid_input` for fields, or argument values, that nest too deeply. Cycles are left to validation. */
export function requireShallow({ definitions }: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const measure = new DepthMeasure(fragments);
  for (const definition of definitions) {
    if ('selectionSet' in definition) measure.require(definition.selectionSet);
  }
}

class DepthMeasure {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The depth of each fragment measured so far; zero while it is being measured, which ends a cycle. */
  readonly #depths = new Map<string, number>();

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  require(selectionSet: SelectionSetNode): void {
    const depth = this.#depthOf(selectionSet);
    if (depth > MAX_DEPTH) {
      throw new AppError(
        'invalid_input',
        `Expected fields at most ${MAX_DEPTH} levels deep; received ${depth} levels.`,
      );
    }
  }

  #depthOf({ selections }: SelectionSetNode): number {
    return selections.reduce((deepest, selection) => Math.max(deepest, this.#selectionDepth(selection)), 0);
  }

  #selectionDepth(selection: SelectionNode): number {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragmentDepth(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return this.#depthOf(selection.selectionSet);
    for (const argument of selection.arguments ?? []) requireShallowValue(argument.value, MAX_VALUE_DEPTH);
    return 1 + (selection.selectionSet ? this.#depthOf(selection.selectionSet) : 0);
  }

  #fragmentDepth(name: string): number {
    const known = this.#depths.get(name);
    const fragment = this.#fragments.get(name);
    if (known !== undefined || !fragment) return known ?? 0;
    this.#depths.set(name, 0);
    const depth = this.#depthOf(fragment.selectionSet);
    this.#depths.set(name, depth);
    return depth;
  }
}

function requireShallowValue(value: ValueNode, levels: number): void {
  if (levels === 0) {
    throw new AppError(
      'invalid_input',
      `Expected arguments at most ${MAX_VALUE_DEPTH} levels deep; received deeper ones.`,
    );
  }
  if (value.kind === Kind.LIST) for (const item of value.values) requireShallowValue(item, levels - 1);
  if (value.kind === Kind.OBJECT) for (const field of value.fields) requireShallowValue(field.value, levels - 1);
}
