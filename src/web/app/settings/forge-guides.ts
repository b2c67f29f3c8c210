import type { components } from '../../../generated/dashboard/client.js';

export type Settings = components['schemas']['Settings'];

/** How to connect a forge: the names of its settings and the permissions that its token needs. */
export interface ForgeGuide {
  readonly forge: components['schemas']['ForgeName'];
  readonly name: string;
  readonly url: 'forgejoUrl' | 'githubUrl' | 'gitlabUrl';
  readonly username: 'forgejoUsername' | 'githubUsername' | 'gitlabUsername';
  readonly token: 'forgejoToken' | 'githubToken' | 'gitlabToken';
  readonly tokenSet: keyof Settings & ('forgejoTokenSet' | 'githubTokenSet' | 'gitlabTokenSet');
  readonly placeholder: string;
  readonly addressHint: string;
  /** The path of the page that creates tokens. */
  readonly tokenPage: string;
  readonly permissions: readonly Permission[];
  /** Further information about the permissions. */
  readonly note?: string;
}

interface Permission {
  readonly permission: string;
  readonly purpose: string;
}

export const FORGE_GUIDES: readonly ForgeGuide[] = [
  {
    forge: 'github',
    name: 'GitHub',
    url: 'githubUrl',
    username: 'githubUsername',
    token: 'githubToken',
    tokenSet: 'githubTokenSet',
    placeholder: 'https://github.com',
    addressHint: 'Leave empty for github.com. For GitHub Enterprise, enter its URL.',
    tokenPage: '/settings/personal-access-tokens/new',
    permissions: [
      { permission: 'Pull requests: read and write', purpose: 'to list and close them' },
      { permission: 'Contents: read and write', purpose: 'to merge, and to update branches' },
      {
        permission: 'Issues: read and write',
        purpose: 'to list them, and to send requests to Dependabot and Renovate',
      },
      { permission: 'Commit statuses: read', purpose: 'to show CI, except check runs' },
      { permission: 'Actions: read and write', purpose: 'to rerun checks' },
      { permission: 'Webhooks: read and write', purpose: 'to set up webhooks' },
    ],
    note: 'These permissions are for a fine-grained token, which covers one owner and can’t read check runs. A classic token with the scope repo can do everything. With a username and no token, only public repositories are read.',
  },
  {
    forge: 'forgejo',
    name: 'Forgejo or Gitea',
    url: 'forgejoUrl',
    username: 'forgejoUsername',
    token: 'forgejoToken',
    tokenSet: 'forgejoTokenSet',
    placeholder: 'https://codeberg.org',
    addressHint: 'The URL of its web interface.',
    tokenPage: '/user/settings/applications',
    permissions: [
      { permission: 'write:repository', purpose: 'to list pull requests, merge them, and set up webhooks' },
      { permission: 'write:issue', purpose: 'to list issues, and to set labels for Renovate' },
      { permission: 'read:user', purpose: 'to identify you and your repositories' },
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
    addressHint: 'The URL of its web interface.',
    tokenPage: '/-/user_settings/personal_access_tokens',
    permissions: [{ permission: 'api', purpose: 'to list merge requests, act on them, and set up webhooks' }],
    note: 'The scope read_api is enough to view, not to merge.',
  },
];

/** Display names of the forges in the settings. */
export const FORGE_TITLES: Readonly<Record<ForgeGuide['forge'], string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo or Gitea',
  gitlab: 'GitLab',
};

type Request = components['schemas']['SettingsRequest'];
export type SettingsRequest = Omit<Request, 'renovateAuthors'> & { renovateAuthors?: string[] };

/** Converts saved settings to a request. Saving replaces all settings except tokens, so each request repeats them. */
export function toSettingsRequest(settings: Settings): SettingsRequest {
  const { githubUrl, githubUsername, githubAppInstallationId, forgejoUrl, forgejoUsername } = settings;
  const { gitlabUrl, gitlabUsername, renovateRebaseLabel, renovateAuthors } = settings;
  return {
    ...{ githubUrl, githubUsername, githubAppInstallationId, forgejoUrl, forgejoUsername },
    ...{ gitlabUrl, gitlabUsername, renovateRebaseLabel, renovateAuthors: [...renovateAuthors] },
  };
}
