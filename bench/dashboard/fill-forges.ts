import type { Forges } from '../../tests/dashboard/refresh/forges.js';
import { forgejoIssue, forgejoPullRequest, forgejoRepository } from '../../tests/forges/forgejo-state.js';
import { githubIssue, githubPullRequest, githubRepository } from '../../tests/forges/github-state.js';
import { gitlabIssue, gitlabMergeRequest, gitlabProject } from '../../tests/forges/gitlab-state.js';

export interface Filling {
  readonly repositories: number;
  readonly pullRequests: number;
}

/** Adds a third of the repositories to each forge, each with its share of pull requests and an issue. */
export function fillForges({ github, forgejo, gitlab }: Forges, { repositories, pullRequests }: Filling): void {
  for (let index = 0; index < repositories; index += 1) {
    const name = `acme/project-${String(index).padStart(4, '0')}`;
    const share = Math.floor(pullRequests / repositories) + (index < pullRequests % repositories ? 1 : 0);
    const numbers = Array.from({ length: share }, (_none, place) => place + 2);
    if (index % 3 === 0) {
      const own = numbers.map((number) => githubPullRequest(number));
      github.repositories.push(githubRepository(name, { pullRequests: own, issues: [githubIssue(1)] }));
    } else if (index % 3 === 1) {
      const own = numbers.map((number) => forgejoPullRequest(number));
      forgejo.repositories.push(
        forgejoRepository(name, { id: index + 1, pullRequests: own, issues: [forgejoIssue(1)] }),
      );
    } else {
      const own = numbers.map((number) => gitlabMergeRequest(number));
      gitlab.projects.push(gitlabProject(name, { id: index + 1, mergeRequests: own, issues: [gitlabIssue(1)] }));
    }
  }
}
