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
  readonly addressHint: string;
  /** Where tokens are made, below its address. */
  readonly tokenPage: string;
  readonly permissions: readonly Permission[];
  /** What else there is to know of them. */
  readonly note?: string;
}

interface Permission {
  readonly permission: string;
  readonly purpose: string;
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
    addressHint: 'Leave it empty for github.com; GitHub Enterprise has one of its own.',
    tokenPage: '/settings/personal-access-tokens/new',
    permissions: [
      { permission: 'Pull requests: read and write', purpose: 'to list and close them' },
      { permission: 'Contents: read and write', purpose: 'to merge, and to update branches' },
      { permission: 'Issues: read and write', purpose: 'to list them, and to ask Dependabot and Renovate' },
      { permission: 'Commit statuses: read', purpose: 'to show CI, but for check runs' },
      { permission: 'Actions: read and write', purpose: 'to run checks again' },
      { permission: 'Webhooks: read and write', purpose: 'to have changes told at once' },
    ],
    note: 'These are of a fine-grained token, which covers one owner and cannot read check runs; a classic one takes repo, and has all of it. With a username and no token, public repositories can be read.',
  },
  {
    forge: 'forgejo',
    name: 'Forgejo or Gitea',
    url: 'forgejoUrl',
    username: 'forgejoUsername',
    token: 'forgejoToken',
    tokenSet: 'forgejoTokenSet',
    placeholder: 'https://codeberg.org',
    addressHint: 'Where its pages are.',
    tokenPage: '/user/settings/applications',
    permissions: [
      { permission: 'write:repository', purpose: 'to list pull requests, merge them, and set up webhooks' },
      { permission: 'write:issue', purpose: 'to list issues, and to label for Renovate' },
      { permission: 'read:user', purpose: 'to know whose repositories there are' },
    ],
  },
  {
    forge: 'gitlab',
    name: 'GitLab',
    url: 'gitlabUrl',
    username: 'gitlabUsername',
    token: 'gitlabToken',
    tokenSet: 'gitlabTokenSet',
    placeholder: 'https://gitlab.com',
    addressHint: 'Where its pages are.',
    tokenPage: '/-/user_settings/personal_access_tokens',
    permissions: [{ permission: 'api', purpose: 'to list merge requests, act on them, and set up webhooks' }],
    note: 'With read_api the board can be read, and nothing be done.',
  },
];

/** What people call them. */
export const FORGE_TITLES: Readonly<Record<ForgeGuide['forge'], string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo or Gitea',
  gitlab: 'GitLab',
};
