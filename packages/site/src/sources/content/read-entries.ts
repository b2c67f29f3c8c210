import { CONTENT_EXTENSIONS } from '@trellis/core/record-types';
import {
  type CST,
  Composer,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  Parser,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml';
import {
  assertRecordLimit,
  type ContentEntry,
  ContentError,
  MAX_RECORDS,
  NESTED_TOO_DEEPLY,
  pathKey,
} from './content-entry.js';
import { parseCsv } from './csv.js';
import { findTomlLine, parseToml } from './toml.js';

/** The YAML parser, which records the position of every value, takes about one second for this much text; TOML a tenth. */
const MAX_SLOW_CHARACTERS = 256 * 1024;

type Reader = (text: string) => ContentEntry[];

const READERS: Readonly<Record<string, Reader>> & Record<(typeof CONTENT_EXTENSIONS)[number], Reader> = {
  csv: readCsv,
  json: readJson,
  markdown: readMarkdown,
  md: readMarkdown,
  mdx: readMarkdown,
  toml: (text) => readToml(text, 0),
  yaml: (text) => readYaml(text, 0),
  yml: (text) => readYaml(text, 0),
};

/**
 * Reads the records in a file: one for a Markdown or TOML file, for a JSON or YAML object, for each element of a list, for
 * each document of a YAML stream, and for each CSV row below the header.
 *
 * @param extension In lower case, without the dot.
 * @throws ContentError with the line when the text is not valid in its format or contains values other than records.
 */
export function readEntries(text: string, extension: string): ContentEntry[] {
  const read = READERS[extension];
  if (read === undefined) {
    throw new ContentError(`expected a file of ${CONTENT_EXTENSIONS.join(', ')}; received .${extension}.`, 1);
  }
  const entries = read(text.startsWith('\uFEFF') ? text.slice(1) : text);
  assertRecordLimit(entries.length);
  return entries;
}

/** Returns the number of characters to parse; for Markdown, only the front matter counts. */
export function countParsedCharacters(text: string, extension: string): number {
  if (READERS[extension] !== readMarkdown) return text.length;
  return FRONT_MATTER.exec(text)?.[0].length ?? 0;
}

/** Matches the text between a first line of three dashes, or of three plus signs for TOML, and the next such line. */
const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?\1[ \t]*(?:\r?\n|$)/;

function readMarkdown(text: string): ContentEntry[] {
  const match = FRONT_MATTER.exec(text);
  const body = match === null ? text : text.slice(match[0].length);
  const [, fence, front] = match ?? [];
  const read = fence === '+++' ? readToml : readYaml;
  const [entry] = front === undefined ? [] : read(front, 1);
  const lineOf: ContentEntry['lineOf'] = (path) => entry?.lineOf(path) ?? 1;
  return [{ values: entry?.values ?? {}, body, textOnly: false, written: entry?.written, lineOf }];
}

/** Parses JSON. Lines come from the slower YAML parser, on demand and only for small files. */
function readJson(text: string): ContentEntry[] {
  const located = once(() => (text.length > MAX_SLOW_CHARACTERS ? [] : readYaml(text, 0)));
  const lines = once(() => ignoreContentErrors(located) ?? []);
  const entries = toEntries(
    parseJson(text, located),
    (index, path) => located()[index]?.lineOf(path) ?? 1,
    () => 1,
  );
  return entries.map((entry, index) => ({ ...entry, lineOf: (path) => lines()[index]?.lineOf(path) ?? 1 }));
}

/** JSON may have duplicate keys, which YAML may not. */
function ignoreContentErrors<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ContentError) return undefined;
    throw error;
  }
}

function parseJson(text: string, locate: () => void): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    locate();
    throw new ContentError(firstLine(error), 1);
  }
}

