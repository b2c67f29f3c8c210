import type { Forge } from '../../../../src/dashboard/forges/forge.js';
import { createGithubForge } from '../../../../src/dashboard/forges/github/github-forge.js';
import type { GithubForgeOptions } from '../../../../src/dashboard/forges/github/github-forge.js';
import type { NewRequest } from '../../../../src/dashboard/request-log.js';
import { GITHUB_TOKEN, startGithub } from '../../../forges/github.js';
import type { TestGithub } from '../../../forges/github.js';
import type { GithubRepository } from '../../../forges/github-state.js';

export interface OpenGithub {
  readonly server: TestGithub;
  readonly forge: Forge;
  readonly recorded: NewRequest[];
}

/** A client, and the forge that it asks. The caller closes the server. */
export async function openGithub(
  repositories: readonly GithubRepository[] = [],
  options: Partial<GithubForgeOptions> = {},
): Promise<OpenGithub> {
  const server = await startGithub(repositories);
  const recorded: NewRequest[] = [];
  const record = async (request: NewRequest): Promise<void> => void recorded.push(request);
  const forge = createGithubForge({ baseUrl: server.url, token: GITHUB_TOKEN, account: 'mona', record, ...options });
  return { server, forge, recorded };
}
