import type { ComponentChildren } from 'preact';
import { Heading } from '../ui/heading.js';
import { SectionTabs } from '../ui/section-tabs.js';
import { SiteProblems } from './site-problems.js';

interface ExploreFrameProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const TABS = [
  ['/site', 'Files'],
  ['/site/records', 'Records'],
  ['/graphql', 'GraphQL explorer'],
] as const;

/** The layout of the site pages: heading, tabs and problems of the site. */
export function SiteLayout({ title, children }: ExploreFrameProps) {
  return (
    <>
      <Heading>{title}</Heading>
      <SectionTabs name="Site" parts={TABS} />
      <SiteProblems />
      {children}
    </>
  );
}
