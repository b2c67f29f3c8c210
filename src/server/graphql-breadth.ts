import { Kind } from 'graphql';
import type { DocumentNode, FieldNode, FragmentDefinitionNode, SelectionSetNode } from 'graphql';
import { assertLimit } from './graphql-limits.js';
import { measureDocument } from './graphql-measure.js';

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
