/** The program of `trellis secrets`, which the build bundles with all it needs. */
import { Command } from 'commander';
import { readEnvironment } from '../../config/environment.js';
import { runProgram, wantsJson } from '../run-program.js';
import { installLightFetch } from './light-fetch.js';
import { createSecretsCommand } from './options.js';
import { addRunCommand } from './run/run.js';
import type { Terminal } from './terminal.js';
import { addValueCommands } from './values.js';

/** The commands that scripts start often. The others are in a file of their own, which takes longer to load. */
const OFTEN: Readonly<Record<string, (secrets: Command, terminal: Terminal) => void>> = {
  get: addValueCommands,
  put: addValueCommands,
  rotate: addValueCommands,
  run: addRunCommand,
};

/** Runs the command that the arguments of the process name. */
export async function runSecretsProgram(release?: string): Promise<void> {
  installLightFetch();
  const terminal = {
    // Opened when a command reads it, as that takes a while.
    get in() {
      return process.stdin;
    },
    out: process.stdout,
    get err() {
      return process.stderr;
    },
    env: readEnvironment(),
    json: wantsJson(process.argv),
    ...(release !== undefined && { release }),
  };
  const [, , first, name = ''] = process.argv;
  const add = first === 'secrets' && Object.hasOwn(OFTEN, name) ? OFTEN[name] : undefined;
  const program = new Command('trellis');
  if (add) {
    const secrets = createSecretsCommand(terminal);
    add(secrets, terminal);
    program.addCommand(secrets);
  } else {
    const { addAllCommands } = await import('./secrets-command.js');
    addAllCommands(program, terminal);
  }
  await runProgram(program);
}
