/** Converts MDX to Markdown with HTML, as components are not run. The result has the same lines. */

/** The start of a code block, also in quotes and lists. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})/u;

const MODULE_LINE = /^(?:export|import)\s/u;

/** Elements that HTML closes itself. */
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/u;

/** A code span, a comment of limited length, the tag of a fragment, or a tag. */
const PART =
  /`+[^`]*`+|\{\/\*[\s\S]{0,1000}?\*\/\}|<\/?>|<(?<close>\/?)(?<name>[A-Za-z][\w.-]*)(?=[\s/>])(?<attributes>(?:"[^"]*"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[^<>{}"'])*?)(?<end>\/?)>/gu;

/** The name and the attributes of a tag of JSX. An attribute may contain an expression with two levels of braces inside. */
const TAG =
  /\s*<(?<close>\/?)(?<name>[A-Za-z][\w.-]*)(?<attributes>(?:"[^"]*"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[^<>{}"'])*?)(?<end>\/?)>/uy;

/** Text in quotes, or an expression with the name of its attribute. */
const EXPRESSION = /"[^"]*"|'[^']*'|(?:\s(?:[\w:.-]+=)?)?\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/gu;

/** Elements whose contents are text in HTML, or become paragraphs that they can't contain. */
const RAW = /^(?:p|pre|script|style|textarea)$/u;

const MAX_TAG_LINES = 20;
const MAX_TAG_LENGTH = 4000;
const MAX_ELEMENTS = 100;

/** Ends a block of HTML on the line on which it begins, so that the text below is Markdown. */
export const BLOCK_END = '<!---->';

/** An element around the current line, with the indentation of its tag and of its contents. */
interface OpenElement {
  readonly name: string;
  readonly tag: number;
  readonly contents: number;
}

/**
 * Removes the statements `import` and `export`, and the comments, fragments and expressions in tags of JSX, and closes elements
 * such as `<Note />`, in which HTML would contain the text that follows. Other expressions in braces stay part of the text.
 * Tags on lines of their own begin with {@link BLOCK_END}, and the contents of elements lose their indentation, as MDX has no
 * indented code.
 */
export function mdxToMarkdown(text: string): string {
  const lines = text.split('\n');
  const converted: string[] = [];
  let elements: readonly OpenElement[] = [];
  let prose: string[] = [];
  let areBalanced = true;
  const endProse = (): void => {
    if (prose.length > 0) converted.push(prose.join('\n').replace(PART, convertPart));
    prose = [];
  };
  for (let index = 0; index < lines.length;) {
    const line = lines[index] ?? '';
    const fence = FENCE.exec(line)?.[1];
    const tags = fence === undefined ? readTags(lines, index) : undefined;
    if (fence !== undefined) {
      endProse();
      const end = findFenceEnd(lines, index + 1, fence);
      for (const code of lines.slice(index, end)) converted.push(outdent(code, elements));
      index = end;
    } else if (tags !== undefined) {
      elements = closeElements(elements, tags.items);
      const tag = outdent(line, elements);
      const ownIndent = tag.slice(0, indentOf(tag));
      prose.push(`${ownIndent}${BLOCK_END}${tags.items.map(printTag).join('')}${'\n'.repeat(tags.end - index - 1)}`);
      elements = openElements(elements, tags.items, { tag: indentOf(line), contents: findIndent(lines, tags.end) });
      index = tags.end;
    } else if (MODULE_LINE.test(line) && (lines[index - 1] ?? '').trim() === '') {
      const balanced: number | undefined = areBalanced ? findModuleEnd(lines, index) : undefined;
      areBalanced &&= balanced !== undefined;
      const end = balanced ?? findBlank(lines, index);
      prose.push('\n'.repeat(end - index - 1));
      index = end;
    } else {
      prose.push(outdent(line, elements));
      index += 1;
    }
  }
  endProse();
  return converted.join('\n');
}

interface JsxTag {
  readonly name: string;
  readonly attributes: string;
  readonly is: 'close' | 'element' | 'open';
}

/** Reads lines that consist of tags only, of which the last ones may be the attributes of a tag. */
function readTags(
  lines: readonly string[],
  start: number,
): { readonly items: readonly JsxTag[]; readonly end: number } | undefined {
  let text = '';
  for (let index = start; index < Math.min(lines.length, start + MAX_TAG_LINES); index += 1) {
    const line = (lines[index] ?? '').trim();
    if ((index === start && !/^<[/A-Za-z]/u.test(line)) || text.length + line.length > MAX_TAG_LENGTH) return undefined;
    text += index === start ? line : ` ${line}`;
    const items = line.endsWith('>') ? parseTags(text) : undefined;
    if (items !== undefined) return { items, end: index + 1 };
  }
  return undefined;
}

function parseTags(text: string): readonly JsxTag[] | undefined {
  const items: JsxTag[] = [];
  TAG.lastIndex = 0;
  for (let at = 0; at < text.length; at = TAG.lastIndex) {
    const { close, name = '', attributes = '', end } = TAG.exec(text)?.groups ?? {};
    if (name === '' || RAW.test(name)) return undefined;
    const isElement = end !== '' || VOID.test(name);
    items.push({
      name,
      attributes: withoutExpressions(attributes).trimEnd(),
      is: close ? 'close' : isElement ? 'element' : 'open',
    });
  }
  return items;
}

function printTag({ name, attributes, is }: JsxTag): string {
  if (is === 'close') return `</${name}>`;
  return `<${name}${attributes}>${is === 'open' || VOID.test(name) ? '' : `</${name}>`}`;
}

/** Removes the elements that the first tags of a line close. */
function closeElements(elements: readonly OpenElement[], tags: readonly JsxTag[]): readonly OpenElement[] {
  let open = elements;
  for (const { name, is } of tags) {
    if (is !== 'close') break;
    const own = open.map((element) => element.name).lastIndexOf(name);
    if (own >= 0) open = open.slice(0, own);
  }
  return open;
}

/** Adds the elements that the tags of a line leave open. */
function openElements(
  elements: readonly OpenElement[],
  tags: readonly JsxTag[],
  indents: Omit<OpenElement, 'name'>,
): readonly OpenElement[] {
  const open: string[] = [];
  for (const { name, is } of tags) {
    if (is === 'open') open.push(name);
    else if (is === 'close') open.splice(Math.max(open.lastIndexOf(name), 0));
  }
  // Only one of the elements on a line moves the contents.
  const added = open.map((name, index) => ({ ...indents, name, ...(index > 0 && { tag: indents.contents }) }));
  return [...elements, ...added].slice(0, MAX_ELEMENTS);
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

const findIndent = (lines: readonly string[], start: number): number =>
  indentOf(lines.slice(start, start + MAX_TAG_LINES).find((line) => line.trim() !== '') ?? '');

/** Moves a line to the left by as much as the contents of the elements around it are indented beyond their tags. */
function outdent(line: string, elements: readonly OpenElement[]): string {
  const indent = indentOf(line);
  if (indent === 0 || elements.length === 0) return line;
  const kept = elements.reduceRight((left, { tag, contents }) => {
    if (contents <= tag) return left;
    return left >= contents ? left - (contents - tag) : Math.min(left, tag);
  }, indent);
  return line.slice(indent - kept);
}

/** Removes comments, fragments and the expressions in tags. Names of elements have no dots in Markdown. */
function convertPart(part: string, close = '', name?: string, attributes = '', end = ''): string {
  if (part.startsWith('`')) return part;
  if (name === undefined) return keepLines(part);
  const own = withoutExpressions(attributes);
  const element = name.replaceAll('.', '-');
  if (end !== '' && !VOID.test(name)) return `<${element}${own}></${element}>`;
  return own === attributes && element === name ? part : `<${close}${element}${own}>`;
}