/** A file that is empty or contains only comments has no record. */
function readToml(text: string, linesBefore: number): ContentEntry[] {
  assertLength(text, 'TOML');
  const values = parseToml(text, linesBefore);
  const lineOf = (path: readonly (number | string)[]): number => linesBefore + findTomlLine(text, path);
  return Object.keys(values).length === 0 ? [] : [{ values, body: undefined, textOnly: false, lineOf }];
}

function assertLength(text: string, format: string): void {
  if (text.length <= MAX_SLOW_CHARACTERS) return;
  const expected = `expected at most ${MAX_SLOW_CHARACTERS} characters of ${format}`;
  throw new ContentError(`${expected}; received ${text.length}. JSON and CSV may be longer.`, 1);
}

function readYaml(text: string, linesBefore: number): ContentEntry[] {
  assertLength(text, 'YAML');
  const { documents, counter } = parseYaml(text, linesBefore);
  return documents.flatMap((document) => {
    const [error] = document.errors;
    const lineFrom = (offset: number) => linesBefore + counter.linePos(offset).line;
    if (error && isQuoteMissing(error)) {
      const start = findQuote(document, error.pos[0]);
      throw new ContentError('expected a closing quote for the text that begins here.', lineFrom(start));
    }
    if (error) throw new ContentError(firstLine(error), lineFrom(error.pos[0]));
    const isWritten = checkNodes(document, lineFrom);
    const value = unfold(document, linesBefore + 1);
    const lineAt = (path: readonly (number | string)[]) => linesBefore + lineOfNode(document, path, counter);
    const isList = Array.isArray(value);
    const entries = toEntries(
      value,
      (index, path) => lineAt(isList ? [index, ...path] : path),
      () => lineAt([]),
    );
    if (!isWritten) return entries;
    const { contents } = document;
    return entries.map((entry, index) => ({
      ...entry,
      written: findWritten(isList && isSeq(contents) ? contents.items[index] : contents),
    }));
  });
}

