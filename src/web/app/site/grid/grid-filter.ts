import type { GridColumn } from './grid-state.js';

/** The operators of a condition of the GraphQL filter. */
export type Condition = Readonly<Record<string, boolean | number | string>>;

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
  return { condition: { regex: `/${typed.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)}/i` } };
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
