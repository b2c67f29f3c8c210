/** What a person told us about their forges, and how a request changes it. */
import { AppError } from '../errors.js';
import type { components } from '../generated/dashboard/types.js';

export type SettingsRequest = components['schemas']['SettingsRequest'];

/** An empty text stands for none, as the id 0 does. */
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
 * Replaces everything by what the request says; only a token that it leaves out
 * or blank is kept, as long as the forge's address stays, and null removes it.
 *
 * @throws AppError `invalid_input` with the field of a URL that is none, or
 * that a token or a username would need.
 */
export function mergeForgeSettings(stored: ForgeSettings, request: SettingsRequest): ForgeSettings {
  const urls = {
    githubUrl: parseForgeUrl(request.githubUrl ?? '', 'githubUrl'),
    forgejoUrl: parseForgeUrl(request.forgejoUrl ?? '', 'forgejoUrl'),
    gitlabUrl: parseForgeUrl(request.gitlabUrl ?? '', 'gitlabUrl'),
  };
  // A token is for the server that it was given for: with another address, another server would be sent it.
  // Without any, the missing address is refused below; GitHub's is then its own.
  const kept = (url: keyof typeof urls, token: string): string =>
    urls[url] === stored[url] || (urls[url] === '' && url !== 'githubUrl') ? token : '';
  const merged = {
    ...urls,
    githubUsername: request.githubUsername?.trim() ?? '',
    githubToken: mergeToken(kept('githubUrl', stored.githubToken), request.githubToken),
    githubAppInstallationId: request.githubAppInstallationId ?? 0,
    forgejoUsername: request.forgejoUsername?.trim() ?? '',
    forgejoToken: mergeToken(kept('forgejoUrl', stored.forgejoToken), request.forgejoToken),
    gitlabUsername: request.gitlabUsername?.trim() ?? '',
    gitlabToken: mergeToken(kept('gitlabUrl', stored.gitlabToken), request.gitlabToken),
    renovateRebaseLabel: request.renovateRebaseLabel?.trim() ?? '',
    renovateAuthors: toDistinct(request.renovateAuthors ?? []),
  };
  requireUrl('forgejo', merged.forgejoUrl, merged.forgejoToken + merged.forgejoUsername);
  requireUrl('gitlab', merged.gitlabUrl, merged.gitlabToken + merged.gitlabUsername);
  return merged;
}

function mergeToken(stored: string, given: string | null | undefined): string {
  if (given === null) return '';
  return given === undefined || given.trim() === '' ? stored : given.trim();
}

function toDistinct(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '');
}

/** In its one spelling, without a slash at the end, as paths are put behind it. */
function parseForgeUrl(text: string, field: string): string {
  if (text.trim() === '') return '';
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  if (isPlain) return (url.origin + url.pathname).replace(/\/+$/, '');
  const message = `Expected ${field} to be an http or https URL without credentials, query or fragment.`;
  throw new AppError('invalid_input', message, { field });
}

function requireUrl(forge: 'forgejo' | 'gitlab', url: string, needsIt: string): void {
  if (url !== '' || needsIt === '') return;
  const message = `Expected ${forge}Url, as a token or a username of that forge is set; it is empty.`;
  throw new AppError('invalid_input', message, { field: `${forge}Url` });
}
