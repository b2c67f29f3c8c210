import { FolderIcon } from './icons.js';
import { linkTo } from './place.js';
import type { Place } from './place.js';

/** Where a site has several sources, their roots are the uppermost folders. */
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
