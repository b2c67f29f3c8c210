import { toBlocks } from './blocks.js';
import type { Block } from './blocks.js';
import type { Group } from './groups.js';
import { RowBlock } from './row-block.js';
import type { RowBlockProps } from './row-block.js';
import { useSteps } from './use-steps.js';

interface PullRequestGroupsProps extends Omit<RowBlockProps, keyof Block> {
  readonly groups: readonly Group[];
  /** Another text for another list. */
  readonly list: string;
}

/** Rows below their headings; those below the first screen follow while the browser is idle. */
export function PullRequestGroups({ groups, list, ...rest }: PullRequestGroupsProps) {
  const total = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const drawn = useSteps(total, list);
  return (
    <>
      {toBlocks(groups, drawn).map(({ name, rows, blocks }) => (
        <section key={name} aria-label={name || 'Pull requests'}>
          {name !== '' && (
            <h2>
              {name} <span class="quiet">{rows.length}</span>
            </h2>
          )}
          <div role="list">
            {blocks.map((block, index) => (
              <RowBlock key={index} {...block} {...rest} />
            ))}
          </div>
        </section>
      ))}
    </>
  );
}
