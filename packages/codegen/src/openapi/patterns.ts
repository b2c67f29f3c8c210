/** Regular expressions of contracts, as JavaScript compiles them in Unicode mode. */

/** The parts of a regular expression that Unicode mode may forbid, and those that look like them. */
const PATTERN_PART = /\\[\s\S]|\{\d+(?:,\d*)?\}|\[\^?(?:\\[\s\S]|[^\\\]])*\]?|[{}\]]/g;

/**
 * Returns a pattern without Unicode mode as an equal one with it (ECMA-262, B.1.2): without needless escapes, and with
 * those of literal braces, brackets and hyphens. Returns `undefined` for one that has it already, or can't have it.
 */
export function toUnicodePattern(pattern: string): string | undefined {
  if (compiles(pattern, 'u') || !compiles(pattern, '')) return undefined;
  const written = pattern.replace(PATTERN_PART, (part) => {
    if (part.startsWith('\\')) return withoutNeedlessEscape(part, /[\dA-Za-z^$\\.*+?()[\]{}|/]/);
    if (part.startsWith('[')) return toUnicodeClass(part);
    return part.length === 1 ? `\\${part}` : part;
  });
  return compiles(written, 'u') ? written : undefined;
}

const withoutNeedlessEscape = (escape: string, needed: RegExp): string =>
  escape.length === 1 || needed.test(escape.charAt(1)) ? escape : escape.charAt(1);

const SET = /^\\[dDsSwW]$/;

/** Without Unicode mode, a hyphen beside a set such as `\w` is a character of its own. */
function toUnicodeClass(text: string): string {
  const atoms = text.match(/\\?[\s\S]/g) ?? [];
  const isSet = (index: number): boolean => SET.test(atoms[index] ?? '');
  return atoms
    .map((atom, index) => {
      if (atom === '-' && (isSet(index - 1) || isSet(index + 1))) return '\\-';
      return withoutNeedlessEscape(atom, /[\dA-Za-z^$\\.*+?()[\]{}|/-]/);
    })
    .join('');
}

function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Returns whether validators can compile a pattern: in Unicode mode, which rejects needless escapes. */
export const isUnicodePattern = (pattern: string): boolean => compiles(pattern, 'u');

/** The starts and ends of a text in Java, Python and Ruby. */
const FOREIGN_PARTS: Readonly<Record<string, string>> = { '\\A': '^', '\\z': '$', '\\Z': '$' };

/**
 * Returns a pattern of Java, Python or Ruby as one of JavaScript that matches the same texts: without inline flags at its
 * start. Returns `undefined` for one that JavaScript compiles, or that has no such equivalent.
 */
export function translatePattern(pattern: string): string | undefined {
  if (compiles(pattern, 'u')) return undefined;
  const [start = '', flags = ''] = /^\^?\(\?([is]+)\)/.exec(pattern) ?? [];
  const body = (start.startsWith('^') ? '^' : '') + pattern.slice(start.length);
  const parts = body.match(PATTERN_TOKEN) ?? [];
  const inJavaScript = parts.map((part) => FOREIGN_PARTS[part] ?? part.replace(/^\(\?P</, '(?<'));
  const spanning = flags.includes('s') ? inJavaScript.map((part) => (part === '.' ? '[^]' : part)) : inJavaScript;
  const folded = flags.includes('i') ? spanning.map(foldCase) : spanning;
  const translated = folded.includes(undefined) ? '' : folded.join('');
  if (translated === '' || translated === pattern) return undefined;
  return compiles(translated, 'u') ? translated : toUnicodePattern(translated);
}

/** Escapes, the starts of groups, numbers of repetitions, classes, and single characters. */
const PATTERN_TOKEN =
  /\\(?:(?:p|P|k|u|x)(?:\{[^}]*\}|<[^>]*>)|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[^])|\(\?(?:P?<[^=!][^>]*>|<?[=!:])|\{\d+(?:,\d*)?\}|\[\^?(?:\\[^]|[^\\\]])*\]|[^]/gu;

/** Returns a part of a pattern that matches letters of both cases; `undefined` if that cannot be written. */
function foldCase(part: string): string | undefined {
  if (part.startsWith('[') && part.length > 1) return foldClass(part);
  if (/^\\(?:p|P|u|x)./u.test(part)) return undefined;
  const other = swapCase(part);
  return part.length > 1 || other === part ? part : `[${part}${other}]`;
}

/** Adds the other case of the letters and ranges of letters in a class. */
function foldClass(text: string): string | undefined {
  const atoms = text.slice(1, -1).match(/\\[^]|[^]/gu) ?? [];
  const added: string[] = [];
  for (let index = 0; index < atoms.length; index += 1) {
    const [from = '', hyphen, to] = atoms.slice(index, index + 3);
    if (hyphen !== '-' || to === undefined) {
      if (/^\\(?:p|P|u|x|c)/u.test(from)) return undefined;
      if (from.length === 1 && swapCase(from) !== from) added.push(swapCase(from));
      continue;
    }
    index += 2;
    const isLetters = /^(?:[a-z]-[a-z]|[A-Z]-[A-Z])$/.test(`${from}-${to}`);
    if (isLetters) added.push(`${swapCase(from)}-${swapCase(to)}`);
    else if (!/^(?:\d-\d|A-z)$/.test(`${from}-${to}`)) return undefined;
  }
  // A hyphen at the end stands for itself, and must stay there.
  const [inner, end] = atoms.at(-1) === '-' ? [text.slice(0, -2), '-]'] : [text.slice(0, -1), ']'];
  return inner + added.join('') + end;
}

function swapCase(letter: string): string {
  const swapped = letter.toLowerCase() === letter ? letter.toUpperCase() : letter.toLowerCase();
  return swapped.length === letter.length && swapped !== letter ? swapped : letter;
}
