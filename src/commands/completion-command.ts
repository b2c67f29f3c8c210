import { Argument, Command } from 'commander';
import { complete } from './completion/complete.js';
import type { FindNames } from './completion/complete.js';
import { COMPLETION_SCRIPTS, SHELLS } from './completion/scripts.js';
import type { Shell } from './completion/scripts.js';

export interface CompletionContext {
  readonly out: NodeJS.WritableStream;
  readonly findNames: FindNames;
}

/** `trellis completion`: prints the completion script of a shell. */
export function completionCommand({ out }: Pick<CompletionContext, 'out'>): Command {
  return new Command('completion')
    .description('Print a shell completion script')
    .addArgument(new Argument('<shell>', 'shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(trellis completion bash)                                  # in ~/.bashrc
  source <(trellis completion zsh)                                   # in ~/.zshrc, after compinit
  trellis completion fish > ~/.config/fish/completions/trellis.fish`,
    )
    .action((shell: Shell) => void out.write(COMPLETION_SCRIPTS[shell]));
}

/** `trellis complete`, hidden: called by the completion scripts. */
export function completeCommand(program: Command, { out, findNames }: CompletionContext): Command {
  return new Command('complete').argument('[words...]').action(async (words: readonly string[]) => {
    const { candidates, files } = await complete(program, words, findNames);
    out.write(candidates.map(({ value, description }) => `${value}\t${firstLine(description)}\n`).join(''));
    if (files) out.write(':files\n');
  });
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
