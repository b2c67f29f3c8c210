import type { Filter } from './filter.js';
import { FORGE_NAMES, formatRepository, SECTION_NAMES } from './rows.js';
import type { PullRequest, Section } from './rows.js';

export interface Group {
  /** Empty when the list is not grouped. */
  readonly name: string;
  readonly rows: readonly PullRequest[];
}

/** Groups rows and keeps their order within each group. Sections are sorted by urgency. */
export function toGroups(rows: readonly PullRequest[], by: Filter['group']): readonly Group[] {
  if (by === 'none') return [{ name: '', rows }];
  const groups = new Map<string, PullRequest[]>(by === 'section' ? IN_ORDER.map((name) => [name, []]) : []);
  for (const row of rows) {
    const name = NAMES[by](row);
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [row]);
    else members.push(row);
  }
  return [...groups].filter(([, members]) => members.length > 0).map(([name, members]) => ({ name, rows: members }));
}

const IN_ORDER = Object.values(SECTION_NAMES);

const sectionName = ({ section }: PullRequest): string =>
  (SECTION_NAMES as Record<string, string>)[section satisfies Section] ?? section;

const NAMES: Readonly<Record<Exclude<Filter['group'], 'none'>, (one: PullRequest) => string>> = {
  section: sectionName,
  repository: formatRepository,
  forge: ({ forge }) => FORGE_NAMES[forge],
};