/** Returns the numbers and booleans of an entry that JavaScript writes differently. */
function findWritten(entry: unknown): Readonly<Record<string, string>> | undefined {
  const found = new Map<string, string>();
  const look = (node: unknown, path: readonly (number | string)[]): void => {
    if (isScalar(node)) {
      if (isWrittenDifferently(node)) found.set(pathKey(path), node.source);
    } else if (isSeq(node)) {
      node.items.forEach((item, index) => look(item, [...path, index]));
    } else if (isMap(node)) {
      for (const { key, value } of node.items) if (isScalar(key)) look(value, [...path, String(key.value)]);
    }
  };
  look(entry, []);
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

const isWrittenDifferently = (node: Scalar): node is ShortScalar =>
  isShort(node) && node.value !== null && node.source !== String(node.value);

type ShortScalar = Scalar<boolean | number | null> & { readonly source: string };

/** Whether a part of YAML is a number, a boolean or null. */
const isShort = (node: unknown): node is ShortScalar =>
  isScalar(node) &&
  (node.value === null || typeof node.value === 'boolean' || typeof node.value === 'number') &&
  node.source !== undefined;

interface ParsedYaml {
  readonly documents: readonly Document.Parsed[];
  readonly counter: LineCounter;
}

/**
 * Parses YAML. The lines of a flow collection and of text in quotes may begin with a tab or without a space, as js-yaml
 * allows, although YAML requires spaces: such lines are indented, one after the other, as long as little text has to be
 * parsed again.
 */
function parseYaml(text: string, linesBefore: number): ParsedYaml {
  const original = parseDocuments(text, linesBefore);
  const lines = text.split('\n');
  let parsed = original;
  let indented = 0;
  let spaces = '';
  let rest = MAX_SLOW_CHARACTERS;
  for (;;) {
    const error = parsed.documents.find(({ errors }) => errors.length > 0)?.errors[0];
    if (error === undefined) return parsed;
    const reported = parsed.counter.linePos(error.pos[0]).line;
    // An error above the indented lines may come from their spaces.
    const isOfCollection = error.code === 'BAD_INDENT' && error.message.startsWith('Flow ');
    const isOfQuotes = isQuoteMissing(error);
    if (!isOfCollection && !isOfQuotes) return reported > indented ? parsed : original;
    // The parser may report the line before.
    const number = Math.max(isOfQuotes ? reported + 1 : reported, indented + 1);
    const line = lines[number - 1];
    if (line === undefined || rest < 0) return original;
    if (number !== indented + 1) spaces = ' '.repeat(findIndent(lines, number - 1) + 8);
    lines[number - 1] = spaces + line;
    indented = number;
    text = lines.join('\n');
    rest -= text.length;
    parsed = parseDocuments(text, linesBefore);
  }
}

/** Whether text in quotes has no end, or ends for the parser before a line without enough spaces. */
const isQuoteMissing = ({ code, message }: YAMLError): boolean =>
  code === 'MISSING_CHAR' && message.startsWith('Missing closing ');

/** Returns where the text in quotes begins that ends at an offset. */
function findQuote(document: Document.Parsed, end: number): number {
  let start = end;
  visit(document, {
    Scalar(_key, { range }) {
      if (range && range[0] < end && range[1] >= end) start = range[0];
    },
  });
  return start;
}

/** Returns the number of spaces before the last text above a line. */
function findIndent(lines: readonly string[], index: number): number {
  for (let above = index - 1; above >= 0; above -= 1) {
    const indent = lines[above]?.search(/\S/u) ?? -1;
    if (indent >= 0) return indent;
  }
  return 0;
}

function parseDocuments(text: string, linesBefore: number): ParsedYaml {
  const counter = new LineCounter();
  // Mappings with the key `<<` take values from others, as in YAML 1.1 and in the parsers of other tools.
  const composer = new Composer({ uniqueKeys: false, merge: true, logLevel: 'error' });
  return { documents: [...composer.compose(readTokens(text, counter, linesBefore))], counter };
}

/**
 * Several times the depth of values that people write. The functions after the tokens are recursive, and near the end of the
 * stack V8 ends the process if it compiles a regular expression.
 */
const MAX_DEPTH = 500;

/** Reads the tokens of YAML. @throws ContentError where values are nested too deeply. */
function* readTokens(text: string, counter: LineCounter, linesBefore: number): Generator<CST.Token> {
  const parser = new Parser(counter.addNewLine);
  counter.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH)
      throw new ContentError(NESTED_TOO_DEEPLY, linesBefore + counter.linePos(parser.offset).line);
  }
  yield* parser.end();
}

/** The parser searches the whole document for each alias. */
const MAX_ALIASES = 1000;

/** Aliases of aliases could expand beyond the available memory. Mappings of this much text are merged in about 200 ms. */
const MAX_REPEATED = 2 * 1024 * 1024;

/**
 * Rejects duplicate keys in a mapping, too many aliases, and aliases that repeat too much text or the value around them. Keys
 * that are numbers, such as `1.10`, become the text that they are in the file.
 *
 * The parser's own check for duplicates compares each key with every other, and its limit of aliases does not depend on the
 * text that they repeat.
 *
 * @returns whether JavaScript writes a number or boolean differently.
 */
