import { findMissing, probeHooks } from '../inspection.js';
import type { Inspection, MissingPermission, Probe } from '../inspection.js';
import type { Forge } from '../forge.js';
import type { ForgeRepository } from '../facts.js';
import { pathOf } from '../paths.js';
import type { Installation } from './app.js';
import { CHECKS_PERMISSION } from './checks.js';
import { PROBE_CHECKS } from './queries.js';
import type { GithubRequests } from './requests.js';

type Discover = Forge['discover'];

/** Asks whose token it is, and what of a repository may be read with it. */
export async function inspectToken(requests: GithubRequests, discover: Discover): Promise<Inspection> {
  const { login, scopes } = await requests.readViewer();
  const repositories = await discover();
  const refused = await findMissing(toProbes(requests, repositories));
  return { username: login, repositories, missing: [...findMissingScopes(scopes), ...refused] };
}

/** Only classic tokens have scopes; of them, `repo` has everything within it. */
function findMissingScopes(scopes: readonly string[]): MissingPermission[] {
  if (scopes.length === 0 || scopes.includes('repo')) return [];
  return [{ permission: 'repo', purpose: 'to read private repositories, and to act on pull requests' }];
}

/** The permissions of fine-grained tokens are told by nobody, so that one repository has to stand for all. */
function toProbes(rest: GithubRequests, repositories: readonly ForgeRepository[]): Probe[] {
  const [one] = repositories;
  if (one === undefined) return [];
  const read = (part: string) => () => rest.get(`${pathOf(one.fullName)}/${part}?per_page=1`);
  return [
    { permission: 'Pull requests: read and write', purpose: 'to list and merge them', ask: read('pulls') },
    { permission: 'Issues: read and write', purpose: 'to list them, and to ask bots', ask: read('issues') },
    toChecksProbe(rest, repositories),
    ...probeHooks(repositories, 'Webhooks: read and write, or admin:repo_hook', (fullName) =>
      rest.get(`${pathOf(fullName)}/hooks?per_page=1`),
    ),
  ];
}

/** More would take GitHub longer; those listed first have to stand for all. */
const PROBED_REPOSITORIES = 10;

/** Refused checks are an error of a part, so that the answer has to be whole. */
function toChecksProbe(requests: GithubRequests, repositories: readonly ForgeRepository[]): Probe {
  const ids = repositories.slice(0, PROBED_REPOSITORIES).map(({ id }) => id);
  return {
    permission: CHECKS_PERMISSION,
    purpose: 'to know whether checks pass',
    ask: () => requests.graphqlWhole(PROBE_CHECKS, { ids }),
  };
}

const OF_AN_APP = [
  ['contents', 'Contents: read and write', 'to merge'],
  ['pull_requests', 'Pull requests: read and write', 'to list and merge them'],
  ['issues', 'Issues: read and write', 'to list them, and to ask bots'],
  ['repository_hooks', 'Webhooks: read and write', 'to set up webhooks'],
] as const;

/** What an App may is in the answer that its token comes with. */
export async function inspectInstallation(
  installation: Installation,
  { requests, discover }: { readonly requests: GithubRequests; readonly discover: Discover },
): Promise<Inspection> {
  const repositories = await discover();
  const lacking = OF_AN_APP.filter(([name]) => !installation.may(name));
  const missing = lacking.map(([, permission, purpose]) => ({ permission, purpose }));
  return { repositories, missing: [...missing, ...(await findMissing([toChecksProbe(requests, repositories)]))] };
}
