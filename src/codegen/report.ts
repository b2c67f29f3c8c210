import path from 'node:path';
import type { Difference } from './check.js';
import type { Location, Diagnostic } from './contract-error.js';
import { findText } from './files.js';
import type { GenerateResult } from './generate.js';

/** Formats the changes of a run in one line. */
export function formatResult(outcome: GenerateResult, milliseconds: number): string {
  const { written, removed, unchanged } = outcome;
  const time = `${Math.round(milliseconds)} ms`;
  if (written.length + removed.length === 0) return `Nothing changed: ${unchanged} files, ${time}.`;
  return `Generated: ${written.length} files written, ${removed.length} removed, ${unchanged} unchanged, ${time}.`;
}

/** Formats errors as `file:line:column message`, each followed by the contract line and a caret below the position. */
export async function formatDiagnostics(root: string, diagnostics: readonly Diagnostic[]): Promise<string> {
  const shown = diagnostics.map(async (diagnostic) => {
    const { file, line, column, message } = diagnostic;
    return [`${file}:${line}:${column} ${message}`, ...(await quote(root, diagnostic))].join('\n');
  });
  return (await Promise.all(shown)).join('\n');
}

/** Returns a line of a document and a caret line below it, or nothing if the line does not exist. */
async function quote(root: string, { file, line, column }: Location): Promise<string[]> {
  const text = await findText(path.join(root, file));
  const source = text?.split(/\r?\n/u)[line - 1];
  if (source === undefined) return [];
  // Tabs are copied, so that the caret is aligned for any tab width.
  const indent = source.slice(0, column - 1).replace(/[^\t]/gu, ' ');
  return [`  ${source}`, `  ${indent}^`];
}

/** Formats the result of `--check`: each file with its first differing line and the contract line it comes from. */
export async function formatDifferences(root: string, differences: readonly Difference[]): Promise<string> {
  const shown = await Promise.all(differences.map((difference) => formatDifference(root, difference)));
  return [...shown.flat(), 'Run "npm run generate" and commit the changes.'].join('\n');
}

async function formatDifference(root: string, difference: Difference): Promise<string[]> {
  const { file, kind, line, expected, found, origin } = difference;
  if (kind === 'stale') return [`${file} is stale: no contract generates it.`];
  const head =
    kind === 'missing'
      ? [`${file} is missing.`]
      : [`${file}:${line} differs.`, `  expected  ${showLine(expected)}`, `  found     ${showLine(found)}`];
  if (origin === undefined) return head;
  return [...head, `  from ${origin.file}:${origin.line}:${origin.column}`, ...(await quote(root, origin))];
}

/** The limit of characters shown of a line, as generated bundles have very long ones. */
const MAX_SHOWN = 160;

const showLine = (line: string | undefined) => (line === undefined ? '(end of file)' : line.slice(0, MAX_SHOWN));
