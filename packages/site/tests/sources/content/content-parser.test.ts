import { ContentError } from '../../../src/sources/content/content-entry.js';
import {
  type ContentParser,
  openContentParser,
  type ParsedContent,
} from '../../../src/sources/content/content-parser.js';

const KIB = 1024;

let parser: ContentParser;
beforeAll(() => {
  // A long deadline, because the machine runs other tests at the same time.
  parser = openContentParser({ deadlineMs: 60_000 });
});
afterAll(() => parser.close());

const numbered = (line: (index: number) => string, characters: number): string => {
  const lines: string[] = [];
  for (let length = 0, index = 0; length < characters; index += 1)
    length += lines.push(line(index)) && line(index).length;
  return lines.join('').slice(0, characters);
};

const toKey = (index: number): string => `k${index}: ${index}\n`;

/** Returns the number of parsed records, or the message of the error. */
async function outcome(text: string, extension = 'yaml'): Promise<number | string> {
  return parser.parse(text, extension).then(
    ({ entries }) => entries.length,
    (error: unknown) => {
      if (!(error instanceof ContentError)) throw error;
      return error.message;
    },
  );
}

test('content parser: 30,000 keys of front matter are parsed with their lines without blocking this thread', async () => {
  const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: ''\n`);
  const text = `---\n${keys.join('')}---\nThe text.\n`
    .replace("k29998: ''", 'k29998: 1.10')
    .replace("k29999: ''", 'k29999: 7');
  expect(text.length).toBeGreaterThan(250 * KIB);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const { entries, locate } = await parser.parse(text.replaceAll(": ''", ':'), 'md');
  clearInterval(timer);
  expect(Object.keys(entries[0]?.values ?? {})).toHaveLength(30_000);
  expect(entries[0]?.body).toBe('The text.\n');
  expect(entries[0]?.written).toEqual({ '["k29998"]': '1.10' });
  expect(turns).toBeGreaterThan(10);
  await expect(
    locate([
      { entry: 0, path: ['k29999'] },
      { entry: 0, path: [] },
    ]),
  ).resolves.toEqual([30_001, 2]);
});

test('content parser: the time for a mapping grows linearly, not quadratically', async () => {
  const secondsFor = async (characters: number): Promise<number> => {
    const text = numbered(toKey, characters);
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const started = performance.now();
      await parser.parse(text, 'yaml');
      times.push(performance.now() - started);
    }
    return Math.min(...times);
  };
  await secondsFor(32 * KIB);
  const [small, large] = [await secondsFor(32 * KIB), await secondsFor(256 * KIB)];
  // The text is eight times as long; quadratic time would be 64 times as long.
  expect(large / small).toBeLessThan(32);
});

const ADVERSARIAL: readonly (readonly [string, string])[] = [
  ['a flow sequence', `[${'1,'.repeat(128 * KIB)}`],
  ['a flow mapping', `{${numbered((index) => `k${index}: 1,`, 255 * KIB)}}`],
  ['open brackets', '['.repeat(256 * KIB)],
  ['nested brackets', '['.repeat(128 * KIB) + ']'.repeat(128 * KIB)],
  ['nested mappings', '{a: '.repeat(50 * KIB)],
  ['nested sequences', '- '.repeat(128 * KIB)],
  ['nested keys', '? '.repeat(128 * KIB)],
  ['anchors and aliases', numbered((index) => `- &a${index} x\n- *a${index}\n`, 256 * KIB)],
  ['one anchor redefined and used repeatedly', '- &a x\n- *a\n'.repeat(21 * KIB)],
  ['aliases of one anchor', `- &a x\n${'- *a\n'.repeat(51 * KIB)}`],
  ['merge keys', `a: &a {x: 1}\nb:\n${numbered((index) => `  k${index}: {<<: *a}\n`, 250 * KIB)}`],
  ['tags', numbered((index) => `- !t${index} a\n`, 256 * KIB)],
  ['tag directives', `${numbered((index) => `%TAG !e${index}! tag:x,${index}:\n`, 250 * KIB)}\n---\na: 1\n`],
  ['a long scalar', `a: ${'x '.repeat(127 * KIB)}`],
  ['a scalar of many lines', `a: ${'x\n  '.repeat(63 * KIB)}`],
  ['a folded scalar', `a: >\n${'  x\n\n'.repeat(51 * KIB)}`],
  ['comments', `${'# c\n'.repeat(63 * KIB)}a: 1`],
  ['blank lines', `a: 1\n${'\n'.repeat(255 * KIB)}b: 2`],
  ['documents', '---\na: 1\n'.repeat(28 * KIB)],
  ['an error in each line', ']\n'.repeat(128 * KIB)],
  ['unresolved aliases', 'a: *x\n'.repeat(42 * KIB)],
];

test.each(ADVERSARIAL)(
  'content parser: the largest YAML with %s finishes within the deadline, with records or a reason',
  async (_what, text) => {
    const sized = text.slice(0, 256 * KIB);
    expect(String(await outcome(sized))).not.toMatch(/seconds|memory|thread/);
  },
);

test.each([
  ['JSON of empty objects', 'json', `[${'{},'.repeat(1_300_000)}{}]`, /at most 100000 records/],
  ['JSON of nested lists', 'json', '['.repeat(2_000_000) + ']'.repeat(2_000_000), /./],
  ['CSV of short rows', 'csv', `a\n${'1\n'.repeat(2_000_000)}`, /at most 100000 records/],
  ['CSV of one long header', 'csv', `${numbered((index) => `c${index},`, 4_000_000)}x\n`, /^0$/],
  ['CSV of an open quote', 'csv', `a\n"${'x\n'.repeat(2_000_000)}`, /quote/i],
  ['Markdown of rules', 'md', '---\n'.repeat(1_000_000), /^1$/],
  ['Markdown of an open front matter', 'md', `---\n${'a\n'.repeat(2_000_000)}`, /^1$/],
])('content parser: 4 MB of %s are parsed or rejected within the deadline', async (_what, extension, text, result) => {
  expect(String(await outcome(text, extension))).toMatch(result);
});

test('content parser: a slow text is rejected, and the next one is parsed in a new thread', async () => {
  const impatient = openContentParser({ deadlineMs: 500 });
  const slow = ']\n'.repeat(128 * KIB);
  await expect(impatient.parse(slow, 'yaml')).rejects.toThrow('takes more than 0.5 seconds to parse');
  // A busy machine may not parse even a short text in time.
  const parseNext = (): Promise<ParsedContent> =>
    impatient.parse(`a: ${'x '.repeat(10 * KIB)}`, 'yaml').catch((error: unknown) => {
      if (String(error).includes('takes more than')) return parseNext();
      throw error;
    });
  expect((await parseNext()).entries).toHaveLength(1);
  await impatient.close();
});

test('content parser: concurrent texts are parsed one after the other', async () => {
  const texts = Array.from({ length: 5 }, (_, index) => `first: ${index}\n${numbered(toKey, 20 * KIB)}`);
  const parsed = await Promise.all(texts.map((text) => parser.parse(text, 'yaml')));
  expect(parsed.map(({ entries }) => entries[0]?.values.first)).toEqual([0, 1, 2, 3, 4]);
});
