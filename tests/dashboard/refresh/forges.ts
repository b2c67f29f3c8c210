import { FORGEJO_TOKEN, startForgejo, type TestForgejo } from '../../forges/forgejo.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { GITLAB_TOKEN, startGitlab, type TestGitlab } from '../../forges/gitlab.js';

export interface Forges {
  readonly github: TestGithub;
  readonly forgejo: TestForgejo;
  readonly gitlab: TestGitlab;
}

export async function startForges(): Promise<Forges> {
  const [github, forgejo, gitlab] = await Promise.all([startGithub(), startForgejo(), startGitlab()]);
  return { github, forgejo, gitlab };
}

/** Returns the settings of a user of all three forges. */
export function settingsFor({ github, forgejo, gitlab }: Forges) {
  return {
    githubUrl: github.url,
    githubUsername: 'mona',
    githubToken: GITHUB_TOKEN,
    forgejoUrl: forgejo.url,
    forgejoToken: FORGEJO_TOKEN,
    gitlabUrl: gitlab.url,
    gitlabToken: GITLAB_TOKEN,
  };
}
