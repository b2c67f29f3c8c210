import { useCallback } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/types.js';
import { dashboardClient } from '../clients.js';
import { useResource } from '../ui/use-resource.js';

type Site = components['schemas']['SiteReadiness'];
type Problem = components['schemas']['SiteProblem'];

/** Lists the skipped entries of the site with the reasons, or shows why the site can't be served. */
export function SiteProblems() {
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
