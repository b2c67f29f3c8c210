import { Icon } from '../../ui/icon.js';
import { type Board, FORGE_NAMES, type ForgeName } from '../data/rows.js';

/** The mark of a code host. */
export const ForgeMark = ({ forge }: { readonly forge: ForgeName }) => (
  <span class="mark" role="img" aria-label={FORGE_NAMES[forge]} title={FORGE_NAMES[forge]}>
    <Icon name={forge} />
  </span>
);

/** Returns whether a board has rows of several code hosts, so that its rows name theirs. */
export const hasSeveralForges = ({ forges, furtherForges = [] }: Board): boolean =>
  new Set([...forges, ...furtherForges].map(({ forge }) => forge)).size > 1;
