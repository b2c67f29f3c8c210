/**
 * Runs everything that a change must pass: the quick checks, then the tests, then the checks of what was built. A group
 * with a failure is the last one, so that a missing semicolon is reported before the tests run.
 *
 * Usage: npm run check
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** The npm scripts of each group with their arguments, the longest first. */
const GROUPS: readonly (readonly string[])[] = [
  [
    ...['lint:code', 'typecheck', 'build', 'generate:check', 'lint:format'],
    ...['lint:spelling', 'lint:unused', 'lint:words', 'lint:contracts', 'contracts:diff -- --since-release'],
  ],
  ['test -- --json --outputFile=.cache/jest.json'],
  // The last one includes `check:client`: both build the same folder, so they must not run at the same time.
  ['bench:smoke', 'check:packages'],
];

/** The number of steps that run at the same time. */
const LANES = 2;

for (const group of GROUPS) {
  const failed = await runGroup(group);
  for (const step of failed) console.log(`FAILED: npm run ${step}`);
  if (failed.length === 0) continue;
  process.exitCode = 1;
  break;
}

/** Runs the steps of a group and returns those that failed. */
async function runGroup(steps: readonly string[]): Promise<string[]> {
  const waiting = [...steps];
  const failed: string[] = [];
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift())
      if (!(await run(step, steps.length === 1))) failed.push(step);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return failed;
}

/** Runs a step. Its output appears at its end, so that it does not mix with that of others, unless it runs alone. */
async function run(step: string, isAlone: boolean): Promise<boolean> {
  const startedAt = performance.now();
  const stdio = isAlone ? 'inherit' : 'pipe';
  const child = spawn('npm', ['run', '--silent', ...step.split(' ')], { stdio: ['ignore', stdio, stdio] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const output = await Promise.all([child.stdout, child.stderr].map(async (stream) => (stream ? text(stream) : '')));
  const isPassed = (await ended) === 0;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`== ${step}: ${isPassed ? 'passed' : 'FAILED'} in ${seconds} s\n${output.join('')}`);
  return isPassed;
}
