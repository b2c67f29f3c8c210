import { FolderIcon } from './icons.js';
import { linkToLocation } from './site-location.js';
import type { SiteLocation } from './site-location.js';

/** The sources of a site that has several, shown as top-level folders. */
export function SourceList({ names, place }: { readonly names: readonly string[]; readonly place: SiteLocation }) {
  return (
    <ul class="entries pictures" aria-label="Sources">
      {names.map((name) => (
        <li key={name}>
          <a href={linkToLocation({ ...place, source: name, page: 1 })}>
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
