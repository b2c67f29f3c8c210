import type { components } from '../../../generated/dashboard/client.js';

type Schemas = components['schemas'];
export type Board = Schemas['Dashboard'];
export type PullRequest = Schemas['PullRequest'];
export type Issue = Schemas['Issue'];
export type ForgeName = Schemas['ForgeName'];
export type Section = Schemas['Section'];
export type CiStatus = Schemas['CiStatus'];

/** The same, to be changed or sent: what is sent is typed as what may be changed. */
export type Writable<T> = T extends object ? { -readonly [Name in keyof T]: Writable<T[Name]> } : T;

/** What a pull request is called in this page, for ever. */
export const keyOf = ({ forge, repo, number }: Pick<PullRequest, 'forge' | 'number' | 'repo'>): string =>
  `${forge} ${repo} ${number}`;

/** A repository as people tell them apart: the same name may be on two forges. */
export const repoOf = ({ forge, repo }: Pick<PullRequest, 'forge' | 'repo'>): string => `${forge} ${repo}`;

/** The same for people. */
export const repoName = ({ forge, repo }: Pick<PullRequest, 'forge' | 'repo'>): string =>
  `${repo} (${FORGE_NAMES[forge]})`;

/** As `repoName` says, of what the board has of a repository. */
export const repositoryName = ({ forge, fullName }: Board['repos'][number]): string =>
  repoName({ forge, repo: fullName });

/** What operations on a pull request are sent. */
export const targetOf = ({ forge, repo, number }: PullRequest) => ({ forge, fullName: repo, number });

export const FORGE_NAMES: Readonly<Record<ForgeName, string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo',
  gitlab: 'GitLab',
};

export const SECTION_NAMES: Readonly<Record<Section, string>> = {
  needs_your_review: 'Needs your review',
  returned_to_you: 'Returned to you',
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

/** What the checks of a row say, with the reason where the forge did not give them. */
export const ciOf = ({ ci, ciKnown }: PullRequest) =>
  ciKnown === false
    ? { name: 'CI unknown', hint: 'CI unknown: the token may not read checks' }
    : { name: CI_NAMES[ci], hint: undefined };
