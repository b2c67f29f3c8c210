#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { formatFailure, wantsJson } from './commands/run-program.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const [, , first = '', , second] = process.argv;

// The reader of a pipe, such as "head", may have read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const message = `The output can't be written: ${error.code ?? error.message}`;
  if (error.code !== 'EPIPE') process.stderr.write(formatFailure({ message, exitCode: 1 }, wantsJson(process.argv)));
  process.exit(1);
});

// Scripts start commands of secrets often, and a shell starts one at each completion. Their program is bundled by the
// build, so it starts without the modules of the other commands. So do the commands of a project, which need no server.
if (['--version', '-V'].includes(first)) process.stdout.write(`${version}\n`);
else if (
  ['secrets', 'completion', 'login', 'logout', 'whoami'].includes(first) ||
  (first === 'complete' && second === 'secrets')
) {
  const { runSecretsProgram } = await import('./commands/secrets/program.js');
  await runSecretsProgram();
} else if (['init', 'generate', 'diff'].includes(first)) {
  const { runProjectProgram } = await import('./commands/project.js');
  await runProjectProgram(version);
} else {
  const { runWholeProgram } = await import('./program.js');
  await runWholeProgram(version);
}
