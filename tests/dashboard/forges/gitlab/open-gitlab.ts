import { createGitlabForge } from '../../../../src/dashboard/forges/gitlab/gitlab-forge.js';
import type { GitlabForgeOptions } from '../../../../src/dashboard/forges/gitlab/gitlab-forge.js';
import { GITLAB_TOKEN, startGitlab } from '../../../forges/gitlab.js';
import type { TestGitlab } from '../../../forges/gitlab.js';
import type { GitlabProject } from '../../../forges/gitlab-state.js';
import { openForge } from '../open-forge.js';
import type { OpenForge } from '../open-forge.js';

export type OpenGitlab = OpenForge<TestGitlab>;

export async function openGitlab(
  projects: readonly GitlabProject[] = [],
  options: Partial<GitlabForgeOptions> = {},
): Promise<OpenGitlab> {
  const server = await startGitlab(projects);
  return openForge(server, (shared) => createGitlabForge({ ...shared, token: GITLAB_TOKEN, ...options }));
}
