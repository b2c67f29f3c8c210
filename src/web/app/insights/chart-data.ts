import { type Board, FORGE_NAMES, formatRepository, type Issue, type PullRequest } from '../board/data/rows.js';
import { serverNow } from '../ui/times.js';

/** A stacked bar of a chart. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly number[];
  /** A remark in words, so that colour is not the only sign of a problem. */
  readonly note?: string;
}

/** The maximum number of bars in a chart; its table lists all of them. */
export const MAX_BARS = 10;

const CI = ['success', 'pending', 'failure', 'none'] as const;

/**
 * Counts the pull requests of each repository by CI status, largest first; the parts have the order of {@link
 * CI_PARTS}.
 */
export function groupCiByRepository(rows: readonly PullRequest[]): readonly Bar[] {
  const bars = new Map<string, number[]>();
  for (const row of rows) {
    const parts = bars.get(formatRepository(row)) ?? CI.map(() => 0);
    const at = CI.indexOf(row.ci);
    parts[at] = (parts[at] ?? 0) + 1;
    bars.set(formatRepository(row), parts);
  }
  return largestFirst(bars).map((bar) => {
    const failing = bar.parts[CI.indexOf('failure')] ?? 0;
    return failing === 0 ? bar : { ...bar, note: `${failing} failing` };
  });
}

export function groupIssuesByRepository(issues: readonly Issue[]): readonly Bar[] {
  const bars = new Map<string, number[]>();
  for (const issue of issues) bars.set(formatRepository(issue), [(bars.get(formatRepository(issue))?.[0] ?? 0) + 1]);
  return largestFirst(bars);
}

const largestFirst = (bars: ReadonlyMap<string, number[]>): readonly Bar[] =>
  [...bars].map(([label, parts]) => ({ label, parts })).sort((a, b) => sumParts(b) - sumParts(a));

/** Returns whether the charts count an issue: they exclude the dashboards of bots. */
export const isOrdinary = ({ housekeeping }: Issue): boolean => !housekeeping;

/** Returns the name of the part of {@link groupCiByRepository} to which a pull request belongs. */
export const findCiPart = ({ ci }: PullRequest): string => CI_PARTS[CI.indexOf(ci)] ?? CI_PARTS[3];

export const CI_PARTS = ['Passing', 'Running', 'Failing', 'None or unknown'] as const;

const AGES = [
  ['under a day', 1],
  ['1 to 3 days', 3],
  ['3 to 7 days', 7],
  ['7 to 30 days', 30],
  ['over 30 days', Infinity],
] as const;

/** Returns the label of the age group of an open item. */
export function findAgeGroup({ createdAt }: { readonly createdAt: string }, now = serverNow()): string {
  const days = (now - Date.parse(createdAt)) / 86_400_000;
  return AGES.find(([, until]) => days < until)?.[0] ?? '';
}

/** Counts open items by the time since their creation. */
export function groupByAge(items: readonly { readonly createdAt: string }[], now = serverNow()): readonly Bar[] {
  const groups = items.map((item) => findAgeGroup(item, now));
  return AGES.map(([label]) => ({ label, parts: [groups.filter((group) => group === label).length] }));
}

type RateLimit = NonNullable<Board['forges'][number]['rateLimitREST']>;

export interface ApiQuota extends RateLimit {
  readonly name: string;
}

/** The consequence of each severity. */
export const SEVERITY_NAMES: Readonly<Record<RateLimit['severity'], string>> = {
  ok: 'Plenty left',
  warning: 'Running low',
  low: 'Almost used up: refreshes are paused',
  exceeded: 'Used up: no requests until the reset',
};

/** Returns the API quotas of all forges of a board. */
export function listApiQuotas({ forges }: Board): readonly ApiQuota[] {
  return forges.flatMap(({ forge, rateLimitGraphQL, rateLimitREST }) => [
    ...(rateLimitGraphQL ? [{ name: `${FORGE_NAMES[forge]} GraphQL`, ...rateLimitGraphQL }] : []),
    ...(rateLimitREST ? [{ name: `${FORGE_NAMES[forge]} REST`, ...rateLimitREST }] : []),
  ]);
}

export const sumParts = ({ parts }: Bar): number => parts.reduce((sum, part) => sum + part, 0);
