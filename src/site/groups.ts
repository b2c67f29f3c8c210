import { toEdges } from './edges.js';
import type { RecordEdge } from './edges.js';
import { pageInfo } from './paging.js';
import type { PageRange, PageInfo } from './paging.js';
import type { SiteRecord } from './selection.js';

/** The records of a page that have the same value. */
export interface RecordGroup {
  readonly field: string;
  readonly fieldValue: string;
  /** The number of records in the group, regardless of `skip` and `limit`. */
  readonly totalCount: number;
  readonly pageInfo: PageInfo;
  readonly nodes: readonly SiteRecord[];
  readonly edges: readonly RecordEdge[];
}

export interface GroupQuery {
  readonly field: string;
  readonly skip?: number | null;
  readonly limit?: number | null;
  readonly sort?: { readonly by: 'VALUE' | 'COUNT'; readonly order: 'ASC' | 'DESC' } | null;
}

type Count = readonly [fieldValue: string, count: number];

/** Sorts groups that are in ascending order by value. Groups with equal counts keep this order. */
export function sortGroups(counts: readonly Count[], sort: GroupQuery['sort']): readonly Count[] {
  if (!sort) return counts;
  const sign = sort.order === 'DESC' ? -1 : 1;
  if (sort.by === 'COUNT') return [...counts].sort(([, one], [, other]) => (one - other) * sign);
  return sign === 1 ? counts : [...counts].reverse();
}

interface Grouping {
  readonly field: string;
  readonly page: PageRange;
  readonly counts: readonly Count[];
  /** Reads the positions of each group's records, in the order of the query. */
  readonly readMembers: () => ReadonlyMap<string, readonly number[]>;
  readonly readRecords: (positions: readonly number[]) => ReadonlyMap<number, SiteRecord>;
}

/** Creates the groups. The records of all groups are read together, on first access to any of them. */
export function toRecordGroups(grouping: Grouping): RecordGroup[] {
  let shown: Shown | undefined;
  const show = (): Shown => (shown ??= readShown(grouping));
  return grouping.counts.map((count) => new LazyGroup(grouping, count, show));
}

type Shown = ReadonlyMap<string, readonly SiteRecord[]>;

class LazyGroup implements RecordGroup {
  readonly field: string;
  readonly fieldValue: string;
  readonly totalCount: number;
  readonly #page: PageRange;
  readonly #show: () => Shown;

  constructor({ field, page }: Grouping, [fieldValue, totalCount]: Count, show: () => Shown) {
    this.field = field;
    this.fieldValue = fieldValue;
    this.totalCount = totalCount;
    this.#page = page;
    this.#show = show;
  }

  get pageInfo(): PageInfo {
    return pageInfo(this.#page, this.totalCount);
  }

  get nodes(): readonly SiteRecord[] {
    return this.#show().get(this.fieldValue) ?? [];
  }

  get edges(): readonly RecordEdge[] {
    return toEdges(this.nodes);
  }
}

function readShown({ page: { skip, limit }, readMembers, readRecords }: Grouping): Shown {
  const shown = [...readMembers()].map(([fieldValue, positions]) => {
    return [fieldValue, positions.slice(skip, limit === undefined ? undefined : skip + limit)] as const;
  });
  const records = readRecords([...new Set(shown.flatMap(([, positions]) => positions))]);
  return new Map(
    shown.map(([fieldValue, positions]) => [fieldValue, positions.map((position) => records.get(position) ?? {})]),
  );
}
