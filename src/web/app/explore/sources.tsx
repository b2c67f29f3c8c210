import { FolderIcon } from './icons.js';
import { linkTo } from './place.js';
import type { Place } from './place.js';

/** The sources of a site that has several, shown as top-level folders. */
export function Sources({ names, place }: { readonly names: readonly string[]; readonly place: Place }) {
  return (
    <ul class="entries pictures" aria-label="Sources">
      {names.map((name) => (
        <li key={name}>
          <a href={linkTo({ ...place, source: name, page: 1 })}>
            <span class="picture">
              <FolderIcon />
            </span>
            <span class="name">{name}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
