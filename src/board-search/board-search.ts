/** The search language of boards: words of the title, and terms such as `author:ada`, `-label:wip` or `size:>200`. */

/** The members of a pull request or an issue that a search can name. Issues lack most of them. */
export interface SearchableRow {
  readonly title: string;
  readonly number: number;
  readonly forge: string;
  readonly repo: string;
  readonly author: string;
  readonly labels: readonly { readonly name: string }[];
  readonly authorIsBot?: boolean;
  readonly kind?: string;
  readonly draft?: boolean;
  readonly readyToMerge?: boolean;
  readonly mergeStatus?: string;
  readonly changedSinceVisit?: boolean;
  readonly snooze?: object;
  readonly ci?: string;
  readonly ciKnown?: boolean;
  readonly review?: { readonly decision: string };
  readonly requestedReviewerLogins?: readonly string[];
  readonly baseBranch?: string;
  readonly headBranch?: string;
  readonly additions?: number;
  readonly deletions?: number;
}

export interface Search {
  readonly matches: (row: SearchableRow) => boolean;
  /** Messages about terms with an invalid value, which restrict nothing. */
  readonly problems: readonly string[];
  /** The values of `is:` that the search asks for. */
  readonly states: ReadonlySet<string>;
}

type Test = (row: SearchableRow) => boolean;

/** The terms whose values are names, compared as a whole and regardless of case. A row may have several of a kind. */
const NAMES = {
  author: ({ author }) => [author],
  base: ({ baseBranch }) => (baseBranch === undefined ? [] : [baseBranch]),
  head: ({ headBranch }) => (headBranch === undefined ? [] : [headBranch]),
  label: ({ labels }) => labels.map(({ name }) => name),
  // With or without the owner.
  repo: ({ repo }) => [repo, repo.slice(repo.lastIndexOf('/') + 1)],
  reviewer: ({ requestedReviewerLogins = [] }) => requestedReviewerLogins,
} as const satisfies Readonly<Record<string, (row: SearchableRow) => readonly string[]>>;

const hasCi =
  (status: string): Test =>
  ({ ci, ciKnown }) =>
    ci === status && ciKnown !== false;

const hasDecision =
  (decision: string): Test =>
  ({ review }) =>
    review?.decision === decision;

const isOn =
  (name: string): Test =>
  ({ forge }) =>
    forge === name;

