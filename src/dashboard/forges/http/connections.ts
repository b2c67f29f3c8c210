/** The pages in which GraphQL gives lists, as GitHub and GitLab do. */
import { ForgeError } from '../forge-error.js';

export interface Page<Node> {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly (Node | null)[];
}

/**
 * Reads on, up to the page with which there are more than `most`.
 *
 * @throws ForgeError `unknown` when a page comes again, which would go on for ever.
 */
export async function readRest<Node>(
  first: Page<Node>,
  most: number,
  readPage: (after: string) => Promise<Page<Node>>,
): Promise<Node[]> {
  const nodes = compact(first.nodes);
  const seen = new Set<string>();
  let { pageInfo } = first;
  while (pageInfo.hasNextPage && nodes.length <= most) {
    const cursor = pageInfo.endCursor ?? '';
    if (seen.has(cursor)) throw new ForgeError('unknown', { cause: new Error(`The page after ${cursor} repeats.`) });
    seen.add(cursor);
    const page = await readPage(cursor);
    nodes.push(...compact(page.nodes));
    pageInfo = page.pageInfo;
  }
  return nodes;
}

/** Without what is hidden from the credential. */
export function compact<T>(nodes: readonly (T | null)[]): T[] {
  return nodes.filter((node) => node !== null);
}
