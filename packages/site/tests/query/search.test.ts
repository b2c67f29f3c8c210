import type { RecordTable, ScalarField } from '@trellis/core/record-types';
import fc from 'fast-check';
import type { RecordQuery } from '../../src/query/record-queries.js';
import { toSearchExpression } from '../../src/query/search.js';
import { openRecordStore } from '../../src/record-store.js';
import { tables } from './tables.js';

const column = (name: string) => ({ kind: 'column', name, column: name, holds: 'value' }) as const;
const ID = { values: [column('id')], relations: [] };

const text = (name: string, options: Partial<ScalarField> = {}): ScalarField => ({
  kind: 'scalar',
  name,
  path: name,
  column: name,
  type: 'String',
  list: false,
  nullable: true,
  indexed: false,
  dateArguments: false,
  ...options,
});

const WEIGHTS = { title: 5, tags: 2, body: 1 };

const Post: RecordTable = {
  kind: 'Post',
  single: 'post',
  all: 'allPost',
  fields: [
    ...tables.Item.fields.filter(({ name }) => ['id', 'internal'].includes(name)),
    text('title', { searchWeight: WEIGHTS.title }),
    text('tags', { list: true, searchWeight: WEIGHTS.tags }),
    text('body', { searchWeight: WEIGHTS.body }),
    text('kind', { indexed: true }),
  ],
};

interface Row {
  readonly title: string | null;
  readonly tags: readonly string[] | null;
  readonly body: string | null;
  readonly kind: string;
}

const openStore = (rows: readonly Row[]) => {
  const store = openRecordStore({ file: ':memory:', tables: { Post } });
  store.write((writer) => {
    for (const [position, row] of rows.entries()) writer.put('Post', toStored(row, `p${position}`), position);
  });
  return store;
};

const toStored = ({ tags, ...row }: Row, id: string) => ({ id, ...row, tags: tags && JSON.stringify(tags) });

type Store = ReturnType<typeof openStore>;

const idsOf = (store: Store, query: RecordQuery): unknown[] => store.page('Post', query, ID).nodes.map(({ id }) => id);

/** The words of a text, as the documentation of unicode61 describes them; characters of these scripts are words. */
const wordsOf = (value: string): string[] =>
  value
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{sc=Han}\p{scx=Kana}\p{sc=Thai}]|(?:(?![\p{sc=Han}\p{scx=Kana}\p{sc=Thai}])[\p{L}\p{N}])+/gu) ?? [];

interface Term {
  readonly words: readonly string[];
  readonly isOpen: boolean;
}

/** The documents of the evaluator: the words of each column. */
const columnsOf = ({ title, tags, body }: Row): string[][] =>
  [title ?? '', (tags ?? []).join('\n'), body ?? ''].map(wordsOf);

function countIn(words: readonly string[], { words: wanted, isOpen }: Term): number {
  const fits = (start: number): boolean =>
    wanted.every((word, index) => {
      const found = words[start + index];
      return isOpen && index === wanted.length - 1 ? found?.startsWith(word) === true : found === word;
    });
  return words.filter((_, start) => fits(start)).length;
}

/** The score of the documentation of FTS5 (`bm25`), with its constants. */
function scoresOf(rows: readonly Row[], terms: readonly Term[]): ReadonlyMap<string, number> {
  const documents = rows.map(columnsOf);
  const size = (columns: readonly (readonly string[])[]): number =>
    columns.reduce((sum, { length }) => sum + length, 0);
  const average = documents.reduce((sum, columns) => sum + size(columns), 0) / documents.length;
  const weights = Object.values(WEIGHTS);
  const scores = new Map<string, number>();
  for (const [position, columns] of documents.entries()) {
    const parts = terms.map((term) => {
      const having = documents.filter((other) => other.some((words) => countIn(words, term) > 0)).length;
      const idf = Math.log((documents.length - having + 0.5) / (having + 0.5));
      const frequency = columns.reduce((sum, words, index) => sum + countIn(words, term) * (weights[index] ?? 0), 0);
      const norm = 1.2 * (1 - 0.75 + (0.75 * size(columns)) / average);
      return frequency === 0 ? undefined : (Math.max(idf, 1e-6) * frequency * 2.2) / (frequency + norm);
    });
    if (parts.every((part) => part !== undefined))
      scores.set(
        `p${position}`,
        parts.reduce((sum, part) => sum + part, 0),
      );
  }
  return scores;
}

const word = fc.constantFrom(
  'soup',
  'Süppe',
  'soupe',
  'bread',
  'a',
  'of',
  'leek',
  'Élan',
  '2024',
  'ΣΑΣ',
  'don',
  '検索',
  '全文検索v2',
  'サーバー',
  'ภาษาไทย',
  'ไทย',
);
const phrase = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
const row: fc.Arbitrary<Row> = fc.record({
  title: fc.option(phrase),
  tags: fc.option(fc.array(phrase, { maxLength: 3 })),
  body: fc.option(phrase.map((words) => words.replaceAll(' ', ', '))),
  kind: fc.constantFrom('x', 'y'),
});
const term = fc.record({ words: fc.array(word, { minLength: 1, maxLength: 2 }), isOpen: fc.boolean() });

