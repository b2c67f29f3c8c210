import type { SiteRecord } from './selection.js';

export interface RecordEdge {
  readonly node: SiteRecord;
  /** The neighbours on the same page. */
  readonly next: SiteRecord | null;
  readonly previous: SiteRecord | null;
}

export function toEdges(nodes: readonly SiteRecord[]): RecordEdge[] {
  return nodes.map((node, index) => ({ node, next: nodes[index + 1] ?? null, previous: nodes[index - 1] ?? null }));
}
