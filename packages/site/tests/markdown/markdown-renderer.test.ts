import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { type MarkdownRenderer, openMarkdownRenderer } from '../../src/markdown/markdown-renderer.js';
import { cutText, type HtmlPieces } from '../../src/markdown/rendering.js';
import { openThread } from '../../src/sources/threads.js';

const SETTINGS = { sanitize: true, highlight: true, directory: undefined };
const ALWAYS = (): void => undefined;

let renderer: MarkdownRenderer;

beforeAll(() => {
  renderer = openMarkdownRenderer(SETTINGS);
});

afterAll(() => renderer.close());

const join = (pieces: HtmlPieces): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.url)).join('');

const toHtml = async (text: string): Promise<string> => join((await renderer.render(text, ALWAYS)).html);

const excerpt = async (text: string, length: number, format: 'HTML' | 'MARKDOWN'): Promise<string> =>
  join(await renderer.excerpt(text, { length, format }, ALWAYS));

describe('render', () => {
  test('highlights code in a known language, and escapes it', async () => {
    const html = await toHtml('```js\nconst a = "<b>";\n```');
    expect(html).toContain('<code class="language-js"><span class="token keyword">const</span>');
    expect(html).not.toContain('<b>');
    expect(await toHtml('```none\n<b>\n```')).toBe('<pre><code class="language-none">&#x3C;b>\n</code></pre>');
  });

  test.each(['js{1,3-4}', 'js{numberLines: true}', 'js:title=a.js', 'JS {1}'])(
    'highlights code whose language has the options of a plugin: %s',
    async (language) => {
      const html = await toHtml(`\`\`\`${language}\nconst a = 1;\n\`\`\``);
      expect(html).toMatch(/^<pre><code class="language-js"><span class="token keyword">const</u);
    },
  );

  test('gives each heading an id of its own, and lists the headings in order', async () => {
    const { headings } = await renderer.render('# One `code`\n\nTwo\n---\n\n## Two\n\n[^1]\n\n[^1]: Note', ALWAYS);
    expect(headings).toEqual([
      { depth: 1, value: 'One code', id: 'one-code' },
      { depth: 2, value: 'Two', id: 'two' },
      { depth: 2, value: 'Two', id: 'two-1' },
    ]);
  });

  test('links footnotes and their references to each other', async () => {
    const html = await toHtml('Text[^a].\n\n[^a]: Note');
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/gu)].map(([, id]) => id));
    const targets = [...html.matchAll(/(?:href="#|aria-describedby=")([^"]+)"/gu)].map(([, id]) => id);
    expect(targets).toHaveLength(3);
    expect(targets.filter((id) => !ids.has(id))).toEqual([]);
  });

  test('counts words of languages without spaces', async () => {
    const { wordCount } = await renderer.render('今日は良い天気です。', ALWAYS);
    expect(wordCount.words).toBeGreaterThan(2);
    expect(wordCount.sentences).toBe(1);
  });

  test('counts the words of a long text without spaces', async () => {
    const { wordCount } = await renderer.render('検索エンジンの世界へ。'.repeat(40_000), ALWAYS);
    expect(wordCount).toEqual({ paragraphs: 1, sentences: 40_000, words: 200_000 });
  });

  test('counts the words and sentences of a long text', async () => {
    // V8 copies the text for each segment: those of the whole text would take gigabytes.
    const { wordCount } = await renderer.render('Some words, e.g. ten, are a sentence. '.repeat(15_000), ALWAYS);
    expect(wordCount).toEqual({ paragraphs: 1, sentences: 15_000, words: 105_000 });
  });

  test.each([
    ['English', 'Dr. Smith asked: "Why?" It costs 3.50 (e.g. in the U.S. or U.K.)… Then\u00A0he left! '],
    // cspell:disable-next-line
    ['Thai', 'ภาษาไทยเขียนโดยไม่เว้นวรรคระหว่างคำ '],
    ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈 can’t '],
    ['one word', 'word'],
  ])('counts as the segmenter does in the whole text: %s', async (_what, part) => {
    const text = part.repeat(150).trim();
    const count = (granularity: 'sentence' | 'word', matches: (segment: Intl.SegmentData) => boolean): number =>
      [...new Intl.Segmenter('en', { granularity }).segment(text)].filter(matches).length;
    const { plainText, wordCount } = await renderer.render(text, ALWAYS);
    expect(plainText).toBe(text);
    expect(wordCount).toEqual({
      paragraphs: 1,
      sentences: count('sentence', ({ segment }) => /[\p{L}\p{N}]/u.test(segment)),
      words: count('word', ({ isWordLike }) => isWordLike === true),
    });
  });

  test.each([
    ['## A title {#own-id}', '<h2 id="own-id">A title</h2>', 'A title'],
    ['Title {#t}\n===', '<h1 id="t">Title</h1>', 'Title'],
    ['## A *title* {#Own_ID} ##', '<h2 id="own_id">A <em>title</em></h2>', 'A title'],
    ['## A {#x}\n## B {#x}', '<h2 id="x">A</h2>\n<h2 id="x-1">B</h2>', 'A'],
    ['## {#only}', '<h2 id="only"></h2>', ''],
    ['## A {#x} title', '<h2 id="a-x-title">A {#x} title</h2>', 'A {#x} title'],
    ['## A `{#x}`', '<h2 id="a-x">A <code>{#x}</code></h2>', 'A {#x}'],
  ])('takes the id that a heading ends with: %j', async (text, html, value) => {
    const { headings, plainText } = await renderer.render(text, ALWAYS);
    expect(await toHtml(text)).toBe(html);
    expect([headings[0]?.value, plainText.split('\n')[0]]).toEqual([value, value]);
  });

  test('keeps the id of a heading as it is written if all authors are trusted', async () => {
    const trusting = openMarkdownRenderer({ ...SETTINGS, sanitize: false });
    const { html } = await trusting.render('## A title {#Own_ID}\n## B {#a}\n<h2 id="c">C</h2>\n\n## A\n## C', ALWAYS);
    await trusting.close();
    expect(join(html).match(/id="[^"]*"/gu)).toEqual(['id="Own_ID"', 'id="a"', 'id="c"', 'id="a-1"', 'id="c-1"']);
  });

  test('marks the relative URLs of videos and sounds if all authors are trusted', async () => {
    const trusting = openMarkdownRenderer({ ...SETTINGS, sanitize: false });
    const { html } = await trusting.render(
      '<video src="a.mp4" poster="a.jpg"><track src="a.vtt"></video>\n\n<audio><source src="b.mp3"><source src="/c.mp3"></audio>',
      ALWAYS,
    );
    await trusting.close();
    const urls = html.flatMap((piece) => (typeof piece === 'string' ? [] : [`${piece.is} ${piece.url} ${piece.line}`]));
    expect(urls).toEqual(['href a.mp4 1', 'href a.jpg 1', 'href a.vtt 1', 'href b.mp3 3']);
    expect(join(html)).toContain('<source src="/c.mp3">');
  });

  test('leaves markup, scripts and footnote marks out of the text', async () => {
    const { plainText, wordCount } = await renderer.render(
      '# Title\n\nSome *words*[^1]\nand <b>more</b>.<script>no()</script>\n\n- a\n- b\n\n[^1]: Note.',
      ALWAYS,
    );
    expect(plainText).toBe('Title\n\nSome words and more.\n\na\n\nb\n\nNote.');
    expect(wordCount).toEqual({ paragraphs: 5, sentences: 5, words: 8 });
  });

  test('keeps the elements that GitHub keeps', async () => {
    const texts = [
      '<figure><img src="/a.png"><figcaption>A <cite>b</cite></figcaption></figure>',
      '<p><abbr title="c">d</abbr> <mark>e</mark> <small>f</small> <time datetime="2024">g</time> <dfn>h</dfn></p>',
      '<table><caption>i</caption></table>',
    ];
    for (const text of texts) expect(await toHtml(text)).toBe(text);
    expect((await renderer.render(texts.join('\n'), ALWAYS)).plainText).toBe('A b\n\nd e f g h\n\ni');
  });

  const alert = (kind: string, title: string, content: string): string =>
    `<div class="markdown-alert markdown-alert-${kind}">\n<p class="markdown-alert-title">${title}</p>\n${content}\n</div>`;

  test.each([
    ['> [!NOTE]\n> A *b*', alert('note', 'Note', '<p>A <em>b</em></p>')],
    ['> [!tip]  \n> `a`\n>\n> b', alert('tip', 'Tip', '<p><code>a</code></p>\n<p>b</p>')],
    ['> [!WARNING]\n>\n> - a', alert('warning', 'Warning', '<ul>\n<li>a</li>\n</ul>')],
    ['> [!CAUTION]\n> **a** b', alert('caution', 'Caution', '<p><strong>a</strong> b</p>')],
    [
      '- a\n\n  > [!IMPORTANT]\n  > b',
      `<ul>\n<li>\n<p>a</p>\n${alert('important', 'Important', '<p>b</p>')}\n</li>\n</ul>`,
    ],
    ['> [!NOTE]', '<blockquote>\n<p>[!NOTE]</p>\n</blockquote>'],
    ['> [!NOTE] A', '<blockquote>\n<p>[!NOTE] A</p>\n</blockquote>'],
    ['> [!NOTE] **A**', '<blockquote>\n<p>[!NOTE] <strong>A</strong></p>\n</blockquote>'],
    ['> [!OTHER]\n> A', '<blockquote>\n<p>[!OTHER]\nA</p>\n</blockquote>'],
    ['[!NOTE]\nA', '<p>[!NOTE]\nA</p>'],
    ['> \\[!NOTE]\n> A', '<blockquote>\n<p>[!NOTE]\nA</p>\n</blockquote>'],
  ])('renders the alerts of GitHub: %j', async (text, html) => {
    expect(await toHtml(text)).toBe(html);
  });

  test('the text of an alert begins with its title, and its mark stays in excerpts in Markdown', async () => {
    const text = '> [!NOTE]\n> One two three.';
    expect((await renderer.render(text, ALWAYS)).plainText).toBe('Note\n\nOne two three.');
    expect(await excerpt(text, 17, 'MARKDOWN')).toBe('> [!NOTE]\n> One two…\n');
    expect(await excerpt(text, 17, 'HTML')).toBe(alert('note', 'Note', '<p>One two…</p>'));
    expect(await excerpt('> [!NOTE]\n> Wonderful tree.', 12, 'HTML')).toBe(
      '<div class="markdown-alert markdown-alert-note">\n<p class="markdown-alert-title">Note…</p>\n</div>',
    );
    const others = '- > [!TIP]\n  > a\n\n> \\[!NOTE]\n> b\n\n```md\n> \\[!NOTE]\n```\n';
    expect(await excerpt(others, 100, 'MARKDOWN')).toBe(others);
  });

  test('marks relative URLs with their line, and leaves others', async () => {
    const { html } = await renderer.render(
      'a\n\n[x](y.md) [z](/z) [w](https://w.org) [#](#a)\n![p](<p q.png>)',
      ALWAYS,
    );
    expect(html.filter((piece) => typeof piece !== 'string')).toEqual([
      { is: 'href', url: 'y.md', attributes: '', line: 3 },
      { is: 'image', url: 'p%20q.png', attributes: ' alt="p"', line: 4 },
    ]);
  });
});

