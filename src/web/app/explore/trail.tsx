import { inFolder, linkTo } from './place.js';
import type { Place } from './place.js';

/** Breadcrumbs: links to the parent folders. */
export function Trail({ place }: { readonly place: Place }) {
  const { source, folder } = place;
  const parts = folder === '' ? [] : folder.split('/');
  const below = parts.map((part, index) => [part, inFolder(place, parts.slice(0, index + 1).join('/'))] as const);
  const steps = [
    ['Site', { ...inFolder(place, ''), source: '' }] as const,
    ...(source === '' ? [] : [[source, inFolder(place, '')] as const]),
    ...below,
  ];
  return (
    <nav aria-label="Breadcrumbs">
      <ol class="trail">
        {steps.map(([name, step], index) => (
          <li key={linkTo(step)}>
            <a href={linkTo(step)} aria-current={index === steps.length - 1 ? 'location' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