const toText = ({ words, isOpen }: Term): string =>
  `${words.length > 1 ? `"${words.join(' ')}"` : words[0]}${isOpen ? '*' : ''}`;

const toTerm = ({ words, isOpen }: Term): Term => ({ words: words.flatMap(wordsOf), isOpen });

test('finds the same records as a plain evaluator, with the scores of the documentation', () => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.array(term, { minLength: 1, maxLength: 3 }),
      (rows, terms) => {
        const store = openStore(rows);
        const search = terms.map(toText).join(' ');
        const expected = scoresOf(rows, terms.map(toTerm));
        const { edges } = store.page('Post', { search }, ID);
        const found = new Map(edges.map(({ node, match }) => [String(node.id), match?.score ?? -1]));
        expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [id, score] of found) expect(score).toBeCloseTo(expected.get(id) ?? -1, 8);
        const scores = [...found.values()];
        expect(scores).toEqual(scores.toSorted((one, other) => other - one));
        store.close();
      },
    ),
    { numRuns: 300 },
  );
});

const ROWS: readonly Row[] = [
  { title: 'Leek soup', tags: ['winter'], body: 'Cut the leek. Cook & serve it <hot>.', kind: 'x' },
  { title: 'Bread', tags: ['soup side', 'baking'], body: 'A bread for every soup, also for leek soup.', kind: 'y' },
  { title: 'Crème brûlée', tags: [], body: null, kind: 'x' },
  { title: null, tags: null, body: 'Nothing about cooking', kind: 'y' },
  { title: '全文検索エンジンengineのサーバー', tags: ['ภาษาไทยง่าย'], body: null, kind: 'z' },
  { title: 'Man\u0303ana', tags: null, body: null, kind: 'z' },
  ...Array.from({ length: 20 }, (_, index) => ({ title: `Other ${index}`, tags: [], body: 'filler', kind: 'z' })),
];

const LANGUAGES: readonly Row[] = [
  'Η Αθήνα και ο Οδυσσέας',
  'Ещё одна ёлка',
  'كِتَابٌ جديد',
  'שָׁלוֹם',
  'वह की बात',
  'वह का बात',
  'ฉันกินข้าว',
  'เรารักกัน',
  'Tiếng Việt'.normalize('NFD'),
  '한국어 문서'.normalize('NFD'),
  'ガイドを読む'.normalize('NFD'),
].map((title) => ({ title, tags: [], body: null, kind: 'x' }));

describe('a search in other languages', () => {
  const store = openStore(LANGUAGES);
  afterAll(() => store.close());

  test.each([
    ['Greek without its accents', 'αθηνα οδυσσεας', 'Η <mark>Αθήνα</mark> και ο <mark>Οδυσσέας</mark>'],
    ['Russian without its accents', 'еще елка', '<mark>Ещё</mark> одна <mark>ёлка</mark>'],
    ['Arabic without its vowel marks', 'كتاب', '<mark>كتاب</mark> جديد'],
    ['Hebrew without its vowel marks', 'שלום', '<mark>שלום</mark>'],
    ['Hindi with its vowels', 'की', 'वह <mark>की</mark> बात'],
    ['Thai with its vowels', 'กิน', 'ฉัน<mark>กิน</mark>ข้าว'],
    ['decomposed Vietnamese', 'việt', 'Tiếng <mark>Việt</mark>'],
    ['decomposed Korean', '한국어', '<mark>한국어</mark> 문서'],
    ['decomposed Japanese', 'ガイド', '<mark>ガイド</mark>を読む'],
    ['decomposed searches', 'ガイド'.normalize('NFD'), '<mark>ガイド</mark>を読む'],
  ])('matches %s', (_reason, search, snippet) => {
    expect(store.page('Post', { search }, ID).edges.map(({ match }) => match?.snippet(24))).toEqual([snippet]);
  });
});

