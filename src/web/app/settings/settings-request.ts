import type { components } from '../../../generated/dashboard/client.js';

export type Settings = components['schemas']['Settings'];
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
