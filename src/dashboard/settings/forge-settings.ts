/** A user's forge settings, and how a request changes them. */
import { AppError } from '@trellis/core/errors';
import type { components } from '../../generated/dashboard/types.js';
import type { ForgeName } from '../forges/forge.js';

export type SettingsRequest = components['schemas']['SettingsRequest'];

/** Unset values are empty strings, and 0 for the installation id. */
export interface ForgeSettings {
  readonly githubUrl: string;
  readonly githubUsername: string;
  readonly githubToken: string;
  readonly githubAppInstallationId: number;
  readonly forgejoUrl: string;
  readonly forgejoUsername: string;
  readonly forgejoToken: string;
  readonly gitlabUrl: string;
  readonly gitlabUsername: string;
  readonly gitlabToken: string;
  readonly renovateRebaseLabel: string;
  readonly renovateAuthors: readonly string[];
  /** Further credentials, the oldest first; never stored with the settings. */
  readonly credentials?: readonly StoredCredential[];
}

/** A credential beside the one of its kind in the settings. */
export interface StoredCredential {
  readonly id: string;
  readonly forge: ForgeName;
  readonly label: string;
  /** Empty for github.com. */
  readonly url: string;
  readonly username: string;
  readonly token: string;
}

export const NO_FORGES: ForgeSettings = {
  githubUrl: '',
  githubUsername: '',
  githubToken: '',
  githubAppInstallationId: 0,
  forgejoUrl: '',
  forgejoUsername: '',
  forgejoToken: '',
  gitlabUrl: '',
  gitlabUsername: '',
  gitlabToken: '',
  renovateRebaseLabel: '',
  renovateAuthors: [],
};

/**
 * Returns the settings of the request, with the stored tokens where the request omits them or leaves them blank and the
 * URL of the forge is unchanged. `null` removes a token.
 *
 * @throws AppError `invalid_input` with the field, for an invalid URL, or for a missing one if the forge's token or
 * username is set.
 */
export function mergeForgeSettings(stored: ForgeSettings, request: SettingsRequest): ForgeSettings {
  const urls = {
    githubUrl: parseForgeUrl(request.githubUrl ?? '', 'githubUrl'),
    forgejoUrl: parseForgeUrl(request.forgejoUrl ?? '', 'forgejoUrl'),
    gitlabUrl: parseForgeUrl(request.gitlabUrl ?? '', 'gitlabUrl'),
  };
  // A stored token must never be sent to a different server than the one that it was entered for.
  // If the URL is empty, `assertUrl` reports it; only GitHub has a default URL.
  const storedToken = (url: keyof typeof urls, token: string): string =>
    urls[url] === stored[url] || (urls[url] === '' && url !== 'githubUrl') ? token : '';
  const merged = {
    ...urls,
    githubUsername: request.githubUsername?.trim() ?? '',
    githubToken: mergeToken(storedToken('githubUrl', stored.githubToken), request.githubToken),
    githubAppInstallationId: request.githubAppInstallationId ?? 0,
    forgejoUsername: request.forgejoUsername?.trim() ?? '',
    forgejoToken: mergeToken(storedToken('forgejoUrl', stored.forgejoToken), request.forgejoToken),
    gitlabUsername: request.gitlabUsername?.trim() ?? '',
    gitlabToken: mergeToken(storedToken('gitlabUrl', stored.gitlabToken), request.gitlabToken),
    renovateRebaseLabel: request.renovateRebaseLabel?.trim() ?? '',
    renovateAuthors: toDistinct(request.renovateAuthors ?? []),
  };
  assertUrl('forgejo', merged.forgejoUrl, merged.forgejoToken + merged.forgejoUsername);
  assertUrl('gitlab', merged.gitlabUrl, merged.gitlabToken + merged.gitlabUsername);
  return merged;
}

function mergeToken(stored: string, given: string | null | undefined): string {
  if (given === null) return '';
  return given === undefined || given.trim() === '' ? stored : given.trim();
}

function toDistinct(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '');
}

/** Returns the URL in normal form, without a trailing slash, so that paths can be appended. */
export function parseForgeUrl(text: string, field: string): string {
  if (text.trim() === '') return '';
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  if (isPlain) return (url.origin + url.pathname).replace(/\/+$/, '');
  // The value is not quoted, because it may contain credentials.
  const message = `Expected ${field} to be an http or https URL without credentials, query or fragment.`;
  throw new AppError('invalid_input', message, { field });
}

function assertUrl(forge: 'forgejo' | 'gitlab', url: string, credential: string): void {
  if (url !== '' || credential === '') return;
  const message = `${forge}Url is required if ${forge}Token or ${forge}Username is set.`;
  throw new AppError('invalid_input', message, { field: `${forge}Url` });
}
