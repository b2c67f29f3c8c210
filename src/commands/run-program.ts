import type { Command } from 'commander';
import type { StartupError } from '../config/startup-error.js';

/** Runs the command that the arguments of the process name, and reports an expected failure in one line. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (!isExpected(error)) throw error;
    if (error.message !== '') process.stderr.write(`trellis: ${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

/** Checks the name, as a bundle has a class of its own. */
const isExpected = (error: unknown): error is StartupError => (error as Error | undefined)?.name === 'StartError';
