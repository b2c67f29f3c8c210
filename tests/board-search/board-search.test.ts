import {
  joinSearches,
  parseBoardSearch,
  SEARCH_TERMS,
  type SearchableRow,
  suggestSearches,
} from '../../src/board-search/board-search.js';

const ROWS: readonly SearchableRow[] = [
  {
    ...{ number: 1, title: 'fix: Keep the cart', forge: 'github', repo: 'acme/shop', author: 'Ada' },
    ...{ ci: 'failure', review: { decision: 'review_required' }, requestedReviewerLogins: ['grace'] },
    ...{ additions: 150, deletions: 60, baseBranch: 'main', headBranch: 'keep-cart', draft: false },
    ...{ labels: [{ name: 'bug' }, { name: 'good first issue' }], mergeStatus: 'conflicting' },
  },
  {
    ...{ number: 2, title: 'Bump sharp', forge: 'gitlab', repo: 'acme/blog', author: 'renovate' },
    ...{ ci: 'success', review: { decision: 'approved' }, additions: 1, deletions: 1, kind: 'dependency' },
    ...{ labels: [], readyToMerge: true, changedSinceVisit: true, baseBranch: 'next', draft: false },
  },
  {
    ...{ number: 3, title: 'Send "receipts" as PDF', forge: 'forgejo', repo: 'tools/shop', author: 'grace' },
    ...{ ci: 'none', ciKnown: false, labels: [{ name: 'Bug' }], draft: true, snooze: {} },
  },
  // An issue has none of the members of pull requests.
  { ...{ number: 4, title: 'The cart loses umlauts', forge: 'github', repo: 'acme/shop', author: 'ada' }, labels: [] },
];

const find = (text: string): number[] => ROWS.filter(parseBoardSearch(text).matches).map(({ number }) => number);

describe('parseBoardSearch', () => {
  test.each<[string, number[], string]>([
    ['', [1, 2, 3, 4], 'an empty search'],
    ['CART', [1, 4], 'a word, regardless of case'],
    ['cart keep', [1], 'words in any order'],
    ['"the cart"', [1, 4], 'a phrase'],
    ['"cart the"', [], 'a phrase in another order'],
    ['"the ca', [1, 4], 'a phrase that is still being typed'],
    ['#2', [2], 'a number'],
    ['-cart', [2, 3], 'an excluded word'],
    ['-"the cart" -bump', [3], 'an excluded phrase'],
    ['fix: cart', [1], 'a word with a colon'],
    ['-', [], 'a dash, which is text'],
    ['author:ADA', [1, 4], 'a name, regardless of case'],
    ['author:ad', [], 'a part of a name'],
    ['author:ada,grace', [1, 3, 4], 'alternatives'],
    ['-author:ada,grace', [2], 'excluded alternatives'],
    ['author:', [1, 2, 3, 4], 'a term without a value'],
    ['author:"" author:,', [1, 2, 3, 4], 'terms with empty values'],
    ['repo:acme/shop', [1, 4], 'a repository with its owner'],
    ['repo:shop', [1, 3, 4], 'a repository without its owner'],
    ['label:bug', [1, 3], 'a label'],
    ['label:"good first issue"', [1], 'a label with spaces'],
    ['label:bug label:"good first issue"', [1], 'labels that are both required'],
    ['label:"good first issue",other', [1], 'a label with spaces as an alternative'],
    ['reviewer:grace', [1], 'a requested reviewer'],
    ['base:next', [2], 'the branch it merges into'],
    ['head:keep-cart', [1], 'the branch it comes from'],
    ['forge:git', [1, 2, 3, 4], 'a beginning of several choices, which is a problem'],
    ['forge:for', [3], 'a unique beginning of a choice'],
    ['ci:failure,success', [1, 2], 'results of checks'],
    ['ci:none', [], 'unknown checks, which are not "none"'],
    ['review:approved', [2], 'a decision'],
    ['-review:approved', [1, 3, 4], 'rows without a decision, when one is excluded'],
    ['size:>200', [1], 'more lines'],
    ['size:<=2', [2], 'at most so many lines'],
    ['size:210', [1], 'exactly so many lines'],
    ['size:2..209', [2], 'a range, whose ends count'],
    ['size:>=0', [1, 2], 'any size, if it is known'],
    ['is:draft', [3], 'drafts'],
    ['-is:draft', [1, 2, 4], 'no drafts'],
    ['is:ready,conflicting', [1, 2], 'states of a merge'],
    ['is:bot', [2], 'pull requests of bots'],
    ['is:changed is:bot', [2], 'changes since the last visit'],
    ['is:snoozed', [3], 'snoozed rows'],
    ['IS:Draft', [3], 'a term in capitals'],
    ['cart author:ada -label:bug', [4], 'words and terms'],
  ])('%s selects %j: %s', (text, numbers) => {
    expect(find(text)).toEqual(numbers);
  });

  test.each([
    ['ci:red', 'Expected ci: to be one of failure, none, pending, success; received "red".'],
    ['-size:big', 'Expected size: to be a number of lines such as 200, >200 or 10..50; received "big".'],
    ['ci:failure,red', 'Expected ci: to be one of failure, none, pending, success; received "red".'],
    [
      'is:constructor',
      'Expected is: to be one of bot, changed, conflicting, draft, ready, snoozed; received "constructor".',
    ],
  ])('%s is a problem, and restricts nothing', (text, problem) => {
    expect(parseBoardSearch(text).problems).toEqual([problem]);
    expect(find(text)).toEqual([1, 2, 3, 4]);
  });

  test('reports the states that are asked for, and not the excluded ones', () => {
    expect([...parseBoardSearch('is:dr -is:snoozed').states]).toEqual(['draft']);
  });

  test('every example of the terms is valid', () => {
    for (const example of Object.keys(SEARCH_TERMS)) {
      expect([example, parseBoardSearch(example).problems]).toEqual([example, []]);
    }
  });
});

