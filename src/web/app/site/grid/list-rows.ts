import type { KindDescription } from '@trellis/core/record-types';
import { querySite } from '../query-site.js';
import type { RecordReference } from '../record.js';
import { toFilter } from './grid-filter.js';
import { type GridState, LABEL_FIELDS, listGridColumns } from './grid-state.js';

/** The number of records on a page. */
export const PAGE_SIZE = 50;

export interface GridRow extends RecordReference {
  /** Names the record for people. */
  readonly label: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface GridPage {
  readonly totalCount: number;
  readonly rows: readonly GridRow[];
}

interface GridQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Returns the GraphQL query of a page of the grid. */
export function toGridQuery(kind: KindDescription, state: GridState): GridQuery {
  const { kind: type, all } = kind;
  const { filter } = toFilter(listGridColumns(kind), state.filters);
  const used: readonly (readonly [name: string, sdl: string, value: unknown])[] = [
    ['skip', 'Int!', (state.page - 1) * PAGE_SIZE],
    ['limit', 'Int!', PAGE_SIZE],
    ...(Object.keys(filter).length === 0 ? [] : [['filter', `${type}FilterInput`, filter] as const]),
    ...(state.sort === ''
      ? []
      : [['sort', `${type}SortInput`, { fields: [state.sort], order: [state.order] }] as const]),
    ...(state.search === '' ? [] : [['search', 'String', state.search] as const]),
  ];
  const declared = used.map(([name, sdl]) => `$${name}: ${sdl}`).join(', ');
  const given = used.map(([name]) => `${name}: $${name}`).join(', ');
  const label = LABEL_FIELDS.find((name) => kind.fields.some((field) => field.name === name));
  const selected = [...new Set(['id', ...(label === undefined ? [] : [label]), ...state.columns])].join(' ');
  return {
    query: `query list(${declared}) {
  ${all}(${given}) {
    totalCount
    nodes { ${selected} internal { type description } parent { internal { description } } }
  }
}`,
    variables: Object.fromEntries(used.map(([name, , value]) => [name, value])),
  };
}

interface ListedRecord extends RecordReference {
  readonly parent: Pick<RecordReference, 'internal'> | null;
}

interface ListResult {
  readonly totalCount: number;
  readonly nodes: readonly (ListedRecord & Readonly<Record<string, unknown>>)[];
}

/** Loads a page of the grid. */
export async function listRows(kind: KindDescription, state: GridState): Promise<GridPage> {
  const { query, variables } = toGridQuery(kind, state);
  const result = await querySite<Readonly<Record<string, ListResult>>>(query, variables);
  const { totalCount, nodes } = result[kind.all] ?? { totalCount: 0, nodes: [] };
  return { totalCount, rows: nodes.map((node) => ({ ...node, label: toLabel(node), values: node })) };
}

function toLabel(node: ListResult['nodes'][number]): string {
  const named = LABEL_FIELDS.map((name) => node[name]);
  const texts = [...named, node.internal.description, node.parent?.internal.description];
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? node.id;
}
