import { AppError } from '@trellis/core/errors';
import { listSearchedFields, searchIndexOf } from '../records/record-schema.js';
import { sql, type Sql } from '../records/sql.js';
import type { SortKey } from './paths.js';
import { type CompileContext, getTable } from './scope.js';

/** Longer than any question of a person. */
const MAX_CHARACTERS = 1000;

const MAX_TERMS = 32;

/** A phrase in quotes, of which the last may be missing, or a word; either may be the beginning of a word. */
const TERM = /"(?<phrase>[^"]*)(?:"(?<open>\*)?|$)|(?<word>[^\s"]+)/gu;

/** The index consists of letters and digits; other characters separate words. */
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u;

/**
 * Translates the text of a search to an expression of FTS5, in which all terms must match. No character of the text has
 * a meaning in the expression, as each term becomes a string.
 *
 * @returns `undefined` for a text without a word.
 * @throws AppError `invalid_input` for a text that is too long.
 */
export function toSearchExpression(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) {
    throw new AppError(
      'invalid_input',
      `Expected a search of at most ${MAX_CHARACTERS} characters; received ${text.length}.`,
      { field: 'search' },
    );
  }
  const terms = [...text.replaceAll('\0', ' ').matchAll(TERM)].flatMap(({ groups = {} }) => {
    const { phrase, open, word = '' } = groups;
    const isOpen = phrase === undefined ? word.endsWith('*') : open !== undefined;
    return toTerm(phrase ?? word, isOpen);
  });
  if (terms.length > MAX_TERMS) {
    throw new AppError('invalid_input', `Expected a search of at most ${MAX_TERMS} words; received ${terms.length}.`, {
      field: 'search',
    });
  }
  return terms.length === 0 ? undefined : terms.join(' AND ');
}

const toTerm = (words: string, isOpen: boolean): string[] =>
  HAS_WORD.test(words) ? [`"${toSearchText(words)}"${isOpen ? ' *' : ''}`] : [];

/** The scripts of languages without spaces between words, such as Chinese, Japanese and Thai. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'];

// Not the marks, which other scripts have too.
const JOINED = `(?:(?!\\p{M})[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}])`;

const HAS_JOINED = new RegExp(JOINED, 'u');

const AROUND_JOINED = new RegExp(`(?<=${JOINED})|(?=${JOINED})`, 'gu');

/** Separates words of the index, and is in no text that a person writes. */
const SEPARATOR = '\u0003';

/** FTS5 ignores the accents of Latin letters, and those of others if they are characters of their own. */
const ACCENTED = /[\p{Script=Greek}\p{Script=Cyrillic}]+/gu;

/** The marks of Hebrew and Arabic for vowels, which most texts and searches leave out. */
const VOWEL_MARKS = /[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u064B-\u065F\u0670]/gu;

/**
 * Returns a text as the index contains it. Each character of a script without spaces becomes a word, so that a search for
 * some of them finds them anywhere in a sentence, next to each other.
 */
export function toSearchText(text: string): string {
  const folded = text
    .normalize('NFC')
    .replaceAll(VOWEL_MARKS, '')
    .replaceAll(ACCENTED, (letters) => letters.normalize('NFD'));
  return HAS_JOINED.test(folded) ? folded.replaceAll(AROUND_JOINED, SEPARATOR) : folded;
}

/** A search of the records of a type. */
export interface RecordSearch {
  readonly kind: string;
  readonly expression: string;
}

/** @throws Error for a record type without a full-text index, whose queries take no search. */
export function parseSearch(
  kind: string,
  text: string | null | undefined,
  context: CompileContext,
): RecordSearch | undefined {
  const expression = text == null ? undefined : toSearchExpression(text);
  if (expression === undefined) return undefined;
  if (listSearchedFields(getTable(kind, context)).length === 0) throw new Error(`${kind} has no field with @search.`);
  return { kind, expression };
}

/** Returns the condition that a row matches a search. */
export const searchCondition = ({ kind, expression }: RecordSearch): Sql =>
  sql(`t.position IN (SELECT rowid FROM ${searchIndexOf(kind)}(?))`, expression);

/** Identifies a search in SQL. */
export const toSearchKey = ({ kind, expression }: RecordSearch): string => JSON.stringify([kind, expression]);

export function parseSearchKey(key: string): RecordSearch {
  const [kind, expression] = JSON.parse(key) as [string, string];
  return { kind, expression };
}

/** The place of a row among the matches of a search, the best first. */
export const searchOrder = (search: RecordSearch): SortKey => ({
  descending: false,
  value: {
    expression: sql('search_place(?, t.position)', toSearchKey(search)),
    ...{ list: false, boolean: false, float: false, text: false, astral: false, nullable: false, objects: false },
    ...{ isNull: undefined, isNullInRow: undefined, column: undefined },
  },
});

/** The position of each match, with its place and its score. */
export type SearchPlaces = ReadonlyMap<number, { readonly place: number; readonly score: number }>;

/** Returns a statement for the positions and scores of all matches, the best first. BM25 is lower for better matches. */
export function placesStatement({ kind, expression }: RecordSearch, context: Pick<CompileContext, 'tables'>): Sql {
  const weights = listSearchedFields(getTable(kind, context)).map(({ weight }) => weight);
  const index = searchIndexOf(kind);
  const rank = `-bm25(${[index, ...weights].join(', ')})`;
  return sql(`SELECT rowid, ${rank} AS score FROM ${index}(?) WHERE in_time() ORDER BY score DESC, rowid`, expression);
}

/** The characters around a match in a snippet before it becomes HTML. */
const [START, END] = ['\u0001', '\u0002'];

/** The limit of FTS5. */
const MAX_WORDS = 64;

/**
 * Returns a statement for the snippets of records, as text.
 *
 * @throws AppError `invalid_input` for a number of words that is out of range.
 */
export function snippetsStatement(
  { kind, expression }: RecordSearch,
  positions: readonly number[],
  words: number,
): Sql {
  if (words < 1 || words > MAX_WORDS) {
    throw new AppError('invalid_input', `Expected words to be from 1 to ${MAX_WORDS}; received ${words}.`, {
      field: 'words',
    });
  }
  const index = searchIndexOf(kind);
  return sql(
    `SELECT rowid, snippet(${index}, -1, ?, ?, '…', ?) FROM ${index}(?)
      WHERE in_time() AND rowid IN (SELECT value FROM json_each(?))`,
    ...[START, END, words, expression, JSON.stringify(positions)],
  );
}

/** Converts a snippet to HTML, in which only the matches are marked up. */
export const toSnippetHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(SEPARATOR, '')
    .normalize('NFC')
    .replaceAll(START, '<mark>')
    .replaceAll(END, '</mark>');
