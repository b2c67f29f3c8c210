import type { ComponentChildren } from 'preact';
import { Heading } from '../shell/heading.js';
import { Parts } from '../shell/parts.js';
import { SiteProblems } from './site-problems.js';

interface ExploreFrameProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const TABS = [
  ['/explore', 'Files'],
  ['/explore/records', 'Records'],
  ['/graphql', 'GraphQL explorer'],
] as const;

/** The layout of the site pages: heading, tabs and problems of the site. */
export function ExploreFrame({ title, children }: ExploreFrameProps) {
  return (
    <>
      <Heading>{title}</Heading>
      <Parts name="Site" parts={TABS} />
      <SiteProblems />
      {children}
    </>
  );
}
