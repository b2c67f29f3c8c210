/** Opens all three forges through one interface, for tests of their common behaviour. */
import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import type { ForgeRequestsOptions } from '../../../src/dashboard/forges/http/requests.js';
import type { ForgeServer } from '../../forges/forge-server.js';
import { forgejoIssue, forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubIssue, githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabIssue, gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import type { ForgeEvent, TestHook } from '../../forges/hooks.js';
import { openForgejo } from './forgejo/open-forgejo.js';
import { openGithub } from './github/open-github.js';
import { openGitlab } from './gitlab/open-gitlab.js';
import type { OpenForge } from './open-forge.js';

interface CommonServer extends ForgeServer {
  repeatsPages: boolean;
  mayWriteHooks: boolean;
  deliver(fullName: string, event: Partial<ForgeEvent>): Promise<number[]>;
}

/** The numbers of pull requests and issues of a repository. Pull requests are numbered from 1. */
export interface Content {
  readonly pulls?: number;
  readonly issues?: number;
}

/** A repository that tests can change. */
export interface TestRepository {
  readonly hooks: TestHook[];
  /** Changes that clients must detect. */
  readonly changes: Readonly<
    Record<'an issue changes' | 'code is pushed' | 'a pull request changes' | 'a pull request is closed', () => void>
  >;
  /** Gives the user admin access or only write access. */
  setAdmin(isAdmin: boolean): void;
  /** Closes or merges the first pull request. */
  end(how: 'closed' | 'merged'): void;
  isMerged(): boolean;
}

export interface OpenAnyForge extends OpenForge<CommonServer> {
  readonly add: (fullName: string, content?: Content) => TestRepository;
  /** Deletes the repository that was added last. */
  readonly removeLast: () => void;
  /** Returns the number of requests that changed something. */
  readonly writes: () => number;
}

const list = <T>(count: number, from: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(from + index));

const LATER = '2026-05-03T08:00:00Z';
const ISSUES_FROM = 5_000;

export const FORGES: Readonly<Record<ForgeName, (options?: Partial<ForgeRequestsOptions>) => Promise<OpenAnyForge>>> = {
  async github(options) {
    const opened = await openGithub([], options);
    const { server } = opened;
    return {
      ...opened,
      removeLast: () => void server.repositories.pop(),
      writes: () => server.seen.filter(({ method, path }) => method !== 'GET' && path !== '/graphql').length,
      add(fullName, { pulls = 0, issues = 0 } = {}) {
        const repository = githubRepository(fullName, {
          pullRequests: list(pulls, 1, githubPullRequest),
          issues: list(issues, ISSUES_FROM, githubIssue),
        });
        server.repositories.push(repository);
        const { pullRequests, hooks } = repository;
        return {
          hooks,
          changes: {
            'a pull request changes': () => (pullRequests[0]!.updatedAt = LATER),
            'a pull request is closed': () => (pullRequests[1]!.state = 'CLOSED'),
            'an issue changes': () => (repository.issues[0]!.updatedAt = LATER),
            'code is pushed': () => (repository.pushedAt = LATER),
          },
          setAdmin: (isAdmin) => void (repository.viewerPermission = isAdmin ? 'ADMIN' : 'WRITE'),
          end: (how) => void (pullRequests[0]!.state = how === 'merged' ? 'MERGED' : 'CLOSED'),
          isMerged: () => pullRequests[0]!.state === 'MERGED',
        };
      },
    };
  },
  async forgejo(options) {
    const opened = await openForgejo([], options);
    const { server } = opened;
    return {
      ...opened,
      removeLast: () => void server.repositories.pop(),
      writes: () => server.seen.filter(({ method }) => method !== 'GET').length,
      add(fullName, { pulls = 0, issues = 0 } = {}) {
        const repository = forgejoRepository(fullName, {
          pullRequests: list(pulls, 1, forgejoPullRequest),
          issues: list(issues, ISSUES_FROM, forgejoIssue),
        });
        server.repositories.push(repository);
        const { pullRequests, hooks } = repository;
        return {
          hooks,
          changes: {
            'a pull request changes': () => (pullRequests[0]!.updatedAt = LATER),
            'a pull request is closed': () => (pullRequests[1]!.state = 'closed'),
            'an issue changes': () => (repository.issues[0]!.updatedAt = LATER),
            'code is pushed': () => (repository.updatedAt = LATER),
          },
          setAdmin: (isAdmin) => void (repository.admin = isAdmin),
          end: (how) => void Object.assign(pullRequests[0]!, { state: 'closed', merged: how === 'merged' }),
          isMerged: () => pullRequests[0]!.merged,
        };
      },
    };
  },
  async gitlab(options) {
    const opened = await openGitlab([], options);
    const { server } = opened;
    return {
      ...opened,
      removeLast: () => void server.projects.pop(),
      writes: () => server.seen.filter(({ method, path }) => method !== 'GET' && path !== '/api/graphql').length,
      add(fullName, { pulls = 0, issues = 0 } = {}) {
        const project = gitlabProject(fullName, {
          id: server.projects.length + 1,
          mergeRequests: list(pulls, 1, gitlabMergeRequest),
          issues: list(issues, ISSUES_FROM, gitlabIssue),
        });
        server.projects.push(project);
        const { mergeRequests, hooks } = project;
        return {
          hooks,
          changes: {
            'a pull request changes': () => (mergeRequests[0]!.updatedAt = LATER),
            'a pull request is closed': () => (mergeRequests[1]!.state = 'closed'),
            'an issue changes': () => (project.issues[0]!.updatedAt = LATER),
            'code is pushed': () => (project.lastActivityAt = LATER),
          },
          setAdmin: (isAdmin) => void (project.adminProject = isAdmin),
          end: (how) => void (mergeRequests[0]!.state = how),
          isMerged: () => mergeRequests[0]!.state === 'merged',
        };
      },
    };
  },
};

export const FORGE_NAMES = Object.keys(FORGES) as readonly ForgeName[];
