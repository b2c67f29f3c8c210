import { parse } from 'dotenv';

/** A file with variables, as the command line and the pages read it. */
export interface EnvFile {
  /** Pairs of variable and value, in the order of the file. If a variable occurs twice, its last value counts. */
  readonly entries: readonly (readonly [variable: string, value: string])[];
  /** The numbers of the lines that set no variable and are not comments, starting at 1. */
  readonly ignoredLines: readonly number[];
}

export function parseEnvFile(text: string): EnvFile {
  const entries = Object.entries(parse(text));
  const long = entries.map(([, value]) => value).filter((value) => value.includes('\n'));
  return { entries, ignoredLines: findIgnoredLines(text, long.join('\n')) };
}

/** The lines of `multiline`, which are values of several lines, belong to a variable above them. */
function findIgnoredLines(text: string, multiline: string): readonly number[] {
  const inner = new Set(multiline.split('\n').map((line) => line.trim()));
  return text.split(/\r\n?|\n/).flatMap((line, index) => {
    const content = line.trim();
    const isInner = inner.has(content) || inner.has(content.replace(/(["'`])\s*(?:#.*)?$/, ''));
    return content === '' || content.startsWith('#') || isInner || Object.keys(parse(line)).length > 0
      ? []
      : [index + 1];
  });
}
