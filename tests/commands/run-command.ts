import { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import type { OutputStreams } from '../../src/commands/server-options.js';
import { StartupError } from '../../src/config/startup-error.js';

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process, like the command line. */
export async function runCommand(
  make: (streams: OutputStreams) => Command,
  args: readonly string[],
): Promise<CommandOutcome> {
  const said = { out: '', err: '' };
  const stream = (name: 'err' | 'out') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        said[name] += chunk.toString();
        done();
      },
    });
  const command = make({ out: stream('out'), err: stream('err') });
  for (const each of [command, ...command.commands]) {
    each.exitOverride().configureOutput({ writeErr: (text) => (said.err += text) });
  }
  try {
    await command.parseAsync(args, { from: 'user' });
    return { code: 0, ...said };
  } catch (error) {
    // The command line prints these errors; commander has printed its own.
    if (error instanceof StartupError) said.err += `${error.message}\n`;
    else if (!(error instanceof CommanderError)) throw error;
    return { code: 1, ...said };
  }
}