describe('a search', () => {
  const store = openStore(ROWS);
  afterAll(() => store.close());

  test.each([
    ['a word, the title first', 'soup', ['p0', 'p1']],
    ['all words in any field', 'bread baking', ['p1']],
    ['accents and case', 'CREME brulée', ['p2']],
    ['a phrase', '"leek soup"', ['p0', 'p1']],
    ['a phrase in another order', '"soup leek"', []],
    ['the beginning of a word', 'cook*', ['p3', 'p0']],
    ['a whole word', 'cooking', ['p3']],
    ['the beginning of the last word of a phrase', '"leek so"*', ['p0', 'p1']],
    ['a phrase without its last quote', '"leek soup', ['p0', 'p1']],
    ['characters inside a sentence of Japanese', '検索', ['p4']],
    ['characters beside other letters', '全文 engine 検索', ['p4']],
    ['characters next to each other only', '文索', []],
    ['the beginning of a word after characters', '索エ*', ['p4']],
    ['a part of a word in Katakana', 'サーバ', ['p4']],
    ['a word inside a sentence of Thai', 'ไทย', ['p4']],
    ['letters whose accents are characters of their own', 'manana', ['p5']],
  ])('matches %s', (_reason, search, expected) => {
    expect(idsOf(store, { search })).toEqual(expected);
  });

  test.each([
    ['a filter', { filter: { kind: { eq: 'y' } } }, ['p1']],
    ['a sort', { sort: { fields: ['title'] } }, ['p1', 'p0']],
    ['a descending sort by an index', { sort: { fields: ['kind'], order: ['DESC'] } }, ['p1', 'p0']],
    ['a page', { skip: 1, limit: 1 }, ['p1']],
    ['a large page', { limit: 10 }, ['p0', 'p1']],
  ] as const)('combines with %s', (_reason, query, expected) => {
    expect(idsOf(store, { search: 'soup', ...query })).toEqual(expected);
  });

  test('counts and groups its matches', () => {
    const page = store.page('Post', { search: 'soup', limit: 1 }, ID);
    expect([page.totalCount, page.pageInfo.hasNextPage]).toEqual([2, true]);
    const groups = store.page('Post', { search: 'soup' }, ID).group({ field: 'kind', limit: 1 });
    expect(groups.map(({ fieldValue, nodes }) => [fieldValue, nodes.map(({ id }) => id)])).toEqual([
      ['x', ['p0']],
      ['y', ['p1']],
    ]);
    expect(store.page('Post', { search: 'soup' }, ID).distinct({ field: 'kind' })).toEqual(['x', 'y']);
  });

  test('without a word has no effect, and no edge has a match', () => {
    for (const search of [null, '', '  ', '"', '*', '&& -- ()', '""*']) {
      const page = store.page('Post', { search }, ID);
      expect([search, page.totalCount]).toEqual([search, ROWS.length]);
      expect(page.edges[0]?.match).toBeUndefined();
    }
  });

  test('returns snippets as HTML, in which only matches are marked up', () => {
    const snippets = (search: string, words: number) =>
      store.page('Post', { search }, ID).edges.map(({ match }) => match?.snippet(words));
    expect(snippets('hot', 24)).toEqual(['Cut the leek. Cook &amp; serve it &lt;<mark>hot</mark>&gt;.']);
    expect(snippets('every', 3)).toEqual([
      expect.stringMatching(/^…?\w+ \w+ <mark>every<\/mark>|<mark>every<\/mark>/u),
    ]);
    expect(snippets('検索', 24)).toEqual(['全文<mark>検索</mark>エンジンengineのサーバー']);
    expect(() => snippets('soup', 0)).toThrow('Expected words to be from 1 to 64; received 0.');
  });

  test('accepts any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (search) => {
        expect(store.page('Post', { search }, ID).totalCount).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
    for (const search of [
      'title:soup',
      'NEAR(a b)',
      'a OR b',
      '^soup',
      'a"b',
      "'; DROP TABLE x",
      '\0',
      'a\0b',
      '{c0}: a',
      'a + b',
    ]) {
      expect(store.page('Post', { search }, ID).edges.map(({ match }) => match?.snippet(5))).toBeDefined();
    }
  });

  test('refuses a text that is too long', () => {
    expect(() => toSearchExpression('a'.repeat(1001))).toThrow(
      'Expected a search of at most 1000 characters; received 1001.',
    );
    expect(() => toSearchExpression('a '.repeat(33))).toThrow('Expected a search of at most 32 words; received 33.');
  });
});

test('the index follows changes of records', () => {
  const store = openStore(ROWS);
  store.write((writer) => {
    writer.put('Post', toStored({ title: 'Stew', tags: ['new'], body: null, kind: 'x' }, 'p0'), 0);
    writer.put('Post', toStored({ title: 'Moved', tags: [], body: null, kind: 'x' }, 'p1'), 500);
    writer.remove('Post', 'p2');
  });
  const found = ['leek', 'soup', 'stew', 'new', 'moved', 'creme'].map((search) => idsOf(store, { search }));
  expect(found).toEqual([[], [], ['p0'], ['p0'], ['p1'], []]);
  store.close();
});

test('the index of a bulk load has all records, and follows later changes', async () => {
  const store = openRecordStore({ file: ':memory:', tables: { Post } });
  await store.bulkLoad(async () => {
    store.write((writer) => ROWS.forEach((one, place) => writer.put('Post', toStored(one, `p${place}`), place)));
  });
  expect(idsOf(store, { search: 'soup' })).toEqual(['p0', 'p1']);
  store.write((writer) => writer.remove('Post', 'p0'));
  expect(idsOf(store, { search: 'soup' })).toEqual(['p1']);
  store.close();
});
