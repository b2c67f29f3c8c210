import { parse } from 'dotenv';

/** A file with variables, as the command line and the pages read it. */
export interface EnvFile {
  /** Pairs of variable and value, in the order of the file. If a variable occurs twice, its last value counts. */
  readonly entries: readonly (readonly [variable: string, value: string])[];
  /** The numbers of the lines that set no variable and are not comments, starting at 1. */
  readonly ignoredLines: readonly number[];
  /** The variables with a value that ends directly before a `#`, which begins a comment without quotes. */
  readonly cutVariables: readonly string[];
}

export function parseEnvFile(text: string): EnvFile {
  const values = parse(text);
  const entries = Object.entries(values);
  const long = entries.map(([, value]) => value).filter((value) => value.includes('\n'));
  const ignoredLines: number[] = [];
  const cutVariables = new Set<string>();
  for (const [line, number] of findOuterLines(text, long.join('\n'))) {
    const [entry] = Object.entries(parse(line));
    if (entry === undefined) {
      ignoredLines.push(number);
      continue;
    }
    const [variable, value] = entry;
    // The first line of a value of several lines has a different value alone.
    if (value === values[variable] && isCut(line, value)) cutVariables.add(variable);
  }
  return { entries, ignoredLines, cutVariables: [...cutVariables] };
}

/** Returns the lines without comments and those of `multiline`, the values of several lines. */
function findOuterLines(text: string, multiline: string): readonly (readonly [line: string, number: number])[] {
  const inner = new Set(multiline.split('\n').map((line) => line.trim()));
  return text.split(/\r\n?|\n/).flatMap((line, index) => {
    const content = line.trim();
    const isInner = inner.has(content) || inner.has(content.replace(/(["'`])\s*(?:#.*)?$/, ''));
    return content === '' || content.startsWith('#') || isInner ? [] : [[line, index + 1] as const];
  });
}

/** Programs such as Docker Compose and Bash read a `#` without a space before it as a part of the value. */
function isCut(line: string, value: string): boolean {
  const [, written = ''] = /[=:](.*)$/.exec(line) ?? [];
  const text = written.trimStart();
  return text.startsWith(`${value}#`) && (value !== '' || text === written);
}
