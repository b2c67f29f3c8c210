import { spawn } from 'node:child_process';
import { CommandError } from '../../../config/startup-error.js';
import type { CommandContext } from '../context.js';
import { EXIT } from '../options.js';
import { withoutCredentials } from '../settings.js';
import { writeOutput } from '../terminal.js';

interface HookInput {
  readonly slug: string;
  readonly value: Uint8Array;
}

/**
 * Runs a command of the user with a new value on standard input, and its name in `TRELLIS_SECRET`.
 *
 * @throws CommandError if it fails; the value stays stored.
 */
export async function runHook(
  { terminal }: CommandContext,
  command: string,
  { slug, value }: HookInput,
): Promise<void> {
  const env = { ...withoutCredentials(terminal.env), TRELLIS_SECRET: slug };
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'pipe'], env });
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code ?? 'unknown'}`)));
  });
  // A command that does not read its input is not an error.
  child.stdin.on('error', () => undefined);
  child.stdin.end(value);
  const copy = async (stream: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of stream) await writeOutput(terminal.err, chunk);
  };
  const [reason] = await Promise.all([ended, copy(child.stdout), copy(child.stderr)]);
  if (reason === undefined) return;
  throw new CommandError(
    `The new value of ${slug} is stored, but its hook failed: ${reason}. "trellis secrets restore" restores the previous one`,
    EXIT.failed,
  );
}
