import { findMissingPermissions, probeWebhookAccess } from '../inspection.js';
import type { Inspection, MissingPermission, PermissionProbe } from '../inspection.js';
import type { Forge } from '../forge.js';
import type { ForgeRepository } from '../model.js';
import { toRepositoryPath } from '../repository-path.js';
import type { Installation } from './app.js';
import { CHECKS_PERMISSION } from './checks.js';
import { PROBE_CHECKS } from './queries.js';
import type { GithubRequests } from './requests.js';

type Discover = Forge['discover'];

/** Finds the user of a token and its missing permissions. */
export async function inspectToken(requests: GithubRequests, discover: Discover): Promise<Inspection> {
  const { login, scopes } = await requests.readViewer();
  const repositories = await discover();
  const refused = await findMissingPermissions(toProbes(requests, repositories));
  return { username: login, repositories, missing: [...findMissingScopes(scopes), ...refused] };
}

/** Checks the scopes of a classic token, of which `repo` includes all others. Other tokens have no scopes. */
function findMissingScopes(scopes: readonly string[]): MissingPermission[] {
  if (scopes.length === 0 || scopes.includes('repo')) return [];
  return [{ permission: 'repo', purpose: 'to read private repositories and act on pull requests' }];
}

/** Probes one repository in place of all, as GitHub does not report the permissions of fine-grained tokens. */
function toProbes(rest: GithubRequests, repositories: readonly ForgeRepository[]): PermissionProbe[] {
  const [one] = repositories;
  if (one === undefined) return [];
  const read = (part: string) => () => rest.get(`${toRepositoryPath(one.fullName)}/${part}?per_page=1`);
  return [
    { permission: 'Pull requests: read and write', purpose: 'to list and merge pull requests', ask: read('pulls') },
    { permission: 'Issues: read and write', purpose: 'to list issues and send commands to bots', ask: read('issues') },
    toChecksProbe(rest, repositories),
    ...probeWebhookAccess(repositories, 'Webhooks: read and write, or admin:repo_hook', (fullName) =>
      rest.get(`${toRepositoryPath(fullName)}/hooks?per_page=1`),
    ),
  ];
}

/** The first repositories stand for all, as a query for more takes GitHub longer. */
const PROBED_REPOSITORIES = 10;

/** Reads data without errors only: GitHub reports missing access to checks as an error of a part. */
function toChecksProbe(requests: GithubRequests, repositories: readonly ForgeRepository[]): PermissionProbe {
  const ids = repositories.slice(0, PROBED_REPOSITORIES).map(({ id }) => id);
  return {
    permission: CHECKS_PERMISSION,
    purpose: 'to read the results of checks',
    ask: () => requests.graphqlWhole(PROBE_CHECKS, { ids }),
  };
}

const APP_PERMISSIONS = [
  ['contents', 'Contents: read and write', 'to merge'],
  ['pull_requests', 'Pull requests: read and write', 'to list and merge pull requests'],
  ['issues', 'Issues: read and write', 'to list issues and send commands to bots'],
  ['repository_hooks', 'Webhooks: read and write', 'to set up webhooks'],
] as const;

/** Finds the missing permissions of an App installation. GitHub reports them with the installation's token. */
export async function inspectInstallation(
  installation: Installation,
  { requests, discover }: { readonly requests: GithubRequests; readonly discover: Discover },
): Promise<Inspection> {
  const repositories = await discover();
  const lacking = APP_PERMISSIONS.filter(([name]) => !installation.hasWriteAccess(name));
  const missing = lacking.map(([, permission, purpose]) => ({ permission, purpose }));
  return {
    repositories,
    missing: [...missing, ...(await findMissingPermissions([toChecksProbe(requests, repositories)]))],
  };
}
