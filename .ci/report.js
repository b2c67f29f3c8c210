/**
 * Prints a short list of failures, as logs are truncated at their beginning, and then
 * "N passed, N failed". A suite that could not run is a failure, and so is a test that was skipped for no known reason.
 */
import { spawnSync } from 'node:child_process';
import console from 'node:console';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';

/** Further failures usually have the same cause. */
const MOST_TOLD = 30;

/** The lines of a message that show the expected and the received value. */
const MOST_LINES = 12;

/** The tests that are skipped without a program, or the version of it, which a machine may be unable to install. */
const NEEDS = [
  { program: 'chromium', tests: /^tests\/e2e\// },
  { program: 'age', tests: /^tests\/sealing\/seal\.test\.ts › seal and open with the age program / },
  { program: 'age', since: 1.3, tests: /^tests\/sealing\/seal\.test\.ts › seal and open with .* post-quantum keys / },
  { program: 'age', tests: /^tests\/commands\/secrets\/values\.test\.ts › with the reference program / },
  { program: 'ruby', tests: /^tests\/commands\/secrets\/transfer\.test\.ts › .* is read alike by Ruby's parser$/ },
];

const [, , file = ''] = process.argv;
const { testResults = [], ...counts } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = counts;

/** Removes stack frames of libraries, and contents of pages, which the log shows above. */
const shorten = (message) =>
  stripVTControlCharacters(message)
    .split(/^\s*\S+ showed:$/m)[0]
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at .*(?:node_modules|<anonymous>)/.test(line))
    .slice(0, MOST_LINES)
    .map((line) => `    ${line}`)
    .join('\n');

const told = testResults.flatMap(({ name, message, assertionResults }) => {
  const where = path.relative(process.cwd(), name);
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return assertionResults.length === 0 && message ? [`${where}\n${shorten(message)}`] : [];
  return failed.map(
    ({ fullName, failureMessages }) => `${where} › ${fullName}\n${shorten(failureMessages.join('\n'))}`,
  );
});

const skipped = testResults.flatMap(({ name, assertionResults }) =>
  assertionResults
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => `${path.relative(process.cwd(), name)} › ${fullName}`),
);
const isMissing = ({ program, since = 0 }) => {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status !== 0 || Number.parseFloat(stdout.replace(/^\D+/, '')) < since;
};
const missing = skipped.length > 0 ? NEEDS.filter(isMissing) : [];
const unexpected = skipped.filter((test) => !missing.some(({ tests }) => tests.test(test)));
told.push(...unexpected.map((test) => `${test}\n    was skipped, but nothing that it needs is missing.`));

for (const one of told.slice(0, MOST_TOLD)) console.log(`FAILED: ${one}`);
if (told.length > MOST_TOLD) console.log(`… and ${told.length - MOST_TOLD} more`);
if (skipped.length > 0) console.log(`${skipped.length} tests were skipped.`);
const failed = numFailedTests + numRuntimeErrorTestSuites + unexpected.length;
console.log(`${numPassedTests} passed, ${failed} failed`);
process.exitCode = numPassedTests > 0 && failed === 0 ? 0 : 1;
