import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { Heading } from '../shell/heading.js';

interface ExploreFrameProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const PLACES = [
  ['/explore', 'Files'],
  ['/explore/records', 'Records'],
  ['/graphql', 'GraphQL explorer'],
] as const;

/** What stands around each page of the site's data. */
export function ExploreFrame({ title, children }: ExploreFrameProps) {
  const { path } = useLocation();
  return (
    <>
      <Heading>{title}</Heading>
      <nav aria-label="Site data">
        <ul class="tabs">
          {PLACES.map(([address, name]) => (
            <li key={address}>
              <a href={address} aria-current={address === path ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {children}
    </>
  );
}
