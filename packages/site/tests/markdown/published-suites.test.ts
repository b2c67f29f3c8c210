import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';
import { createMarkdownLinks } from '../../src/markdown/links.js';
import { type MarkdownRenderer, openMarkdownRenderer } from '../../src/markdown/markdown-renderer.js';

interface Example {
  readonly example: number;
  readonly markdown: string;
  readonly html: string;
}

/** The package has no types. */
const { tests: commonMark } = createRequire(import.meta.url)('commonmark-spec') as {
  readonly tests: readonly (Omit<Example, 'example'> & { readonly number: number })[];
};

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.DocumentFragment;

let verbatim: MarkdownRenderer;
let sanitizing: MarkdownRenderer;

beforeAll(() => {
  verbatim = openMarkdownRenderer({ sanitize: false, highlight: false, directory: undefined });
  sanitizing = openMarkdownRenderer({ sanitize: true, highlight: true, directory: undefined });
});

afterAll(async () => {
  await verbatim.close();
  await sanitizing.close();
});

/** Links of texts without a file stay as they are. */
const links = createMarkdownLinks({
  records: { find: () => undefined },
  targets: { linkTo: () => '', findPicture: async () => undefined },
  directory: '/',
  warn: () => undefined,
});

const ALWAYS = (): void => undefined;

async function toHtml(text: string, renderer: MarkdownRenderer): Promise<string> {
  const { html } = await renderer.render(text, ALWAYS);
  return links.resolve(html, { text, fileId: null }, ALWAYS);
}

function visit(node: Node, use: (node: Node) => void): void {
  use(node);
  if ('childNodes' in node) for (const child of node.childNodes) visit(child, use);
}

/**
 * Compares HTML as the tree that a browser builds, as the test program of CommonMark does. The ids of headings and the
 * classes of task lists, which the specifications do not mention, are left out.
 */
