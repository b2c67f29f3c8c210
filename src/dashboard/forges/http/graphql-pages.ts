/** GraphQL connections, the paged lists of GitHub and GitLab. */
import { ForgeError, type ForgeErrorKind } from '../forge-error.js';

export interface ConnectionPage<Node> {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly (FieldError | Node | null)[];
}

/** A placeholder in GraphQL data for a value that exists but that the forge did not return. */
export class FieldError {
  readonly kind: ForgeErrorKind;

  constructor(kind: ForgeErrorKind) {
    this.kind = kind;
  }
}

export interface ConnectionNodes<Node> {
  readonly nodes: Node[];
  /** The number of items that exist but that the forge did not return. */
  readonly missing: number;
}

/**
 * Reads the remaining pages, until there are more than `most` items.
 *
 * @throws ForgeError `unknown` when a page has no list, or when a cursor repeats, which would never end.
 */
export async function fetchRemainingPages<Node>(
  first: ConnectionPage<Node>,
  most: number,
  readPage: (after: string) => Promise<ConnectionPage<Node>>,
): Promise<ConnectionNodes<Node>> {
  const nodes: (FieldError | Node)[] = [];
  const seen = new Set<string>();
  for (let page = first; ;) {
    if (!isList(page.nodes)) throw new ForgeError('unknown', { cause: new Error('A page has no list.') });
    nodes.push(...page.nodes.filter((node) => node !== null));
    if (!page.pageInfo.hasNextPage || nodes.length > most) break;
    const cursor = page.pageInfo.endCursor ?? '';
    if (seen.has(cursor)) throw new ForgeError('unknown', { cause: new Error(`The cursor ${cursor} repeats.`) });
    seen.add(cursor);
    page = await readPage(cursor);
  }
  const given = withoutNulls(nodes);
  return { nodes: given, missing: nodes.length - given.length };
}

const isList = (nodes: unknown): boolean => Array.isArray(nodes);

/** Removes items that are hidden from the credential (null) or that the forge did not return. */
export function withoutNulls<T>(nodes: readonly (FieldError | T | null)[]): T[] {
  return nodes.filter((node): node is T => node !== null && !(node instanceof FieldError));
}
