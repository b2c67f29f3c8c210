/**
 * Prints a short list of failures, as logs are truncated at their beginning, and then
 * "N passed, N failed". A suite that could not run is a failure.
 */
import console from 'node:console';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';

/** Further failures usually have the same cause. */
const MOST_TOLD = 30;

/** The lines of a message that show the expected and the received value. */
const MOST_LINES = 12;

const [, , file = ''] = process.argv;
const { testResults = [], ...counts } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0, numPendingTests = 0 } = counts;

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

for (const one of told.slice(0, MOST_TOLD)) console.log(`FAILED: ${one}`);
if (told.length > MOST_TOLD) console.log(`… and ${told.length - MOST_TOLD} more`);
if (numPendingTests > 0) console.log(`${numPendingTests} tests were skipped.`);
const failed = numFailedTests + numRuntimeErrorTestSuites;
console.log(`${numPassedTests} passed, ${failed} failed`);
process.exitCode = numPassedTests > 0 && failed === 0 ? 0 : 1;
