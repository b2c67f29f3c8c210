import { toBlocks } from './blocks.js';
import type { Block } from './blocks.js';
import type { Group } from './groups.js';
import { RowBlock } from './row-block.js';
import type { RowBlockProps } from './row-block.js';
import { useProgressiveRendering } from './use-progressive-rendering.js';

interface PullRequestGroupsProps extends Omit<RowBlockProps, keyof Block> {
  readonly groups: readonly Group[];
  /** Identifies the list; a new value starts drawing again from the first rows. */
  readonly list: string;
}

/** The rows under their group headings. Rows below the first screen are drawn while the browser is idle. */
export function PullRequestGroups({ groups, list, ...rest }: PullRequestGroupsProps) {
  const total = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const drawn = useProgressiveRendering(total, list);
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
