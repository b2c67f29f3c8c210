/**
 * Repeats browser tests once: files that failed while nothing else did.
 *
 * `again.js RESULTS` prints the files to run again, and fails where something else failed too.
 * `again.js RESULTS REPEATED` replaces those results by the repeated ones, and lists the unsteady files.
 */
import console from 'node:console';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const [, , file, repeatedFile] = process.argv;
const read = (name) => JSON.parse(readFileSync(name, 'utf8'));
const pathOf = ({ name }) => path.relative(process.cwd(), name);
const results = read(file);
const failed = results.testResults.filter(({ status }) => status === 'failed');

if (repeatedFile === undefined) list();
else replace(read(repeatedFile));

function list() {
  const isOfPages = failed.length > 0 && failed.every((one) => pathOf(one).startsWith('tests/e2e/'));
  if (isOfPages) console.log(failed.map(pathOf).join('\n'));
  else process.exitCode = 1;
}

function replace(repeated) {
  const others = results.testResults.filter((one) => !failed.includes(one));
  for (const one of failed) console.log(`UNSTEADY: ${pathOf(one)} failed, and was run again.`);
  const kept = { testResults: [...others, ...repeated.testResults], ...recount(repeated) };
  writeFileSync(file, JSON.stringify({ ...results, ...kept }));
}

/** Subtracts the counts of the failed files and adds those of their repetition. */
function recount(repeated) {
  const count = (status) => failed.flatMap((one) => one.assertionResults).filter((one) => one.status === status).length;
  const brokenSuites = failed.filter(({ assertionResults }) => assertionResults.length === 0).length;
  return {
    numPassedTests: results.numPassedTests - count('passed') + repeated.numPassedTests,
    numFailedTests: results.numFailedTests - count('failed') + repeated.numFailedTests,
    numPendingTests: results.numPendingTests - count('pending') + repeated.numPendingTests,
    numRuntimeErrorTestSuites: results.numRuntimeErrorTestSuites - brokenSuites + repeated.numRuntimeErrorTestSuites,
  };
}
