import path from 'node:path';
import type { Difference } from './check.js';
import type { Location, Mistake } from './contract-error.js';
import { findText } from './files.js';
import type { Outcome } from './generate.js';

/** Says in one line what a run changed. */
export function formatOutcome(outcome: Outcome, milliseconds: number): string {
  const { written, removed, unchanged } = outcome;
  const time = `${Math.round(milliseconds)} ms`;
  if (written.length + removed.length === 0) return `Nothing changed: ${unchanged} files, ${time}.`;
  return `Generated: ${written.length} files written, ${removed.length} removed, ${unchanged} unchanged, ${time}.`;
}

/** Shows mistakes as `file:line:column message`, each with its line of the contract and a caret under the place. */
export async function formatMistakes(root: string, mistakes: readonly Mistake[]): Promise<string> {
  const shown = mistakes.map(async (mistake) => {
    const { file, line, column, message } = mistake;
    return [`${file}:${line}:${column} ${message}`, ...(await quote(root, mistake))].join('\n');
  });
  return (await Promise.all(shown)).join('\n');
}

/** Gives the line of a document and a caret line under it; nothing when the line is not there. */
async function quote(root: string, { file, line, column }: Location): Promise<string[]> {
  const text = await findText(path.join(root, file));
  const source = text?.split(/\r?\n/u)[line - 1];
  if (source === undefined) return [];
  // Tabs stay tabs, so that the caret stands under its place however wide they are.
  const indent = source.slice(0, column - 1).replace(/[^\t]/gu, ' ');
  return [`  ${source}`, `  ${indent}^`];
}

/** Shows what `--check` found: each file, its first differing line and the contract line behind it. */
export async function formatDifferences(root: string, differences: readonly Difference[]): Promise<string> {
  const shown = await Promise.all(differences.map((difference) => formatDifference(root, difference)));
  return [...shown.flat(), 'Run "npm run generate" and commit what it writes.'].join('\n');
}

async function formatDifference(root: string, difference: Difference): Promise<string[]> {
  const { file, kind, line, expected, found, origin } = difference;
  if (kind === 'stale') return [`${file} is stale: no contract makes it.`];
  const head =
    kind === 'missing'
      ? [`${file} is missing.`]
      : [`${file}:${line} differs.`, `  expected  ${showLine(expected)}`, `  found     ${showLine(found)}`];
  if (origin === undefined) return head;
  return [...head, `  from ${origin.file}:${origin.line}:${origin.column}`, ...(await quote(root, origin))];
}

/** Bounds what one line of a generated bundle takes on a terminal. */
const MAX_SHOWN = 160;

const showLine = (line: string | undefined) => (line === undefined ? '(end of file)' : line.slice(0, MAX_SHOWN));
