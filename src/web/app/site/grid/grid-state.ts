import type { ColumnDescription, KindDescription } from '@trellis/core/record-types';
import { parsePageNumber, toPattern } from '../site-location.js';

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

/** The operators of a condition of the GraphQL filter. */
type Condition = Readonly<Record<string, boolean | number | string>>;

interface ParsedCondition {
  readonly condition?: Condition;
  /** Why the text is not a condition for this column. */
  readonly problem?: string;
}

/** Describes what a condition on a column may be. */
export function describeFilter({ type, values }: GridColumn): string {
  if (values) return `One of ${values.join(', ')}.`;
  if (type === 'Boolean') return 'true or false.';
  if (type === 'Int' || type === 'Float') return 'A number, or >5, <=10, 5..10.';
  if (type === 'Date') return 'A year, month or day such as 2026-05-02, or >2026, 2025..2026-03.';
  return 'Contains this text. With = in front, equals it.';
}

/** Translates the condition that a user typed. */
export function parseFilter(column: GridColumn, text: string): ParsedCondition {
  const typed = text.trim();
  if (column.values) return column.values.includes(typed) ? { condition: { eq: typed } } : expected(column);
  if (column.type === 'Boolean') return parseBoolean(column, typed);
  if (column.type === 'Int' || column.type === 'Float') return parseRange(column, typed, toNumberBounds);
  if (column.type === 'Date') return parseRange(column, typed, toDateBounds);
  if (typed.startsWith('=')) return { condition: { eq: typed.slice(1).trim() } };
  return { condition: { regex: toPattern(typed) } };
}

const expected = (column: GridColumn): ParsedCondition => ({ problem: `${column.name}: ${describeFilter(column)}` });

function parseBoolean(column: GridColumn, typed: string): ParsedCondition {
  const isTrue = /^(?:true|yes)$/i.test(typed);
  return isTrue || /^(?:false|no)$/i.test(typed) ? { condition: { eq: isTrue } } : expected(column);
}

/** The values that a typed number or date stands for: from `from`, and below `until` or up to `to`. */
interface Bounds {
  readonly from: number | string;
  readonly until?: string;
  readonly to?: number;
}

function parseRange(
  column: GridColumn,
  typed: string,
  toBounds: (text: string, isInteger: boolean) => Bounds | undefined,
): ParsedCondition {
  const [, operator = '', first = '', second] = /^([<>]=?)?\s*([^.]+(?:\.\d+)?)(?:\.\.(.+))?$/.exec(typed) ?? [];
  const isInteger = column.type === 'Int';
  const start = toBounds(first, isInteger);
  const end = second === undefined ? start : toBounds(second, isInteger);
  if (start === undefined || end === undefined || (operator !== '' && second !== undefined)) return expected(column);
  const below: Condition = end.until === undefined ? { lte: end.to ?? end.from } : { lt: end.until };
  if (operator === '') return { condition: { gte: start.from, ...below } };
  if (operator === '>=') return { condition: { gte: start.from } };
  if (operator === '<') return { condition: { lt: start.from } };
  if (operator === '<=') return { condition: below };
  return { condition: start.until === undefined ? { gt: start.from } : { gte: start.until } };
}

function toNumberBounds(text: string, isInteger: boolean): Bounds | undefined {
  const isNumber = (isInteger ? /^-?\d{1,15}$/ : /^-?\d{1,15}(?:\.\d{1,15})?$/).test(text.trim());
  return isNumber ? { from: Number(text), to: Number(text) } : undefined;
}

/** Returns the first day of a year, month or day, and the first day after it. */
function toDateBounds(text: string): Bounds | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1)));
  const from = toDay(start);
  // A day that does not exist, such as 31 February, becomes a day of the next month.
  if (from !== `${year}-${month ?? '01'}-${day ?? '01'}`) return undefined;
  const end = new Date(start);
  if (day !== undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (month !== undefined) end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  return { from, until: toDay(end) };
}

const toDay = (date: Date): string => date.toISOString().slice(0, 10);

interface ParsedFilters {
  /** The GraphQL filter, by column. */
  readonly filter: Readonly<Record<string, Condition>>;
  readonly problems: readonly string[];
}

/** Translates the conditions of a grid. Those that are not valid are reported and have no effect. */
export function toFilter(columns: readonly GridColumn[], filters: Readonly<Record<string, string>>): ParsedFilters {
  const problems: string[] = [];
  const conditions = columns.flatMap((column) => {
    const text = filters[column.name];
    if (text === undefined) return [];
    const { condition, problem } = parseFilter(column, text);
    if (problem !== undefined) problems.push(problem);
    return condition === undefined ? [] : [[column.name, condition] as const];
  });
  return { filter: Object.fromEntries(conditions), problems };
}

/** The number of records on a page. */
export const PAGE_SIZE = 50;

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
