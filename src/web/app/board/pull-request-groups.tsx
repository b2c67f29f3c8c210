import { filter } from './filter-store.js';
import type { Group } from './groups.js';
import { PullRequestRow } from './pull-request-row.js';
import { keyOf } from './rows.js';
import type { PullRequest } from './rows.js';
import { useSteps } from './use-steps.js';

interface PullRequestGroupsProps {
  readonly groups: readonly Group[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (row: PullRequest, isChosen: boolean) => void;
  /** Another text for another list. */
  readonly list: string;
  readonly isReadOnly: boolean;
}

const onLabel = (label: string): void => void (filter.value = { ...filter.value, label });

/** Rows below their headings; those below the first screen follow while the browser is idle. */
export function PullRequestGroups({ groups, chosen, onChoose, list, isReadOnly }: PullRequestGroupsProps) {
  const total = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  let left = useSteps(total, list);
  const drawn = groups.flatMap(({ name, rows }) => {
    const some = rows.slice(0, Math.max(left, 0));
    left -= rows.length;
    return some.length === 0 ? [] : [{ name, some, count: rows.length }];
  });
  return (
    <>
      {drawn.map(({ name, some, count }) => (
        <section key={name} aria-label={name || 'Pull requests'}>
          {name !== '' && (
            <h2>
              {name} <span class="quiet">{count}</span>
            </h2>
          )}
          <ul class="pulls">
            {some.map((row) => (
              <PullRequestRow
                key={keyOf(row)}
                {...{ row, onChoose, onLabel, isReadOnly }}
                isChosen={chosen.has(keyOf(row))}
              />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
