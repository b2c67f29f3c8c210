import { createGithubForge, type GithubForgeOptions } from '../../../../src/dashboard/forges/github/github-forge.js';
import type { GithubRepository } from '../../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../../forges/github.js';
import { openForge, type OpenForge } from '../open-forge.js';

export type OpenGithub = OpenForge<TestGithub>;

export async function openGithub(
  repositories: readonly GithubRepository[] = [],
  options: Partial<GithubForgeOptions> = {},
): Promise<OpenGithub> {
  const server = await startGithub(repositories);
  return openForge(server, (shared) => createGithubForge({ ...shared, token: GITHUB_TOKEN, ...options }));
}
