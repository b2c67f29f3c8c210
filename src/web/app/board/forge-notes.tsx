import type { Board } from './rows.js';
import { FORGE_NAMES } from './rows.js';
import { toAge } from '../shell/age.js';

/** What is wrong with a forge, where something is: rows of it may be old, or not all. */
export function ForgeNotes({ board }: { readonly board: Board }) {
  const notes = board.forges.flatMap((forge) => {
    const name = FORGE_NAMES[forge.forge];
    return [
      ...(forge.error === undefined
        ? []
        : [`${name}: ${forge.error}${forge.staleSince ? ` What is shown is from ${toAge(forge.staleSince)}.` : ''}`]),
      ...(forge.truncated ? [`${name} has more pull requests than the 1,000 that are read.`] : []),
    ];
  });
  if (notes.length === 0) return null;
  return (
    <ul class="notes" role="status">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}
