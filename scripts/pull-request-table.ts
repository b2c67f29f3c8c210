import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';
import type { components } from '../src/generated/dashboard/client.js';

export type PullRequest = components['schemas']['PullRequest'];

export interface TableStyle {
  /** Columns of the terminal; `undefined` for no limit. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
}

/** The highest width of repository names; longer ones are truncated. */
const MAX_REPOSITORY_SHARE = 0.4;

/** The lowest width of titles, so that a narrow terminal shows at least a word. */
const MIN_TITLE_WIDTH = 12;

/** Two spaces between columns. */
const GAP = 2;

const COLOURS = { success: 'green', failure: 'red', pending: 'yellow', none: 'gray' } as const;

/** Formats repository, number, title and CI of each pull request, with titles truncated to the width. */
export function formatTable(pullRequests: readonly PullRequest[], { width, hasColours }: TableStyle): string {
  const rows = pullRequests.map(({ repo, number, title, ci }) => [toPlain(repo), `#${number}`, toPlain(title), ci]);
  const heads = ['Repository', 'Number', 'Title', 'CI'];
  const columns = [0, 1, 3].map((column) => Math.max(...[heads, ...rows].map((row) => row[column]?.length ?? 0)) + GAP);
  const [repository = 0, number = 0, ci = 0] = columns;
  const repositoryWidth = Math.min(repository, Math.floor((width ?? Infinity) * MAX_REPOSITORY_SHARE));
  const titleWidth = width && Math.max(MIN_TITLE_WIDTH, width - repositoryWidth - number - ci);
  const table = new Table({
    head: heads,
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    colWidths: [repositoryWidth, number, titleWidth ?? null, null],
    colAligns: ['left', 'right', 'left', 'left'],
  });
  const paint = (text: string) =>
    hasColours && isCi(text) ? styleText(COLOURS[text], text, { validateStream: false }) : text;
  table.push(...rows.map((row) => row.map((cell, column) => (column === 3 ? paint(cell) : cell))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const isCi = (text: string): text is PullRequest['ci'] => Object.hasOwn(COLOURS, text);

/** Characters that move the cursor, break the line or change the text direction, with the spaces around them. */
const CONTROLS = /[\s\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Formats untrusted text as one line without terminal control characters. */
export function toPlain(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROLS, ' ').trim();
}

const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid', 'middle']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`, `left-mid`, `mid-mid`, `right-mid`])
    .map((name) => [name, '']),
);