describe('quotes in names', () => {
  const names = ['say "please"', '"urgent"', String.raw`C:\temp dir\ `.trim(), String.raw`back\slash`, 'plain'];
  const rows = names.map((name, number) => ({ ...ROWS[3]!, number, labels: [{ name }] }));

  test.each(names)('the suggestion for the label %s finds it alone', (name) => {
    const index = names.indexOf(name);
    const suggested = suggestSearches(rows, 'label:')[[...names].sort().indexOf(name)];
    expect(rows.filter(parseBoardSearch(suggested ?? '').matches).map(({ number }) => number)).toEqual([index]);
  });

  test('a quote after a backslash ends neither a phrase nor an alternative', () => {
    expect(find(String.raw`"send \"receipts\" as"`)).toEqual([3]);
    expect(find(String.raw`author:"a\", b",grace`)).toEqual([3]);
  });
});

test.each([
  ['label:"good first', '-cart', []],
  ['label:"good first issue', 'cart', [1]],
  [String.raw`label:"good \" first`, '-cart', []],
  ['label:"good first issue"', '-bump', [1]],
  ['', 'bump', [2]],
])('joinSearches: %j and %j select %j', (first, second, numbers) => {
  expect(find(joinSearches(first, second))).toEqual(numbers);
});

describe('suggestSearches', () => {
  test.each<[string, string[], string]>([
    ['re', ['repo:', 'review:', 'reviewer:'], 'terms'],
    ['cart -l', ['cart -label:'], 'an excluded term after a word'],
    ['author:', ['author:Ada', 'author:ada', 'author:grace', 'author:renovate'], 'all values'],
    ['author:RE', ['author:renovate'], 'values that contain the text'],
    ['label:go', ['label:"good first issue"'], 'a value with spaces'],
    ['repo:sh', ['repo:acme/shop', 'repo:tools/shop'], 'repositories'],
    ['is:d', ['is:draft'], 'choices'],
    ['ci:failure,pen', ['ci:failure,pending'], 'an alternative'],
    ['label:"a, b",go', ['label:"a, b","good first issue"'], 'an alternative after a quoted comma'],
    ['is:draft', [], 'nothing for a complete term'],
    ['size:', [], 'nothing for a number'],
    ['cart ', [], 'nothing after a space'],
    ['', [], 'nothing for an empty search'],
  ])('completes %j with %j: %s', (text, wanted) => {
    expect(suggestSearches(ROWS, text)).toEqual(wanted);
  });
});
