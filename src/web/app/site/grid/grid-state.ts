import type { ColumnDescription, KindDescription } from '@trellis/core/record-types';
import { parsePageNumber } from '../site-location.js';

/** A column that a grid can show, sort and filter. */
export interface GridColumn extends ColumnDescription {
  readonly name: string;
  readonly description: string;
}

/** The state of the grid of a record type. All of it is in the address, so that every state can be linked to. */
export interface GridState {
  /** The names of the columns, in the order of the schema. At least one. */
  readonly columns: readonly string[];
  /** The name of a column; empty for the order of the creation, or of the relevance for a search. */
  readonly sort: string;
  readonly order: 'ASC' | 'DESC';
  /** Words of the full-text search; empty for none. */
  readonly search: string;
  /** Conditions by column, in the words of the user. */
  readonly filters: Readonly<Record<string, string>>;
  /** Starts at 1. */
  readonly page: number;
}

/** The fields that serve as the label of a record, in order of preference. */
export const LABEL_FIELDS = ['title', 'relativePath', 'path', 'name'];

/** The longest search text and condition. */
export const MAX_TEXT_LENGTH = 200;

/** Long texts and internal identifiers are shown only when they are chosen. */
const UNUSUAL = ['absolutePath', 'body', 'content', 'id', 'rawContent'];

const DEFAULT_COLUMNS = 5;

export const listGridColumns = ({ fields }: KindDescription): readonly GridColumn[] =>
  fields.flatMap(({ name, description, column }) => (column === undefined ? [] : [{ name, description, ...column }]));

/** Returns the columns that are shown by default: the label first, then the first ones of the schema. */
export function defaultColumns(kind: KindDescription): readonly string[] {
  const names = listGridColumns(kind).map(({ name }) => name);
  const label = LABEL_FIELDS.find((name) => names.includes(name));
  const usual = names.filter((name) => name !== label && !UNUSUAL.includes(name));
  const first = label === undefined ? usual : [label, ...usual];
  return first.length === 0 ? names.slice(0, 1) : first.slice(0, DEFAULT_COLUMNS);
}

const FILTER_PREFIX = 'where.';

/** Parses the query of an address. Unknown columns are dropped. */
export function parseGridState(kind: KindDescription, query: Readonly<Record<string, string>>): GridState {
  const known = listGridColumns(kind).map(({ name }) => name);
  const chosen = query.columns
    ?.split(' ')
    .filter((name, index, all) => known.includes(name) && all.indexOf(name) === index);
  const filters = Object.entries(query)
    .filter(([name, text]) => name.startsWith(FILTER_PREFIX) && text !== '')
    .map(([name, text]) => [name.slice(FILTER_PREFIX.length), text.slice(0, MAX_TEXT_LENGTH)] as const)
    .filter(([name]) => known.includes(name));
  return {
    columns: chosen === undefined || chosen.length === 0 ? defaultColumns(kind) : chosen,
    sort: known.includes(query.sort ?? '') ? (query.sort ?? '') : '',
    order: query.order === 'DESC' ? 'DESC' : 'ASC',
    search: kind.searchable === true ? (query.search ?? '').slice(0, MAX_TEXT_LENGTH) : '',
    filters: Object.fromEntries(filters),
    page: parsePageNumber(query.page),
  };
}

/** Returns the address of a state, without parameters that have their default. */
export function linkToGrid(kind: KindDescription, state: GridState, record?: string): string {
  const columns = state.columns.join(' ');
  return `/site/records?${new URLSearchParams([
    ['kind', kind.kind],
    ...(columns === defaultColumns(kind).join(' ') ? [] : [['columns', columns]]),
    ...(state.search === '' ? [] : [['search', state.search]]),
    ...Object.entries(state.filters).map(([name, text]) => [FILTER_PREFIX + name, text]),
    ...(state.sort === '' ? [] : [['sort', state.sort]]),
    ...(state.sort === '' || state.order === 'ASC' ? [] : [['order', state.order]]),
    ...(state.page === 1 ? [] : [['page', String(state.page)]]),
    ...(record === undefined ? [] : [['record', record]]),
  ]).toString()}`;
}
