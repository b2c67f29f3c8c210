import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/types.js';
import { dashboardClient } from '../api.js';
import { Heading, SectionTabs } from '../ui/headings.js';
import { useResource } from '../ui/resource.js';

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

type Site = components['schemas']['SiteReadiness'];
type Problem = components['schemas']['SiteProblem'];

/** Lists the skipped entries of the site with the reasons, or shows why the site can't be served. */
function SiteProblems() {
  const { value: site } = useResource(useCallback(readSite, []));
  if (site === undefined) return null;
  if (site.status !== 'ok') return <p class="site-problems">{site.reason}</p>;
  const { problemCount = 0, problems } = site;
  if (problemCount === 0) return null;
  const counted = `${problemCount.toLocaleString()} ${problemCount === 1 ? 'problem' : 'problems'}`;
  if (problems === undefined) {
    return <p class="site-problems">This site has {counted}. “trellis doctor” lists them.</p>;
  }
  const more = problemCount - problems.length;
  return (
    <details class="site-problems">
      <summary>This site has {counted}. Everything else is shown.</summary>
      <ul>
        {problems.map((problem) => (
          <li key={`${problem.path} ${problem.line ?? ''} ${problem.reason}`}>
            <code>{toPlace(problem)}</code> {problem.reason}
          </li>
        ))}
        {more > 0 && <li>and {more.toLocaleString()} more</li>}
      </ul>
    </details>
  );
}

/** Returns `undefined` when the request fails, as the page shows its own errors. */
async function readSite(): Promise<Site | undefined> {
  const result = await dashboardClient.GET('/readyz').catch(() => undefined);
  return result?.data?.site;
}

const toPlace = ({ path, line }: Problem): string => (line === undefined ? path : `${path}:${line}`);

/** Replaces the site pages when the site can only be read with a token. */
export function TokenRequiredPage() {
  return (
    <SiteLayout title="Site data">
      <p>
        This site needs a token, so these pages can’t show it. Programs send the token in the header{' '}
        <code>Authorization: Bearer …</code>. To run queries in the browser, open the{' '}
        <a href="/graphql">GraphQL explorer</a> and enter the header there.
      </p>
    </SiteLayout>
  );
}

/** A schema description, with the parts in backticks as code. */
export function SchemaText({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
