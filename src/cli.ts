#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const [, , first = '', , second] = process.argv;

// The reader of a pipe, such as "head", may have read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.stderr.write(`${formatOutputFailure(error)}\n`);
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

/** Like `formatFailure`, which this file does not load, because it starts every command. */
function formatOutputFailure({ code, message: reason }: NodeJS.ErrnoException): string {
  const message = `The output can't be written: ${code ?? reason}`;
  return process.argv.includes('--json') ? JSON.stringify({ error: message, exit_code: 1 }) : `trellis: ${message}`;
}
