import type { Command } from 'commander';
import type { StartupError } from '../config/startup-error.js';
import { toJson, toPrintable } from './secrets/terminal.js';

/** Runs the command that the arguments of the process name, and reports an expected failure in one line. */
export async function runProgram(program: Command): Promise<void> {
  markRequired(program);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!isExpected(error)) throw error;
    process.stderr.write(formatFailure(error, wantsJson(process.argv)));
    process.exitCode = error.exitCode;
  }
}

/** Adds to the help which options a command cannot run without. */
function markRequired(command: Command): void {
  for (const option of command.options.filter(({ mandatory }) => mandatory)) option.description += ' (required)';
  for (const one of command.commands) markRequired(one);
}

/** Checks the name, as a bundle has a class of its own. */
const isExpected = (error: unknown): error is StartupError => (error as Error | undefined)?.name === 'StartError';

/** Whether the arguments have `--json`; those after `--` are for a different program. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}

/** Returns the line for a failure, which may contain texts of a service; nothing when its message has been printed. */
export function formatFailure(
  { message, exitCode }: Pick<StartupError, 'exitCode' | 'message'>,
  json: boolean,
): string {
  if (message === '') return '';
  return json ? toJson({ error: message, exit_code: exitCode }, 0) : `trellis: ${toPrintable(message)}\n`;
}