/** The terms with a fixed set of values, of which a unique beginning is enough. */
const CHOICES = {
  ci: { failure: hasCi('failure'), none: hasCi('none'), pending: hasCi('pending'), success: hasCi('success') },
  forge: { forgejo: isOn('forgejo'), github: isOn('github'), gitlab: isOn('gitlab') },
  is: {
    bot: ({ authorIsBot, kind }) => authorIsBot === true || kind === 'dependency',
    changed: ({ changedSinceVisit }) => changedSinceVisit === true,
    conflicting: ({ mergeStatus }) => mergeStatus === 'conflicting',
    draft: ({ draft }) => draft === true,
    ready: ({ readyToMerge }) => readyToMerge === true,
    snoozed: ({ snooze }) => snooze !== undefined,
  },
  review: {
    approved: hasDecision('approved'),
    changes_requested: hasDecision('changes_requested'),
    none: hasDecision('none'),
    required: hasDecision('review_required'),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Test>>>>;

/** An example of every term, with its meaning or its values. */
export const SEARCH_TERMS = {
  'author:ada': 'opened by this account',
  'repo:acme/shop': 'in this repository; its owner may be left out',
  'label:"first issue"': 'with this label',
  'ci:failure': 'failure, pending, success or none',
  'review:required': 'required, approved, changes_requested or none',
  'reviewer:ada': 'a review is requested from this account',
  'size:>200': 'lines added and deleted; also <=10 or 10..50',
  'is:draft': 'draft, ready, conflicting, changed, snoozed or bot',
  'base:main': 'the branch that it merges into; head: is its own',
  'forge:github': 'github, gitlab or forgejo',
} as const;

const SIZE = 'size';

const KEYS = [...Object.keys(NAMES), ...Object.keys(CHOICES), SIZE].sort();

/** The beginning of a quoted text, without its closing quote. In it, `\"` is a quote and `\\` a backslash. */
const BEGUN = String.raw`"(?:\\["\\]|\\(?!["\\])|[^"\\])*`;

/** A missing closing quote is at the end of the text. */
const QUOTED = new RegExp(`${BEGUN}(?:"|$)`, 'gu');

/** A part between spaces; quotes keep spaces. */
const PART = new RegExp(String.raw`(?:${QUOTED.source}|[^\s"])+`, 'gu');

/** A value between commas, of which one is enough. */
const VALUE = new RegExp(`(?:${QUOTED.source}|[^,"])+`, 'gu');

/** The complete values at the beginning of a list, and the last one. */
const ALTERNATIVES = new RegExp(`^((?:(?:${BEGUN}"|[^",])*,)?)(.*)$`, 'su');

const TERM = new RegExp(`^(-?)(${KEYS.join('|')}):(.*)$`, 'isu');

/**
 * Parses a search. All of its words and terms must match; a `-` excludes, commas separate alternatives, and quotes keep
 * spaces; in quotes, `\"` is a quote. A word is looked for in the title, and `#12` is a number. A term without a value matches every row, as does one
 * with an invalid value, which is a problem. Other text with a colon, such as `fix:`, is a word.
 */
export function parseBoardSearch(text: string): Search {
  const problems: string[] = [];
  const states = new Set<string>();
  const tests = (text.match(PART) ?? []).flatMap((part): Test[] => {
    const [, minus = '', key = '', list = ''] = TERM.exec(part) ?? [];
    if (key === '') return toWord(part);
    const name = key.toLowerCase();
    const values = (list.match(VALUE) ?? []).map(unquote).filter((value) => value !== '');
    const any = values.flatMap((value) => {
      const test = toTest(name, value.toLowerCase());
      if (typeof test === 'function') return [test];
      problems.push(`Expected ${name}: to be ${test}; received "${value}".`);
      return [];
    });
    if (any.length === 0 || any.length < values.length) return [];
    if (name === 'is' && minus === '') for (const value of values) states.add(findChoice(CHOICES.is, value) ?? '');
    return [negate(minus, (row) => any.some((test) => test(row)))];
  });
  return { matches: (row) => tests.every((test) => test(row)), problems, states };
}

const quote = (name: string): string => `"${name.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;

const unquote = (text: string): string =>
  text.replaceAll(QUOTED, (quoted) => quoted.replaceAll(/\\(["\\])|"/gu, '$1')).trim();

/** Returns a search for the rows that match both searches: an open quote of the first does not absorb the second. */
export function joinSearches(first: string, second: string): string {
  const isOpen = first.replaceAll(new RegExp(`${BEGUN}"`, 'gu'), '').includes('"');
  return `${first}${isOpen ? '"' : ''} ${second}`.trim();
}

const negate = (minus: string, test: Test): Test => (minus === '' ? test : (row) => !test(row));

function toWord(part: string): Test[] {
  const minus = part.length > 1 && part.startsWith('-') ? '-' : '';
  const word = unquote(part.slice(minus.length)).toLowerCase();
  if (word === '') return [];
  return [negate(minus, ({ title, number }) => title.toLowerCase().includes(word) || `#${number}` === word)];
}

/** Returns the test of a term with one value, or a description of the valid values. */
function toTest(key: string, value: string): Test | string {
  if (key === SIZE) return toSizeTest(value) ?? 'a number of lines such as 200, >200 or 10..50';
  if (key in NAMES) {
    const read = NAMES[key as keyof typeof NAMES];
    return (row) => read(row).some((name) => name.toLowerCase() === value);
  }
  const choices: Readonly<Record<string, Test>> = CHOICES[key as keyof typeof CHOICES];
  const found = findChoice(choices, value);
  return (found === undefined ? undefined : choices[found]) ?? `one of ${Object.keys(choices).join(', ')}`;
}

/** Returns the only choice that begins with a value. */
function findChoice(choices: Readonly<Record<string, Test>>, value: string): string | undefined {
  const found = Object.keys(choices).filter((name) => name.startsWith(value.toLowerCase()));
  return found.length === 1 ? found[0] : undefined;
}

const COMPARISONS: Readonly<Record<string, (size: number, limit: number) => boolean>> = {
  '': (size, limit) => size === limit,
  '<': (size, limit) => size < limit,
  '<=': (size, limit) => size <= limit,
  '>': (size, limit) => size > limit,
  '>=': (size, limit) => size >= limit,
};

/** A pull request without a known size matches no size. */
function toSizeTest(value: string): Test | undefined {
  const [, from, to] = /^(\d+)\.\.(\d+)$/u.exec(value) ?? [];
  if (from !== undefined) return withSize((size) => size >= Number(from) && size <= Number(to));
  const [, sign = '', limit] = /^([<>]=?|)(\d+)$/u.exec(value) ?? [];
  const compare = COMPARISONS[sign];
  return limit === undefined || compare === undefined ? undefined : withSize((size) => compare(size, Number(limit)));
}

const withSize =
  (test: (size: number) => boolean): Test =>
  ({ additions, deletions = 0 }) =>
    additions !== undefined && test(additions + deletions);

/** More suggestions would hide the list. */
const MAX_SUGGESTED = 8;

/** Returns texts that complete the last word or term of a search with values of the rows. */
export function suggestSearches(rows: readonly SearchableRow[], text: string): readonly string[] {
  const last = text.match(PART)?.at(-1) ?? '';
  if (last === '' || !text.endsWith(last)) return [];
  const before = text.slice(0, text.length - last.length);
  return complete(rows, last)
    .filter((part) => part !== last)
    .slice(0, MAX_SUGGESTED)
    .map((part) => before + part);
}

function complete(rows: readonly SearchableRow[], last: string): readonly string[] {
  const [, minus = '', key = '', value = ''] = TERM.exec(last) ?? [];
  if (key === '') {
    const typed = last.replace(/^-/u, '').toLowerCase();
    const sign = last.slice(0, last.length - typed.length);
    return typed === '' ? [] : KEYS.filter((name) => name.startsWith(typed)).map((name) => `${sign}${name}:`);
  }
  const [, earlier = '', part = ''] = ALTERNATIVES.exec(value) ?? [];
  const begun = unquote(part).toLowerCase();
  const isCompleted = key.toLowerCase() in CHOICES ? 'startsWith' : 'includes';
  return listValues(key.toLowerCase(), rows)
    .filter((name) => name.toLowerCase()[isCompleted](begun))
    .map((name) => `${minus}${key}:${earlier}${/[\s,"]/u.test(name) ? quote(name) : name}`);
}

function listValues(key: string, rows: readonly SearchableRow[]): readonly string[] {
  if (key in CHOICES) return Object.keys(CHOICES[key as keyof typeof CHOICES]);
  if (!(key in NAMES)) return [];
  const read = NAMES[key as keyof typeof NAMES];
  // The first name of a repository has its owner.
  const found = rows.flatMap((row) => (key === 'repo' ? read(row).slice(0, 1) : read(row)));
  return [...new Set(found)].sort();
}