function checkNodes(document: Document.Parsed, lineAt: (offset: number) => number): boolean {
  let isWritten = false;
  const anchors = new Map<string, readonly number[]>();
  const aliases: { readonly offset: number; readonly repeated: number }[] = [];
  let total = 0;
  visit(document, {
    Alias(_key, { range, source }) {
      const [offset = 0] = range ?? [];
      const [start = 0, end = 0] = anchors.get(source) ?? [];
      if (offset < end)
        throw new ContentError('expected an alias outside of the value that it repeats.', lineAt(offset));
      const inside = aliases.filter((alias) => alias.offset >= start && alias.offset < end);
      const repeated = inside.reduce((sum, alias) => sum + alias.repeated, end - start);
      total += repeated;
      aliases.push({ offset, repeated });
      if (aliases.length > MAX_ALIASES)
        throw new ContentError(`expected at most ${MAX_ALIASES} aliases.`, lineAt(offset));
      if (total > MAX_REPEATED)
        throw new ContentError(`its aliases repeat more than ${MAX_REPEATED} characters.`, lineAt(offset));
    },
    Value(_key, node) {
      const { anchor, range } = node;
      if (isScalar(node)) isWritten ||= isWrittenDifferently(node);
      if (anchor !== undefined && range) anchors.set(anchor, range);
      if (isMap(node)) for (const { key } of node.items) if (isShort(key)) (key as Scalar).value = key.source;
      const duplicate = isMap(node) ? findDuplicate(node.items) : undefined;
      if (duplicate) {
        const reason = `expected each key once; received ${JSON.stringify(duplicate.value)} again.`;
        throw new ContentError(reason, lineAt(duplicate.range?.[0] ?? 0));
      }
    },
  });
  return isWritten;
}

/** Returns the first key that equals a previous key. */
function findDuplicate(items: readonly Pair[]): Scalar | undefined {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) return key;
    seen.add(key.value);
  }
  return undefined;
}

function unfold(document: Document.Parsed, line: number): unknown {
  try {
    return document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    throw new ContentError(firstLine(error), line);
  }
}

function lineOfNode(document: Document.Parsed, path: readonly (number | string)[], counter: LineCounter): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const start = (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0];
    if (start !== undefined) return counter.linePos(start).line;
  }
  return 1;
}

function toEntries(
  value: unknown,
  lineOf: (index: number, path: readonly (number | string)[]) => number,
  firstLineOf: () => number,
): ContentEntry[] {
  // A file that is empty or contains only comments has no record.
  if (value === null || value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  assertRecordLimit(list.length);
  return list.map((values: unknown, index) => {
    if (!isObject(values)) {
      throw new ContentError(
        'expected an object or a list of objects.',
        Array.isArray(value) ? lineOf(index, []) : firstLineOf(),
      );
    }
    return { values, body: undefined, textOnly: false, lineOf: (path) => lineOf(index, path) };
  });
}

interface CsvRow {
  readonly record: Record<string, string>;
  readonly info: { readonly lines: number };
}

/**
 * Returns what separates the columns: the most frequent delimiter of the header, outside of quotes. Excel writes semicolons
 * where the comma is the decimal separator.
 */
function findDelimiter(text: string): string {
  const [header = ''] = /^(?:"[^"]*"|[^"\r\n])*/u.exec(text.trimStart()) ?? [];
  const unquoted = header.replaceAll(/"[^"]*"/gu, '');
  const count = (delimiter: string): number => unquoted.split(delimiter).length;
  const [found = ','] = ['\t', ',', ';']
    .filter((one) => count(one) > 1)
    .sort((one, other) => count(other) - count(one));
  return found;
}

function readCsv(text: string): ContentEntry[] {
  try {
    const rows = parseCsv(text, {
      columns: true,
      delimiter: findDelimiter(text),
      info: true,
      skip_empty_lines: true,
      // Spreadsheets write rows that were cleared as delimiters alone.
      skip_records_with_empty_values: true,
      trim: true,
      to: MAX_RECORDS + 1,
    }) as unknown as CsvRow[];
    assertRecordLimit(rows.length);
    return rows.map(({ record, info }) => ({
      // An empty cell counts as an absent value.
      values: Object.fromEntries(Object.entries(record).filter(([, cell]) => cell !== '')),
      body: undefined,
      textOnly: true,
      lineOf: () => info.lines,
    }));
  } catch (error) {
    if (error instanceof ContentError) throw error;
    throw new ContentError(firstLine(error), (error as { lines?: number }).lines ?? 1);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The first line of an error's message. */
export function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
