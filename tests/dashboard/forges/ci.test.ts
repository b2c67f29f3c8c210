import { ciFromCombinedStatus } from '../../../src/dashboard/forges/forgejo/details.js';
import {
  type CheckRun,
  ciFromCheckRuns,
  ciFromRollup,
  type Rollup,
} from '../../../src/dashboard/forges/github/checks.js';
import { toMergeStatus } from '../../../src/dashboard/forges/github/parse.js';
import { ciFromPipeline } from '../../../src/dashboard/forges/gitlab/details.js';

const counts = (states: string) =>
  states === ''
    ? []
    : states.split(' ').map((state) => ({ state: state.replace('!', ''), count: state.endsWith('!') ? 0 : 1 }));
const rollup = (state: string, checkRuns = '', statuses = ''): Rollup => ({
  state,
  checkRuns: counts(checkRuns),
  statuses: counts(statuses),
});

test.each<[string, Rollup | null, string | undefined]>([
  ['it is null', null, 'none'],
  ['it succeeds', rollup('SUCCESS', 'SUCCESS SKIPPED'), 'success'],
  ['all runs were skipped', rollup('SUCCESS', 'SKIPPED'), 'success'],
  ['it is pending', rollup('PENDING', 'IN_PROGRESS'), 'pending'],
  ['it is expected', rollup('EXPECTED', '', 'EXPECTED'), 'pending'],
  ['its state is unknown', rollup('ODD'), undefined],
  ['a run failed', rollup('FAILURE', 'FAILURE SUCCESS'), 'failure'],
  ['it is in error', rollup('ERROR', '', 'ERROR'), 'failure'],
  ...['FAILURE', 'TIMED_OUT', 'ACTION_REQUIRED', 'STARTUP_FAILURE'].map((state): [string, Rollup, string] => [
    `a run ended with ${state} and others are running`,
    rollup('FAILURE', `${state} IN_PROGRESS`),
    'failure',
  ]),
  ...['FAILURE', 'ERROR'].map((state): [string, Rollup, string] => [
    `a status is ${state} and a run is queued`,
    rollup('FAILURE', 'QUEUED', state),
    'failure',
  ]),
  ...['QUEUED', 'IN_PROGRESS', 'PENDING'].map((state): [string, Rollup, string] => [
    `a run was cancelled and another is ${state}`,
    rollup('FAILURE', `CANCELLED ${state}`),
    'pending',
  ]),
  ['a run was cancelled and a status is pending', rollup('FAILURE', 'CANCELLED', 'PENDING'), 'pending'],
  ['a run was cancelled and nothing is running', rollup('FAILURE', 'CANCELLED SUCCESS'), 'failure'],
  ['the count of failures is zero', rollup('FAILURE', 'CANCELLED FAILURE! QUEUED'), 'pending'],
  ['the count of queued runs is zero', rollup('FAILURE', 'CANCELLED QUEUED!'), 'failure'],
  ['counts are missing', { state: 'FAILURE' }, 'failure'],
  ['counts of runs are null', { state: 'FAILURE', checkRuns: null, statuses: counts('PENDING') }, 'failure'],
  ['counts of statuses are missing', { state: 'FAILURE', checkRuns: counts('CANCELLED QUEUED') }, 'failure'],
])('ciFromRollup: computes the CI status when %s', (_reason, given, ci) => {
  expect(ciFromRollup(given)).toBe(ci);
});

const runs = (states: string): CheckRun[] =>
  states
    .split(' ')
    .map((state) =>
      state.startsWith('~') ? { status: state.slice(1), conclusion: null } : { status: 'completed', conclusion: state },
    );

test.each<[string, CheckRun[], string]>([
  ['there are no runs', [], 'none'],
  ['all succeed', runs('success neutral'), 'success'],
  ['all were skipped', runs('skipped'), 'success'],
  ['one is queued', runs('success ~queued'), 'pending'],
  ['one is in progress', runs('~in_progress skipped'), 'pending'],
  ['one failed and others are running', runs('failure ~in_progress'), 'failure'],
  ['one timed out', runs('timed_out success'), 'failure'],
  ['one requires an action', runs('action_required ~queued'), 'failure'],
  ['one could not start', runs('startup_failure'), 'failure'],
  ['one was cancelled and others are queued', runs('cancelled ~queued'), 'pending'],
  ['one was cancelled', runs('cancelled success'), 'failure'],
])('ciFromCheckRuns: computes the CI status when %s', (_reason, given, ci) => {
  expect(ciFromCheckRuns(given)).toBe(ci);
});

test.each([
  ['success', 'success'],
  ['failure', 'failure'],
  ['error', 'failure'],
  ['pending', 'pending'],
  ['warning', 'pending'],
  ['skipped', 'success'],
  ['', 'none'],
  ['odd', undefined],
  [undefined, undefined],
])('ciFromCombinedStatus: converts %p to %s', (state, ci) => {
  expect(ciFromCombinedStatus(state)).toBe(ci);
});

test.each([
  ['success', 'success'],
  ['SUCCESS', 'success'],
  ['failed', 'failure'],
  ['canceled', 'failure'],
  ['canceling', 'pending'],
  ['created', 'pending'],
  ['waiting_for_resource', 'pending'],
  ['waiting_for_callback', 'pending'],
  ['preparing', 'pending'],
  ['pending', 'pending'],
  ['running', 'pending'],
  ['manual', 'pending'],
  ['scheduled', 'pending'],
  ['skipped', 'none'],
  ['odd', undefined],
  [null, 'none'],
  [undefined, 'none'],
])('ciFromPipeline: converts %p to %s', (status, ci) => {
  expect(ciFromPipeline(status)).toBe(ci);
});

test.each([
  ['MERGEABLE', 'CLEAN', 'mergeable'],
  ['MERGEABLE', 'HAS_HOOKS', 'mergeable'],
  ['MERGEABLE', 'UNSTABLE', 'unstable'],
  ['MERGEABLE', 'BLOCKED', 'blocked'],
  ['MERGEABLE', 'BEHIND', 'blocked'],
  ['MERGEABLE', 'DRAFT', 'blocked'],
  ['CONFLICTING', 'DIRTY', 'conflicting'],
  ['CONFLICTING', 'UNKNOWN', 'conflicting'],
  ['UNKNOWN', 'DIRTY', 'conflicting'],
  ['UNKNOWN', 'UNKNOWN', 'unknown'],
  ['MERGEABLE', 'ODD', 'unknown'],
])('toMergeStatus: combines %s and %s to %s', (mergeable, state, status) => {
  expect(toMergeStatus(mergeable, state)).toBe(status);
});
