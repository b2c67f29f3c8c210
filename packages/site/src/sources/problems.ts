import path from 'node:path';
import type { EntryProblem } from './entries.js';
import type { SiteSource } from './site-sources.js';
import type { WalkStart } from './walk.js';

/** An entry of the site that is skipped, or an invalid part of a file. */
export interface SiteProblem {
  /** The path from the site's folder; for a source outside it, the source's name, a colon and the path below it. */
  readonly path: string;
  /** The line in a file with records, counted from 1. */
  readonly line?: number;
  /** One sentence without the path. */
  readonly reason: string;
}

/** The current problems of a site: the first {@link MAX_REPORTED} and the total number. */
export interface ProblemReport {
  readonly entries: readonly SiteProblem[];
  readonly count: number;
}

/** Few enough to read; `count` includes all. */
const MAX_REPORTED = 100;

/** Limits a list of problems to {@link MAX_REPORTED}. */
export function toProblemReport(problems: readonly SiteProblem[]): ProblemReport {
  return { entries: problems.slice(0, MAX_REPORTED), count: problems.length };
}

/** Formats a problem as a line: `posts/a.md:3: Post.title: expected text.` */
export function formatProblem({ path: shown, line, reason }: SiteProblem): string {
  return line === undefined ? `${shown} ${reason}` : `${shown}:${line}: ${reason}`;
}

/** Formats a path below a source for {@link SiteProblem}, with control characters escaped. */
export function formatSourcePath(
  { name, directory, workingDirectory }: Pick<SiteSource, 'directory' | 'name' | 'workingDirectory'>,
  below: string,
): string {
  const absolute = path.posix.join(directory, below);
  const relative = path.relative(workingDirectory, absolute);
  const shown = /^\.\.(\/|$)/.test(relative) ? `${name}:${below}` : relative || '.';
  return escapeControls(shown);
}

/** Escapes control characters, which could move the cursor or recolour the terminal, and those that change the direction of text. */
export const escapeControls = (text: string): string => text.replace(/\p{Cc}|\p{Bidi_Control}/gu, toEscape);

/** JSON allows some of them as they are. */
function toEscape(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
}

/** The skipped entries of all sources, as of the last time that each was examined. */
export class EntryProblems {
  readonly #bySource = new Map<SiteSource, Map<string, EntryProblem>>();

  /**
   * Replaces the problems of a source, or only those at and below `starts`.
   *
   * @returns the new problems.
   */
  replace(source: SiteSource, found: readonly EntryProblem[], starts?: readonly WalkStart[]): SiteProblem[] {
    const before = this.#bySource.get(source) ?? new Map<string, EntryProblem>();
    const isCovered = coveredBy(starts);
    const kept = [...before].filter(([, problem]) => !isCovered(problem));
    const now = new Map([...kept, ...found.map((problem) => [problem.path, problem] as const)]);
    this.#bySource.set(source, now);
    const fresh = [...now.values()].filter(({ path: below, reason }) => before.get(below)?.reason !== reason);
    return fresh.map((problem) => toSiteProblem(source, problem));
  }

  of(source: SiteSource): readonly EntryProblem[] {
    return [...(this.#bySource.get(source)?.values() ?? [])];
  }

  list(): SiteProblem[] {
    return [...this.#bySource].flatMap(([source, problems]) =>
      [...problems.values()].map((problem) => toSiteProblem(source, problem)),
    );
  }
}

function toSiteProblem(source: SiteSource, { path: below, reason }: EntryProblem): SiteProblem {
  return { path: formatSourcePath(source, below), reason: `${reason}.` };
}

/** Names that can't be decoded are examined only when their folder is listed; other entries also individually. */
function coveredBy(starts: readonly WalkStart[] | undefined): (problem: EntryProblem) => boolean {
  if (starts === undefined) return () => true;
  const deep = new Set(starts.filter((start) => start.deep).map((start) => start.path));
  const single = new Set(starts.map((start) => start.path));
  return ({ path: below, isName }) => isAtOrBelow(below, deep) || (!isName && single.has(below));
}

/** Whether a path is one of `paths` or below one of them. */
export function isAtOrBelow(path: string, paths: ReadonlySet<string>): boolean {
  if (paths.has('') || paths.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}