/** The results of gatsby-transformer-remark in its own tests (MIT licence). */
describe('the same excerpts as in Gatsby', () => {
  const { text, excerpts } = JSON.parse(
    readFileSync(new URL('./published/gatsby-excerpts.json', import.meta.url), 'utf8'),
  ) as { readonly text: string; readonly excerpts: readonly (readonly [length: number, expected: string])[] };

  test.each(excerpts)('a text is cut after %i characters', (length, expected) => {
    expect(`${cutText(text, length)}…`).toBe(expected);
  });

  test('HTML and Markdown are cut without counting markup', async () => {
    const nested = 'Where oh [*where*](https://nick.com) **_is_** ![that pony](https://a.org/pony.png)?';
    expect(await excerpt(nested, 140, 'HTML')).toBe(
      '<p>Where oh <a href="https://nick.com"><em>where</em></a> <strong><em>is</em></strong> <img src="https://a.org/pony.png" alt="that pony">?</p>',
    );
    expect(await excerpt('Where oh where is that pony? Is he in the stable or by the stream?', 50, 'HTML')).toBe(
      '<p>Where oh where is that pony? Is he in the stable…</p>',
    );
    expect(await excerpt('Where oh where **is** my little pony? Lorem ipsum and more', 40, 'MARKDOWN')).toBe(
      'Where oh where **is** my little pony? Lorem…\n',
    );
  });
});

