import { createGitlabForge, type GitlabForgeOptions } from '../../../../src/dashboard/forges/gitlab/gitlab-forge.js';
import type { GitlabProject } from '../../../forges/gitlab-state.js';
import { GITLAB_TOKEN, startGitlab, type TestGitlab } from '../../../forges/gitlab.js';
import { openForge, type OpenForge } from '../open-forge.js';

export type OpenGitlab = OpenForge<TestGitlab>;

export async function openGitlab(
  projects: readonly GitlabProject[] = [],
  options: Partial<GitlabForgeOptions> = {},
): Promise<OpenGitlab> {
  const server = await startGitlab(projects);
  return openForge(server, (shared) => createGitlabForge({ ...shared, token: GITLAB_TOKEN, ...options }));
}
