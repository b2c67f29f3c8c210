import { FORGE_NAMES, repoName } from '../board/rows.js';
import type { Board, Issue, PullRequest } from '../board/rows.js';

/** A bar of a chart: what it is of, and the parts that it is made of. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly number[];
  /** What is to be seen at once, in words, as colours alone tell it to some. */
  readonly note?: string;
}

/** More bars than are taken in at a glance; the table has them all. */
export const MOST_BARS = 10;

const CI = ['success', 'pending', 'failure', 'none'] as const;

/** Pull requests of each repository by what their checks say, the fullest first; the parts are in the order of `CI_PARTS`. */
export function ciByRepository(rows: readonly PullRequest[]): readonly Bar[] {
  const bars = new Map<string, number[]>();
  for (const row of rows) {
    const parts = bars.get(repoName(row)) ?? CI.map(() => 0);
    const at = CI.indexOf(row.ci);
    parts[at] = (parts[at] ?? 0) + 1;
    bars.set(repoName(row), parts);
  }
  return fullestFirst(bars).map((bar) => {
    const failing = bar.parts[CI.indexOf('failure')] ?? 0;
    return failing === 0 ? bar : { ...bar, note: `${failing} failing` };
  });
}

export function byRepository(issues: readonly Issue[]): readonly Bar[] {
  const bars = new Map<string, number[]>();
  for (const issue of issues) bars.set(repoName(issue), [(bars.get(repoName(issue))?.[0] ?? 0) + 1]);
  return fullestFirst(bars);
}

const fullestFirst = (bars: ReadonlyMap<string, number[]>): readonly Bar[] =>
  [...bars].map(([label, parts]) => ({ label, parts })).sort((a, b) => total(b) - total(a));

export const CI_PARTS = ['Passing', 'Running', 'Failing', 'None or unknown'] as const;

const AGES = [
  ['under a day', 1],
  ['1 to 3 days', 3],
  ['3 to 7 days', 7],
  ['7 to 30 days', 30],
  ['over 30 days', Infinity],
] as const;

/** How long ago what is open was begun. */
export function byAge(items: readonly { readonly createdAt: string }[], now = Date.now()): readonly Bar[] {
  const days = items.map(({ createdAt }) => (now - Date.parse(createdAt)) / 86_400_000);
  return AGES.map(([label, until], index) => {
    const from = AGES[index - 1]?.[1] ?? -Infinity;
    return { label, parts: [days.filter((age) => age >= from && age < until).length] };
  });
}

type RateLimit = NonNullable<Board['forges'][number]['rateLimitREST']>;

export interface Budget extends RateLimit {
  readonly name: string;
}

/** What the server does at each of them. */
export const SEVERITIES: Readonly<Record<RateLimit['severity'], string>> = {
  ok: 'Plenty left',
  warning: 'Running low',
  low: 'Nearly spent: refreshes wait',
  exceeded: 'Spent: nothing is taken until then',
};

/** What forges still give, a gauge for each of their budgets. */
export function budgetsOf({ forges }: Board): readonly Budget[] {
  return forges.flatMap(({ forge, rateLimitGraphQL, rateLimitREST }) => [
    ...(rateLimitGraphQL ? [{ name: `${FORGE_NAMES[forge]} GraphQL`, ...rateLimitGraphQL }] : []),
    ...(rateLimitREST ? [{ name: `${FORGE_NAMES[forge]} REST`, ...rateLimitREST }] : []),
  ]);
}

export const total = ({ parts }: Bar): number => parts.reduce((sum, part) => sum + part, 0);