const withoutExpressions = (attributes: string): string =>
  attributes.replaceAll(EXPRESSION, (found) => (/^["']/u.test(found) ? found : keepLines(found)));

const keepLines = (text: string): string => text.replaceAll(/[^\n]/gu, '');

/** Returns the line after a code block. */
function findFenceEnd(lines: readonly string[], start: number, fence: string): number {
  for (let index = start; index < lines.length; index += 1) {
    const closing = (lines[index] ?? '').replace(/^[\s>]+/u, '').trimEnd();
    if (closing.startsWith(fence) && closing === fence.charAt(0).repeat(closing.length)) return index + 1;
  }
  return lines.length;
}

const STRING = /(["'`])(?:\\.|(?!\1).)*\1/gu;

/** Returns the first blank line after statements that is outside their brackets, if these are balanced. */
function findModuleEnd(lines: readonly string[], start: number): number | undefined {
  let depth = 0;
  for (let index = start; index <= lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (depth <= 0 && line.trim() === '') return index;
    for (const [bracket] of line.replaceAll(STRING, '').matchAll(/[()[\]{}]/gu))
      depth += '([{'.includes(bracket) ? 1 : -1;
  }
  return undefined;
}

function findBlank(lines: readonly string[], start: number): number {
  let index = start;
  while (index < lines.length && lines[index]?.trim() !== '') index += 1;
  return index;
}
