import { withFolder, linkToLocation } from './site-location.js';
import type { SiteLocation } from './site-location.js';

/** Breadcrumbs: links to the parent folders. */
export function Breadcrumbs({ place }: { readonly place: SiteLocation }) {
  const { source, folder } = place;
  const parts = folder === '' ? [] : folder.split('/');
  const below = parts.map((part, index) => [part, withFolder(place, parts.slice(0, index + 1).join('/'))] as const);
  const steps = [
    ['Site', { ...withFolder(place, ''), source: '' }] as const,
    ...(source === '' ? [] : [[source, withFolder(place, '')] as const]),
    ...below,
  ];
  return (
    <nav aria-label="Breadcrumbs">
      <ol class="trail">
        {steps.map(([name, step], index) => (
          <li key={linkToLocation(step)}>
            <a href={linkToLocation(step)} aria-current={index === steps.length - 1 ? 'location' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
