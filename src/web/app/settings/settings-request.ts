import type { components } from '../../../generated/dashboard/client.js';

export type Settings = components['schemas']['Settings'];
type Request = components['schemas']['SettingsRequest'];
/** As it is sent. */
export type SettingsRequest = Omit<Request, 'renovateAuthors'> & { renovateAuthors?: string[] };

/** What is saved, as it has to be said again: saving replaces everything but tokens. */
export function toRequest(settings: Settings): SettingsRequest {
  const { githubUrl, githubUsername, githubAppInstallationId, forgejoUrl, forgejoUsername } = settings;
  const { gitlabUrl, gitlabUsername, renovateRebaseLabel, renovateAuthors } = settings;
  return {
    ...{ githubUrl, githubUsername, githubAppInstallationId, forgejoUrl, forgejoUsername },
    ...{ gitlabUrl, gitlabUsername, renovateRebaseLabel, renovateAuthors: [...renovateAuthors] },
  };
}