test('an excerpt has the links and images whose definitions are below the cut, and no footnotes', async () => {
  const text = 'A [link], ![one][1] and[^n] two [words][1].\n\n[Link]: /a "T"\n[1]: /b.png\n[1]: /c\n\n[^n]: Note.\n';
  expect(await excerpt(text, 16, 'HTML')).toBe(
    '<p>A <a href="/a" title="T">link</a>, <img src="/b.png" alt="one"> and two…</p>',
  );
  expect(await excerpt(text, 100, 'MARKDOWN')).toBe('A [link](/a "T"), ![one](/b.png) and two [words](/b.png).\n');
});

test.each([
  ['One two. <b>It’s</b> *three*.', 10, '<p>One two. <b>…</b></p>'],
  ['One [two.four three](/a).', 8, '<p>One…</p>'],
  ['One [two three](/a).', 8, '<p>One <a href="/a">two</a>…</p>'],
  ['One two.\n\nIt’s three.', 10, '<p>One two.…</p>'],
  ['- One `two`\n- It’s three.', 7, '<ul>\n<li>One <code>two</code>…</li>\n</ul>'],
  [
    '| One |\n| - |\n| two three |',
    8,
    '<table>\n<thead>\n<tr>\n<th>One</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>two…</td>\n</tr>\n</tbody>\n</table>',
  ],
  ['```\none two\n```\n\nThree.', 5, '<pre><code>one…\n</code></pre>'],
  ['```\none two\n```\n\nThree.', 7, '<pre><code>one two\n</code></pre>\n<p>…</p>'],
  ['One.\n\n---\n\nTwo words.', 6, '<p>One.</p>\n<hr>\n<p>…</p>'],
  ['```\n```\n\nOne two.', 7, '<pre><code></code></pre>\n<p>One…</p>'],
])('the excerpt of %j with %i characters ends after a word', async (text, length, expected) => {
  expect(await excerpt(text, length, 'HTML')).toBe(expected);
});

