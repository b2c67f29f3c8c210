import type { ComponentChildren } from 'preact';
import { Heading } from '../shell/heading.js';
import { Parts } from '../shell/parts.js';
import { SiteProblems } from './site-problems.js';

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
  return (
    <>
      <Heading>{title}</Heading>
      <Parts name="Site data" parts={PLACES} />
      <SiteProblems />
      {children}
    </>
  );
}
