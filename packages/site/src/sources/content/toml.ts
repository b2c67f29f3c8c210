import { parse, TomlDate, TomlError } from 'smol-toml';
import { ContentError } from './content-entry.js';

type Path = readonly (number | string)[];

/** Far more than any real file has, and few enough for the functions that follow values down. */
const MAX_DEPTH = 100;

/**
 * Parses TOML. Dates and times become texts in ISO 8601, with the day and the offset that they are written with.
 *
 * @param linesBefore The number of lines above the text in its file.
 * @throws ContentError with the line of the mistake.
 */
export function parseToml(text: string, linesBefore: number): Readonly<Record<string, unknown>> {
  try {
    return toPlain(parse(text), listDays(text), 0) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ''] = error.message.split('\n', 1);
    throw new ContentError(message, linesBefore + error.line);
  }
}

/**
 * Lists the days in a text by the day that the parser reads, which is in the next month for one that does not exist: the
 * 1 March 2023 for `2023-02-29`. If a text has both days, both are read as the second one.
 */
function listDays(text: string): ReadonlyMap<string, string> {
  const days = new Map<string, string>();
  for (const day of text.match(/\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/g) ?? []) {
    const read = new Date(day).toISOString().slice(0, 10);
    if (read === day || !days.has(read)) days.set(read, day);
  }
  return days;
}

function toPlain(value: unknown, days: ReadonlyMap<string, string>, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new ContentError(`expected at most ${MAX_DEPTH} levels of tables and lists.`, 1);
  if (value instanceof TomlDate) {
    const text = value.toISOString().replace(/\.000(?=[-+Z]|$)/, '');
    return text.replace(/^\d{4}-\d\d-\d\d/, (day) => days.get(day) ?? day);
  }
  if (Array.isArray(value)) return value.map((item) => toPlain(item, days, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item, days, depth + 1)]));
}

const HEADER = /^\s*\[(\[?)([^[\]]+)\]\]?\s*(?:#.*)?$/;
const KEY = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/;

/**
 * Returns the line of the value at a path, or of its nearest parent that has a line of its own, counted from 1. The
 * parser reports no lines. A line of a long string that looks like a key or a table counts as one.
 */
export function findTomlLine(text: string, path: Path): number {
  /** The index of the last table of each array of tables. */
  const lastIndexes = new Map<string, number>();
  let table: Path = [];
  let [found, foundLength] = [1, 0];
  for (const [index, line] of text.split('\n').entries()) {
    const [, isArray, header] = HEADER.exec(line) ?? [];
    if (header !== undefined) table = enterTable(splitKey(header), isArray === '[', lastIndexes);
    const key = header === undefined ? KEY.exec(line)?.[1] : undefined;
    if (header === undefined && key === undefined) continue;
    const place = key === undefined ? table : [...table, ...splitKey(key)];
    if (place.length > foundLength && place.every((part, at) => part === path[at]))
      [found, foundLength] = [index + 1, place.length];
  }
  return found;
}

const splitKey = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');

/** Returns the path of a table, in which names of arrays of tables are followed by their last index. */
function enterTable(names: readonly string[], isArray: boolean, lastIndexes: Map<string, number>): Path {
  const path: (number | string)[] = [];
  for (const [at, name] of names.entries()) {
    path.push(name);
    const array = JSON.stringify(path);
    if (isArray && at === names.length - 1) lastIndexes.set(array, (lastIndexes.get(array) ?? -1) + 1);
    const last = lastIndexes.get(array);
    if (last !== undefined) path.push(last);
  }
  return path;
}