test.each([
  ['One.\n\n<!-- more -->\n\nTwo.', '<p>One.</p>'],
  ['One. <!--MORE--> Two.', '<p>One. </p>'],
  ['- One\n\n  <!--more-->\n- Two', '<ul>\n<li>\n<p>One</p>\n</li>\n</ul>'],
  ['`<!--more-->` Two.', '<p><code>&#x3C;!--more--></code> Two.</p>'],
  ['<!--more-->\n\nTwo.', ''],
])('the excerpt of %j is %j', async (text, expected) => {
  expect(await excerpt(text, 100, 'HTML')).toBe(expected);
});

test.each([
  ['ab cd', 5, 'ab cd'],
  ['ab cd', 4, 'ab'],
  ['ab cd', 2, 'ab'],
  ['abcdef', 3, 'abc'],
  ['🌻🌻', 3, '🌻'],
  ['🌻👨‍👩‍👧🌻', 6, '🌻'],
  ['e\u0301e\u0301', 3, 'e\u0301'],
  ['ที่นี่', 5, 'ที่'],
  ['👨‍👩‍👧', 4, ''],
  ['🇩🇪'.repeat(40), 82, '🇩🇪'.repeat(20)],
  ['ガイド'.normalize('NFD'), 4, 'ガイ'.normalize('NFD')],
  ['Vue 是一款用于构建用户界面的框架。它基于标准', 12, 'Vue 是一款用于构建'],
  ['React の世界へようこそ', 8, 'React の'],
  ['ฉันกินข้าวกับเพื่อน', 8, 'ฉันกิน'],
  ['ab cd-ef', 6, 'ab'],
])('cutText: cuts %j after %i characters to %j', (text, length, expected) => {
  expect(cutText(text, length)).toBe(expected);
});

