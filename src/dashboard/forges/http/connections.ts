/** The pages in which GraphQL gives lists, as GitHub and GitLab do. */
import { ForgeError } from '../forge-error.js';
import type { ForgeErrorKind } from '../forge-error.js';

export interface Page<Node> {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly (FieldError | Node | null)[];
}

/** Stands in GraphQL data for a value that the forge has but did not give. */
export class FieldError {
  readonly kind: ForgeErrorKind;

  constructor(kind: ForgeErrorKind) {
    this.kind = kind;
  }
}

export interface Nodes<Node> {
  readonly nodes: Node[];
  /** How many the forge has but did not give. */
  readonly missing: number;
}

/**
 * Reads on, up to the page with which there are more than `most`.
 *
 * @throws ForgeError `unknown` when a page has no list, or comes again, which would go on for ever.
 */
export async function readRest<Node>(
  first: Page<Node>,
  most: number,
  readPage: (after: string) => Promise<Page<Node>>,
): Promise<Nodes<Node>> {
  const nodes: (FieldError | Node)[] = [];
  const seen = new Set<string>();
  for (let page = first; ;) {
    if (!isList(page.nodes)) throw new ForgeError('unknown', { cause: new Error('A page has no list.') });
    nodes.push(...page.nodes.filter((node) => node !== null));
    if (!page.pageInfo.hasNextPage || nodes.length > most) break;
    const cursor = page.pageInfo.endCursor ?? '';
    if (seen.has(cursor)) throw new ForgeError('unknown', { cause: new Error(`The page after ${cursor} repeats.`) });
    seen.add(cursor);
    page = await readPage(cursor);
  }
  const given = compact(nodes);
  return { nodes: given, missing: nodes.length - given.length };
}

const isList = (nodes: unknown): boolean => Array.isArray(nodes);

/** Without what is hidden from the credential, or was not given. */
export function compact<T>(nodes: readonly (FieldError | T | null)[]): T[] {
  return nodes.filter((node): node is T => node !== null && !(node instanceof FieldError));
}
