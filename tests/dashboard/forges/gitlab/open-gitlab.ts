import type { Forge } from '../../../../src/dashboard/forges/forge.js';
import { createGitlabForge } from '../../../../src/dashboard/forges/gitlab/gitlab-forge.js';
import type { GitlabForgeOptions } from '../../../../src/dashboard/forges/gitlab/gitlab-forge.js';
import type { NewRequest } from '../../../../src/dashboard/request-log.js';
import { GITLAB_TOKEN, startGitlab } from '../../../forges/gitlab.js';
import type { TestGitlab } from '../../../forges/gitlab.js';
import type { GitlabProject } from '../../../forges/gitlab-state.js';

export interface OpenGitlab {
  readonly server: TestGitlab;
  readonly forge: Forge;
  readonly recorded: NewRequest[];
}

/** A client, and the forge that it asks. The caller closes the server. */
export async function openGitlab(
  projects: readonly GitlabProject[] = [],
  options: Partial<GitlabForgeOptions> = {},
): Promise<OpenGitlab> {
  const server = await startGitlab(projects);
  const recorded: NewRequest[] = [];
  const record = async (request: NewRequest): Promise<void> => void recorded.push(request);
  const forge = createGitlabForge({ baseUrl: server.url, token: GITLAB_TOKEN, account: 'mona', record, ...options });
  return { server, forge, recorded };
}