function normalize(html: string): string {
  const tree = parseFragment(html.replace(/>\s+$/u, '>'));
  visit(tree, (node) => {
    if (!('attrs' in node)) return;
    const isHeading = /^h[1-6]$/u.test(node.tagName);
    node.attrs = node.attrs
      .filter(({ name, value }) => !(isHeading && name === 'id') && !/^(?:contains-)?task-list/u.test(value))
      .map(({ name, value }) => ({ name, value: name === 'class' ? value.replaceAll(/\s+/gu, ' ') : value }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  });
  return serialize(tree)
    .replaceAll(/>\s+</gu, '><')
    .replaceAll(/\s*\n\s*(?=<\/?(?:blockquote|div|hr|li|ol|p|pre|table|td|tr|ul)\b)/gu, '')
    .trim();
}

async function listFailures(examples: readonly Example[]): Promise<readonly number[]> {
  const failures: number[] = [];
  for (const { example, markdown, html } of examples) {
    if (normalize(await toHtml(markdown, verbatim)) !== normalize(html)) failures.push(example);
  }
  return failures;
}

/** The differences of CommonMark, with their reasons. */
const COMMONMARK_DIFFERENCES: Readonly<Record<number, string>> = {
  171: 'The HTML is parsed, which removes the first line end of a textarea.',
  602: 'GFM links the address.',
  606: 'GFM links the address.',
  608: 'GFM links the address.',
  611: 'GFM links the address.',
  612: 'GFM links the address.',
};

/** The differences of GFM, whose examples without an extension are those of CommonMark 0.29. */
const GFM_DIFFERENCES: Readonly<Record<number, string>> = {
  610: 'The extension for addresses, which this example does not have, links the address.',
  614: 'The extension for addresses links the address.',
  616: 'The extension for addresses links the address.',
  619: 'The extension for addresses links the address.',
  620: 'The extension for addresses links the address.',
  628: 'Addresses of FTP are not linked; GitHub does not link them either.',
  645: 'Since CommonMark 0.31, this is a comment.',
  646: 'Since CommonMark 0.31, these are comments.',
  653: 'The sanitiser removes the elements that GFM shows as text.',
};

test('the examples of CommonMark 0.31.2 are rendered as specified', async () => {
  const withTabs = (text: string): string => text.replaceAll('→', '\t');
  const examples = commonMark.map(({ number, markdown, html }) => ({
    example: number,
    markdown: withTabs(markdown),
    html: withTabs(html),
  }));
  expect(examples).toHaveLength(652);
  expect(await listFailures(examples)).toEqual(Object.keys(COMMONMARK_DIFFERENCES).map(Number));
});

test('the examples of GitHub Flavored Markdown 0.29 are rendered as specified', async () => {
  const examples = readPublished('gfm') as readonly Example[];
  expect(examples).toHaveLength(673);
  expect(await listFailures(examples)).toEqual(Object.keys(GFM_DIFFERENCES).map(Number));
});

/** The elements that HTML of others may have. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['#document-fragment', '#text', 'a', 'b', 'blockquote', 'br', 'code', 'dd', 'del', 'details', 'div', 'dl', 'dt'],
  ...['em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'img', 'input', 'ins', 'kbd', 'li', 'ol', 'p', 'picture'],
  ...['pre', 'q', 'rp', 'rt', 'ruby', 's', 'samp', 'section', 'source', 'span', 'strike', 'strong', 'sub', 'summary'],
  ...['sup', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'tt', 'ul', 'var'],
]);

const URLS: ReadonlySet<string> = new Set([
  'action',
  'background',
  'cite',
  'data',
  'href',
  'longdesc',
  'poster',
  'src',
]);

/** Lists the elements and attributes that could run a script, load a style or submit a form. */
function listDangers(html: string): string[] {
  const dangers: string[] = [];
  visit(parseFragment(html), (node) => {
    if (!HARMLESS.has(node.nodeName)) dangers.push(node.nodeName);
    if (!('attrs' in node)) return;
    for (const { name, value } of node.attrs) {
      if (/^(?:on|style$|srcdoc$|form|xlink|xmlns|dynsrc$|lowsrc$|is$|http-equiv$)/u.test(name)) dangers.push(name);
      // Browsers ignore control characters and white space in a URL.
      const scheme = /^([^/?#]*?):/u.exec(value.replaceAll(/[\p{C}\p{Z}\s]+/gu, ''))?.[1]?.toLowerCase();
      const isAllowed = scheme === undefined || /^(?:https?|ircs?|mailto|xmpp)$/u.test(scheme);
      if (URLS.has(name) && !isAllowed) dangers.push(`${name}=${value}`);
      if (/^(?:id|name)$/u.test(name) && !/^(?:user-content-|h[1-6])/u.test(value) && !/^h[1-6]$/u.test(node.tagName))
        dangers.push(`${name}=${value}`);
    }
  });
  return dangers;
}

describe.each([
  ['h5sc', 149],
  ['dompurify', 223],
])('the published vectors of %s', (name, count) => {
  test('are harmless after sanitising, alone and inside of a paragraph, a list and a link', async () => {
    const vectors = readPublished(name) as readonly string[];
    expect(vectors).toHaveLength(count);
    const found = new Map<string, readonly string[]>();
    for (const vector of vectors) {
      for (const text of [
        vector,
        `Text ${vector} text`,
        `- ${vector}`,
        `[${vector}](${vector})`,
        `![${vector}](${vector})`,
      ]) {
        const dangers = listDangers(await toHtml(text, sanitizing));
        if (dangers.length > 0) found.set(text, dangers);
      }
    }
    expect([...found]).toEqual([]);
  });

  test('are found harmful without sanitising', async () => {
    const dangers: boolean[] = [];
    for (const vector of readPublished(name) as readonly string[])
      dangers.push(listDangers(await toHtml(vector, verbatim)).length > 0);
    expect(dangers.filter(Boolean).length).toBeGreaterThan(count / 2);
  });
});

function readPublished(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./published/${name}.json`, import.meta.url), 'utf8'));
}
