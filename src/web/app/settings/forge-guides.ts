import type { components } from '../../../generated/dashboard/client.js';

type Settings = components['schemas']['Settings'];

/** How a forge is set up: the names of its settings, and what a token of it must be allowed. */
export interface ForgeGuide {
  readonly forge: components['schemas']['ForgeName'];
  readonly name: string;
  readonly url: 'forgejoUrl' | 'githubUrl' | 'gitlabUrl';
  readonly username: 'forgejoUsername' | 'githubUsername' | 'gitlabUsername';
  readonly token: 'forgejoToken' | 'githubToken' | 'gitlabToken';
  readonly tokenSet: keyof Settings & ('forgejoTokenSet' | 'githubTokenSet' | 'gitlabTokenSet');
  readonly placeholder: string;
  readonly permissions: string;
}

export const GUIDES: readonly ForgeGuide[] = [
  {
    forge: 'github',
    name: 'GitHub',
    url: 'githubUrl',
    username: 'githubUsername',
    token: 'githubToken',
    tokenSet: 'githubTokenSet',
    placeholder: 'https://github.com',
    permissions:
      'A fine-grained token with read and write for contents, issues and pull requests, and read for checks, commit statuses and metadata; actions (write) to run checks again, webhooks (write) to set them up. A classic token: repo.',
  },
  {
    forge: 'forgejo',
    name: 'Forgejo or Gitea',
    url: 'forgejoUrl',
    username: 'forgejoUsername',
    token: 'forgejoToken',
    tokenSet: 'forgejoTokenSet',
    placeholder: 'https://codeberg.org',
    permissions: 'A token with write:repository, write:issue and read:user.',
  },
  {
    forge: 'gitlab',
    name: 'GitLab',
    url: 'gitlabUrl',
    username: 'gitlabUsername',
    token: 'gitlabToken',
    tokenSet: 'gitlabTokenSet',
    placeholder: 'https://gitlab.com',
    permissions: 'A token with the scope api; read_api is enough to look and not to act.',
  },
];
