/** Converts MDX to Markdown with HTML, as components are not run. The result has the same lines. */

/** The start of a code block, also in quotes and lists. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})/u;

const MODULE_LINE = /^(?:export|import)\s/u;

/** Elements that HTML closes itself. */
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/u;

/** A code span, a comment of limited length, or an element that only JSX closes. */
const PART = /`+[^`]*`+|\{\/\*[\s\S]{0,1000}?\*\/\}|<(?<name>[A-Za-z][\w.-]*)(?<attributes>(?:\s[^<>]*)?)\/>/gu;

/**
 * Removes the statements `import` and `export` and the comments of JSX, and closes elements such as `<Note />`, in which HTML
 * would contain the text that follows. Other expressions in braces stay part of the text.
 */
export function mdxToMarkdown(text: string): string {
  const lines = text.split('\n');
  const converted: string[] = [];
  let prose: string[] = [];
  let areBalanced = true;
  const endProse = (): void => {
    if (prose.length > 0) converted.push(prose.join('\n').replace(PART, convertPart));
    prose = [];
  };
  for (let index = 0; index < lines.length;) {
    const line = lines[index] ?? '';
    const fence = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      endProse();
      const end = findFenceEnd(lines, index + 1, fence);
      converted.push(lines.slice(index, end).join('\n'));
      index = end;
    } else if (MODULE_LINE.test(line) && (lines[index - 1] ?? '').trim() === '') {
      const balanced: number | undefined = areBalanced ? findModuleEnd(lines, index) : undefined;
      areBalanced &&= balanced !== undefined;
      const end = balanced ?? findBlank(lines, index);
      prose.push('\n'.repeat(end - index - 1));
      index = end;
    } else {
      prose.push(line);
      index += 1;
    }
  }
  endProse();
  return converted.join('\n');
}

function convertPart(part: string, name?: string, attributes = ''): string {
  if (part.startsWith('{')) return part.replaceAll(/[^\n]/gu, '');
  return name === undefined || VOID.test(name) ? part : `<${name}${attributes}></${name}>`;
}

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
