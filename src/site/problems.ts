import path from 'node:path';

import { isAtOrBelow } from './sources/listing.js';
import type { SiteSource } from './sources/site-source.js';
import type { EntryProblem } from './sources/unreadable.js';
import type { WalkStart } from './sources/walk.js';

/** An entry of the site that is skipped, or a part of a file that does not fit. */
export interface SiteProblem {
  /** From the site's folder; in a source outside of it, the source's name, a colon and the path below the source. */
  readonly path: string;
  /** From 1, in a file with records. */
  readonly line?: number;
  /** One sentence without the path. */
  readonly reason: string;
}

/** The current problems of a site: the first {@link MAX_REPORTED} and the number of all. */
export interface ProblemReport {
  readonly entries: readonly SiteProblem[];
  readonly count: number;
}

/** Few enough for a person to read; `count` covers all. */
const MAX_REPORTED = 100;

/** Limits a list of problems to {@link MAX_REPORTED}. */
export function toReport(problems: readonly SiteProblem[]): ProblemReport {
  return { entries: problems.slice(0, MAX_REPORTED), count: problems.length };
}

/** Formats a problem as a line: `posts/a.md:3: Post.title: expected text.` */
export function formatProblem({ path: shown, line, reason }: SiteProblem): string {
  return line === undefined ? `${shown} ${reason}` : `${shown}:${line}: ${reason}`;
}

/** A path below a source as {@link SiteProblem} shows it, with control characters escaped. */
export function showPath({ name, directory, workingDirectory }: SiteSource, below: string): string {
  const absolute = path.posix.join(directory, below);
  const relative = path.relative(workingDirectory, absolute);
  const shown = /^\.\.(\/|$)/.test(relative) ? `${name}:${below}` : relative || '.';
  return shown.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

/** The skipped entries of all sources, as of the last time that each was looked at. */
export class EntryProblems {
  readonly #bySource = new Map<SiteSource, Map<string, EntryProblem>>();

  /**
   * Replaces the problems of a source, or those at and below where it was looked at.
   *
   * @returns the problems that were not known before.
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
  return { path: showPath(source, below), reason: `${reason}.` };
}

/** A name that can't be decoded is looked at when its folder is listed; other entries also on their own. */
function coveredBy(starts: readonly WalkStart[] | undefined): (problem: EntryProblem) => boolean {
  if (starts === undefined) return () => true;
  const deep = new Set(starts.filter((start) => start.deep).map((start) => start.path));
  const single = new Set(starts.map((start) => start.path));
  return ({ path: below, isName }) => isAtOrBelow(below, deep) || (!isName && single.has(below));
}