describe('limits', () => {
  test('a text that is too long is refused', async () => {
    await expect(toHtml('a'.repeat(1024 * 1024 + 1))).rejects.toThrow(
      'Expected at most 1,048,576 characters of Markdown; received 1,048,577.',
    );
  });

  test.each([
    ['quotes', '>'.repeat(500)],
    ['elements', '<b>'.repeat(5000)],
    ['lists', '- '.repeat(300)],
  ])('nested %s are refused', async (_what, text) => {
    await expect(toHtml(`${text} a`)).rejects.toThrow(/nested/u);
  });

  test('a text that takes too long is refused, and the next one is rendered', async () => {
    const hasty = openMarkdownRenderer({ ...SETTINGS, deadlineMs: 20 });
    try {
      // Quadratic in micromark.
      const slow = '*a **a '.repeat(20_000);
      await expect(hasty.render(slow, ALWAYS)).rejects.toThrow('it takes more than 0.02 seconds');
      await expect(hasty.render(slow, ALWAYS)).rejects.toThrow('it takes more than 0.02 seconds');
    } finally {
      await hasty.close();
    }
    expect(await toHtml('*a*')).toBe('<p><em>a</em></p>');
  });

  test('an error of a thread that nobody waits for does not end the process', async () => {
    const thread = openThread('../markdown/markdown-worker');
    expect(() => thread.emit('error', new Error('out of memory'))).not.toThrow();
    await thread.terminate();
  });

  test('a renderer that is closed meanwhile renders and stores nothing', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'markdown-'));
    const closing = openMarkdownRenderer({ ...SETTINGS, directory });
    const rendered = Promise.allSettled(['one', 'two', 'three'].map((text) => closing.render(text, ALWAYS)));
    await closing.close();
    expect((await rendered).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(closing.render('four', ALWAYS)).rejects.toThrow('The site is being closed. Retry shortly.');
    rmSync(directory, { recursive: true });
  });

  test('a text that is no longer needed is not rendered', async () => {
    const stop = (): void => {
      throw new Error('over');
    };
    await expect(renderer.render('never seen before', stop)).rejects.toThrow('over');
    expect(await toHtml('never seen before')).toBe('<p>never seen before</p>');
  });
});

describe('stored renderings', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'markdown-'));
  const readStored = (): readonly string[] => {
    const database = new DatabaseSync(path.join(directory, 'markdown.db'));
    const rows = database.prepare('SELECT value FROM rendering ORDER BY number').all() as { value: string }[];
    database.close();
    return rows.map(({ value }) => value);
  };

  afterAll(() => rmSync(directory, { recursive: true }));

  test('are reused by the next renderer with the same settings', async () => {
    for (const settings of [SETTINGS, SETTINGS, { ...SETTINGS, sanitize: false }]) {
      const one = openMarkdownRenderer({ ...settings, directory });
      expect((await one.render('*a*', ALWAYS)).html).toEqual(['<p><em>a</em></p>']);
      await one.close();
    }
    expect(readStored()).toHaveLength(2);
  });

  test('are deleted beyond the limit, the oldest first', async () => {
    const small = openMarkdownRenderer({ ...SETTINGS, directory, maxSize: 2000 });
    for (let index = 0; index < 20; index += 1) await small.render(`text ${index}`, ALWAYS);
    await small.close();
    const stored = readStored();
    expect(stored.join('').length).toBeLessThanOrEqual(2000);
    expect(stored.at(-1)).toContain('text 19');
  });
});
