import { assertContractResponse } from '@trellis/server/rest/handle-operation';
import fc from 'fast-check';
import type { Board } from '../../../src/dashboard/boards/board.js';
import { formatAtom } from '../../../src/dashboard/boards/feeds.js';
import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import { operations } from '../../../src/generated/dashboard/operations.js';
import type { ForgeServer } from '../../forges/forge-server.js';
import { forgejoIssue, forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { FORGEJO_TOKEN } from '../../forges/forgejo.js';
import { githubIssue, githubPullRequest, githubRepository, githubStatus } from '../../forges/github-state.js';
import { GITHUB_TOKEN } from '../../forges/github.js';
import { gitlabIssue, gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { GITLAB_TOKEN } from '../../forges/gitlab.js';
import { openStage, type Stage } from './fixtures.js';

/** The number of runs per forge. `FUZZ=2000` sets a larger number, and `SEED` a different seed. */
const RUNS = Number(process.env.FUZZ ?? 25);

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const label = { name: 'bug', color: 'd73a4a' };
const own = { labels: [label], requested: ['lisa'] };
const numbers = [1, 2, 3];
const pulls = () =>
  numbers.map((number) =>
    githubPullRequest(number, { ...own, checks: [...githubPullRequest(1).checks, githubStatus()] }),
  );

interface Subject {
  readonly forge: ForgeName;
  readonly server: () => ForgeServer;
  readonly settings: () => object;
  /** Changes the update time of all pull requests, so that they are read again. */
  readonly touch: (time: string) => void;
}

function touchAll(items: readonly { updatedAt: string }[], time: string): void {
  for (const item of items) item.updatedAt = time;
}

const SUBJECTS: Readonly<Record<string, (on: Stage) => Subject>> = {
  'GitHub with a token': ({ github }) => {
    const repository = githubRepository('mona/shop', { pullRequests: pulls(), issues: [githubIssue(9, own)] });
    github.repositories.push(repository);
    const settings = () => ({ githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN });
    return {
      forge: 'github',
      server: () => github,
      settings,
      touch: (time) => touchAll(repository.pullRequests, time),
    };
  },
  'GitHub without a token': ({ github }) => {
    const repository = githubRepository('mona/shop', { pullRequests: pulls(), issues: [githubIssue(9, own)] });
    github.repositories.push(repository);
    const settings = () => ({ githubUrl: github.url, githubUsername: 'mona', githubToken: null });
    const touch = (time: string) => {
      touchAll(repository.pullRequests, time);
      github.budgets.anonymous.remaining = 60;
      github.budgets.search.remaining = 10;
    };
    return { forge: 'github', server: () => github, settings, touch };
  },
  Forgejo: ({ forgejo }) => {
    const pullRequests = numbers.map((number) => forgejoPullRequest(number, { labels: [label] as never }));
    forgejo.repositories.push(forgejoRepository('mona/shop', { pullRequests, issues: [forgejoIssue(9)] }));
    const settings = () => ({ forgejoUrl: forgejo.url, forgejoUsername: 'mona', forgejoToken: FORGEJO_TOKEN });
    return { forge: 'forgejo', server: () => forgejo, settings, touch: (time) => touchAll(pullRequests, time) };
  },
  GitLab: ({ gitlab }) => {
    const mergeRequests = numbers.map((number) => gitlabMergeRequest(number));
    gitlab.projects.push(gitlabProject('mona/shop', { mergeRequests, issues: [gitlabIssue(9)] }));
    const settings = () => ({ gitlabUrl: gitlab.url, gitlabUsername: 'mona', gitlabToken: GITLAB_TOKEN });
    return { forge: 'gitlab', server: () => gitlab, settings, touch: (time) => touchAll(mergeRequests, time) };
  },
};

const ODD: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, '', ' ', {}, [], [null], ['x'], { nodes: null }],
  ...['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '//elsewhere', 'http://a b/', 'https://x/%zz'],
  ...[
    'https://u:p@x/',
    'https://ä.example/ö?|',
    `https://x/${'y'.repeat(5_000)}`,
    'constructor',
    '__proto__',
    'x'.repeat(70_000),
  ],
  ...[
    '#ffffff',
    'red',
    '2026-02-31T00:00:00Z',
    '99999-01-01',
    '2026-05-01T23:59:60Z',
    'a\u0000b',
    '\ud800',
    '\u202e',
    'a/b/c',
  ],
];

interface Distortion {
  /** The index of the response, modulo 3. `place` is the index of the value in it. */
  readonly answer: number;
  readonly place: number;
  readonly value: unknown;
}

const distortions = fc.array(fc.record({ answer: fc.nat(2), place: fc.nat(2_000), value: fc.constantFrom(...ODD) }), {
  minLength: 1,
  maxLength: 3,
});

/** Lists all values of a JSON document, each by its parent and key. */
function listPlaces(json: unknown): (readonly [Record<string, unknown>, string])[] {
  if (typeof json !== 'object' || json === null) return [];
  const parent = json as Record<string, unknown>;
  return Object.keys(parent).flatMap((key) => [[parent, key] as const, ...listPlaces(parent[key])]);
}

function distort(body: unknown, values: readonly Distortion[]): unknown {
  const copy = JSON.parse(JSON.stringify(body)) as unknown;
  for (const { place, value } of values) {
    const places = listPlaces(copy);
    const [parent, key] = places[place % places.length] ?? [];
    if (parent !== undefined && key !== undefined) parent[key] = value;
  }
  return copy;
}

const getDashboard = operations.find(({ id }) => id === 'getDashboard')!;

/** Asserts that all links of a board use http or https. */
function expectLinks(board: Board): void {
  const links = [...board.pullRequests, ...board.issues, ...board.repos].map(({ url }) => url);
  expect(links.filter((url) => !/^https?:\/\//.test(url))).toEqual([]);
}

test.each(Object.keys(SUBJECTS))(
  'refresh: the board of %s conforms to the contract whatever values the forge sends',
  async (name) => {
    const { forge, server, settings, touch } = SUBJECTS[name]!(stage);
    const others = { githubToken: null, forgejoToken: null, gitlabToken: null };
    await stage.dashboard.settings.save(stage.ada, { ...others, ...settings() });
    let [time, shown] = [Date.parse('2026-06-01T00:00:00Z'), 0];
    const run = async (values: readonly Distortion[]): Promise<void> => {
      touch(new Date((time += 60_000)).toISOString());
      let answers = 0;
      server().distort = (body) => {
        const turn = answers++ % 3;
        return distort(
          body,
          values.filter(({ answer }) => answer === turn),
        );
      };
      const board = await stage.refresh();
      assertContractResponse(getDashboard, { status: 200, body: board });
      expectLinks(board);
      const { pullRequests } = board;
      formatAtom({ id: 'x', title: 'All', createdAt: 0, link: 'https://x/', pullRequests });
      shown += pullRequests.length;
      const opened = (await stage.dashboard.forges.of(stage.ada.personId)).get(forge);
      const checks = await opened?.checks({ fullName: 'mona/shop', number: 1 }).catch((error: unknown) => {
        expect(error).toMatchObject({ name: 'ForgeError' });
        return [];
      });
      const checksSpec = operations.find(({ id }) => id === 'listChecks')!;
      assertContractResponse(checksSpec, { status: 200, body: { checks } });
      expect(checks?.filter(({ url }) => !/^(https?:\/\/|$)/.test(url))).toEqual([]);
    };
    await fc.assert(fc.asyncProperty(distortions, run), { numRuns: RUNS, endOnFailure: true });
    expect(stage.reported).toEqual([]);
    // Most distorted values affect only one row, so the others are on the board.
    expect(shown).toBeGreaterThan(RUNS / 2);
  },
);

test('refresh: invalid values of a row are omitted or replaced', async () => {
  const pulled = [githubPullRequest(7, { labels: [label] }), githubPullRequest(8)];
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: pulled }));
  const change = {
    title: 'x'.repeat(3_000),
    url: 'javascript:alert(1)',
    author: { login: 5 },
    headRefName: null,
    labels: { nodes: [{ name: 'bug', color: 'red' }, { name: 5, color: 'ffffff' }, null, label] },
  };
  stage.github.distort = (body) =>
    JSON.parse(JSON.stringify(body), (_key, value: unknown) =>
      (value as { readonly number?: unknown } | null)?.number === 7 ? { ...(value as object), ...change } : value,
    );
  const { pullRequests } = await stage.refresh();
  const [odd, fine] = [7, 8].map((number) => pullRequests.find((one) => one.number === number));
  expect(odd).toMatchObject({
    url: 'https://github.com/acme/shop#7',
    labels: [{ name: 'bug', color: 'ededed' }, label],
    author: 'ghost',
    headBranch: '',
  });
  expect(odd?.title).toHaveLength(1_024);
  expect(fine?.url).toBe('https://github.com/acme/shop/pull/8');
});
