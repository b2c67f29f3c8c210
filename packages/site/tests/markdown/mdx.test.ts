import { createMarkdownLinks } from '../../src/markdown/links.js';
import { mdxToMarkdown } from '../../src/markdown/mdx.js';
import { toFileId } from '../../src/sources/file-records.js';

test.each([
  ['imports', "import A from './a'\nimport { B } from 'b'\n\nText.", '\n\n\nText.'],
  [
    'an export with blank lines',
    'One.\n\nexport const a = () => {\n\n  return ")";\n}\n\nTwo.',
    'One.\n\n\n\n\n\n\nTwo.',
  ],
  ['an export whose brackets do not match', 'export const a = (\n\nText.', '\n\nText.'],
  ['a comment of several lines', 'One {/* a\n\n<B /> */}two.', 'One \n\ntwo.'],
])('removes %s, and keeps the number of lines', (_what, text, expected) => {
  expect(mdxToMarkdown(text)).toBe(expected);
});

test.each([
  ['<Note /> a', '<Note ></Note> a'],
  ['<Since v="1.0"/> a <Ui.Card\n  b\n/> c', '<Since v="1.0"></Since> a <Ui-Card\n  b\n></Ui-Card> c'],
  ['<Card\n  a="<b>"\n  c={() => 1}\n/>', '<!----><Card a="<b>"></Card>\n\n\n'],
  ['<Card a="{b}" {...c} />', '<!----><Card a="{b}"></Card>'],
])('closes the elements of %j', (text, expected) => {
  expect(mdxToMarkdown(text)).toBe(expected);
});

test.each([
  ['A <Tag color={red} {...props}>b *c*</Tag>.', 'A <Tag>b *c*</Tag>.'],
  ['A <Tag on={() => { a({ b }) }}\n  c="{d}" /> e', 'A <Tag\n  c="{d}" ></Tag> e'],
  ['A <Ui.Tag a>b</Ui.Tag>', 'A <Ui-Tag a>b</Ui-Tag>'],
  ['A <img src="b.png" width={3} />', 'A <img src="b.png" >'],
  ['<>\n\nA <>b</>\n\n</>', '\n\nA b\n\n'],
  ['A <https://b.c/{d}> `<E f={g}>` <h@i.j>', 'A <https://b.c/{d}> `<E f={g}>` <h@i.j>'],
])('converts the tags in %j to HTML', (text, expected) => {
  expect(mdxToMarkdown(text)).toBe(expected);
});

test.each([
  ['the text of an element', '<Note>\n  One *two*.\n</Note>', '<!----><Note>\nOne *two*.\n<!----></Note>'],
  [
    'elements in elements',
    '<A>\n    <B c={{ d: 1 }}>\n        # One\n          two\n    </B>\n</A>',
    '<!----><A>\n<!----><B>\n# One\n  two\n<!----></B>\n<!----></A>',
  ],
  [
    'an element in a list',
    '1. One\n\n   <A><B>\n     two\n    three\n   </B></A>\n\n   four',
    '1. One\n\n   <!----><A><B>\n   two\n   three\n   <!----></B></A>\n\n   four',
  ],
  ['code', '<A>\n\t```js\n\ta;\n\t```\n</A>', '<!----><A>\n```js\na;\n```\n<!----></A>'],
  ['text after an end without a beginning', '</A>\n  a', '<!----></A>\n  a'],
])('separates tags from %s', (_what, text, expected) => {
  expect(mdxToMarkdown(text)).toBe(expected);
});

test.each([
  'a <br/> b <img src="c.png" />',
  'An import of goods\nimport of services too.',
  'Use `<Note />` and ``{/* a */}``.',
  '```jsx\nimport a from "a";\n\n<A />\n```',
  '- a\n\n  ~~~js\nexport const b = <B />;\n  ~~~',
  '> 1. ```js\n> <A />\n> ```\n\n{a}',
  '````md\n```\n<A />\n```\n<B />\n````',
  '```js\n<A />',
  '<p>\n  a *b*\n</p>',
  '<b>One</b> and <i>two</i>',
])('leaves %j as it is', (text) => {
  expect(mdxToMarkdown(text)).toBe(text);
});

test.each([
  ['statements without an end', 'export (\n\n'],
  ['elements without an end', '<A '],
  ['elements on lines', '<A>\n'],
  ['tags without an end', '<A b={\n'],
  ['tags with many braces', '<A b={{{'],
  ['tags on one line', '<A>'],
  ['tags in text', 'a <A b={'],
  ['tags with quotes in text', `a <A "'`],
  ['tags before text', '<A b="c>\n'],
  ['comments without an end', '{/*'],
  ['code blocks', '~~~\n'],
  ['code spans', '` '],
])('a megabyte of %s takes little time', (_what, part) => {
  const text = part.repeat(Math.floor((1024 * 1024) / part.length));
  const startedAt = performance.now();
  expect(mdxToMarkdown(text).split('\n')).toHaveLength(text.split('\n').length);
  // 0.5 s at most on two cores; quadratic code takes minutes.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});

test('links in a text may begin with an alias', async () => {
  const file = { id: 'file', absolutePath: '/site/posts/soup.md', base: 'soup.md', contentDigest: '' };
  const target = '/site/assets/a b.pdf';
  const pdf = { id: toFileId(target), absolutePath: target, base: 'a b.pdf', contentDigest: '' };
  const links = createMarkdownLinks({
    records: {
      find: (_kind, { filter }) => [file, pdf].find(({ id }) => id === (filter?.id as { eq: string } | undefined)?.eq),
    },
    targets: { linkTo: ({ base }) => `/static/${base}`, findPicture: () => Promise.resolve(undefined) },
    directory: '/site',
    aliases: [{ prefix: '@/assets', folder: '/site/assets' }],
    warn: () => undefined,
  });
  const resolve = (url: string) =>
    links.resolve([{ is: 'href', url, attributes: '' }], { text: '', fileId: 'file' }, () => undefined);
  expect(await resolve('@/assets/a%20b.pdf#2')).toBe('/static/a b.pdf#2');
  expect(await resolve('@/assets2/a%20b.pdf')).toBe('@/assets2/a%20b.pdf');
});

test.each([
  ['soup.mdx', '<!----><Note></Note>'],
  ['Soup.MDX', '<!----><Note></Note>'],
  ['soup.md', '<Note/>'],
])('the text of %s is read as its extension demands', (base, expected) => {
  const file = { id: 'file', absolutePath: `/site/${base}`, base, contentDigest: '' };
  const links = createMarkdownLinks({
    records: { find: () => file },
    targets: { linkTo: () => '', findPicture: () => Promise.resolve(undefined) },
    directory: '/site',
    warn: () => undefined,
  });
  expect(links.toMarkdown({ text: '<Note/>', fileId: 'file' })).toBe(expected);
  expect(links.toMarkdown({ text: '<Note/>', fileId: null })).toBe('<Note/>');
});
