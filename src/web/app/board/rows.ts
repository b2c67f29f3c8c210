import type { components } from '../../../generated/dashboard/client.js';

type Schemas = components['schemas'];
export type Board = Schemas['Dashboard'];
export type PullRequest = Schemas['PullRequest'];
export type Issue = Schemas['Issue'];
export type ForgeName = Schemas['ForgeName'];
export type Section = Schemas['Section'];
export type CiStatus = Schemas['CiStatus'];

/** A deeply mutable `T`, as request bodies of the client are typed. */
export type Writable<T> = T extends object ? { -readonly [Name in keyof T]: Writable<T[Name]> } : T;

/** Returns the unique, stable key of a pull request or issue. */
export const getRowKey = ({ forge, repo, number }: Pick<PullRequest, 'forge' | 'number' | 'repo'>): string =>
  `${forge} ${repo} ${number}`;

/** Returns the unique key of a repository: two forges may have repositories of the same name. */
export const getRepositoryKey = ({ forge, repo }: Pick<PullRequest, 'forge' | 'repo'>): string => `${forge} ${repo}`;

/** Returns the display name of the repository of a row. */
export const formatRepository = ({ forge, repo }: Pick<PullRequest, 'forge' | 'repo'>): string =>
  `${repo} (${FORGE_NAMES[forge]})`;

/** Returns the display name of a repository. */
export const formatRepositoryName = ({ forge, fullName }: Board['repos'][number]): string =>
  formatRepository({ forge, repo: fullName });

/** Returns the request body that identifies a pull request. */
export const toTarget = ({ forge, repo, number }: PullRequest) => ({ forge, fullName: repo, number });

export const FORGE_NAMES: Readonly<Record<ForgeName, string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo',
  gitlab: 'GitLab',
};

export const SECTION_NAMES: Readonly<Record<Section, string>> = {
  needs_your_review: 'Needs your review',
  returned_to_you: 'Needs your changes',
  ready_to_merge: 'Ready to merge',
  waiting_for_others: 'Waiting for others',
  drafts: 'Drafts',
};

export const CI_NAMES: Readonly<Record<CiStatus, string>> = {
  success: 'Passing',
  failure: 'Failing',
  pending: 'Running',
  none: 'No checks',
};

/** Returns the CI status of a row, with the reason if it is unknown. */
export const toCiState = ({ ci, ciKnown }: PullRequest) =>
  ciKnown === false
    ? { name: 'CI unknown', hint: 'CI unknown: the token can’t read checks' }
    : { name: CI_NAMES[ci], hint: undefined };
