import { Argument, Command, type Option } from 'commander';

interface CompletionContext {
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

/** The candidates for the next word of a command line. */
interface CompletionCandidate {
  readonly value: string;
  readonly description: string;
}

interface CompletionResult {
  readonly candidates: readonly CompletionCandidate[];
  /** Whether a path is accepted too. */
  readonly files: boolean;
}

/** The options of the words so far, as the action of their command gets them. */
export type GivenOptions = Readonly<Record<string, string | true>>;

/** Lists the names of a placeholder, such as the names of secrets for `<secret>`. */
type FindNames = (placeholder: string, options: GivenOptions) => Promise<readonly string[]>;

interface Place {
  readonly command: Command;
  /** The number of preceding arguments. */
  readonly position: number;
  /** The option that expects a value. */
  readonly option: Option | undefined;
  readonly given: GivenOptions;
  /** Whether the word is after `--`, in the arguments of a different program. */
  readonly isForeign: boolean;
}

const NOTHING: CompletionResult = { candidates: [], files: false };
const FILES: CompletionResult = { candidates: [], files: true };

/**
 * Returns the candidates for the last word of a command line, from the definition of the program.
 *
 * @param words The words after the name of the program; the last one is incomplete or empty.
 */
export async function complete(program: Command, words: readonly string[], find: FindNames): Promise<CompletionResult> {
  const current = words.at(-1) ?? '';
  const { command, position, option, given, isForeign } = findPlace(program, words.slice(0, -1));
  const findNames = (placeholder: string) => find(placeholder, given);
  if (isForeign) return FILES;
  const [, flag, begun = ''] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  const joined = flag === undefined ? undefined : findOption(command, flag);
  if (joined) return prefixed(startingWith(await valuesOf(joined, findNames), begun), `${joined.long ?? ''}=`);
  if (option) return startingWith(await valuesOf(option, findNames), current);
  if (current.startsWith('-')) return startingWith({ candidates: optionsOf(command), files: false }, current);
  if (command.commands.length > 0) return startingWith({ candidates: commandsOf(command), files: false }, current);
  const argument = command.registeredArguments[position] ?? findVariadic(command);
  return argument ? startingWith(await valuesOf(argument, findNames), current) : NOTHING;
}

function findPlace(program: Command, words: readonly string[]): Place {
  let command = program;
  let position = 0;
  let option: Option | undefined;
  const given: Record<string, string | true> = {};
  for (const word of words) {
    // bash splits --flag=value at the equals sign.
    if (word === '=') continue;
    if (option) {
      given[option.attributeName()] = word;
      option = undefined;
    } else if (word === '--') return { command, position, option, given, isForeign: true };
    else if (word.startsWith('-')) {
      const [, flag = word, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
      const found = findOption(command, flag);
      if (value === undefined) option = takesValue(found);
      if (found && !option) given[found.attributeName()] = value ?? true;
    } else {
      const inner = command.commands.find((each) => each.name() === word);
      command = inner ?? command;
      position = inner ? 0 : position + 1;
    }
  }
  return { command, position, option, given, isForeign: false };
}

const findOption = (command: Command, word: string): Option | undefined =>
  command.options.find(({ long, short }) => long === word || short === word);

const takesValue = (option: Option | undefined): Option | undefined =>
  option && (option.required || option.optional) ? option : undefined;

const findVariadic = (command: Command): Argument | undefined => {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
};

const optionsOf = (command: Command): CompletionCandidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));

const commandsOf = (command: Command): CompletionCandidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), description: each.description() }));

/** Completes a value from its choices, or from the meaning of its placeholder. */
async function valuesOf(
  taker: Argument | Option,
  findNames: (placeholder: string) => ReturnType<FindNames>,
): Promise<CompletionResult> {
  if (taker.argChoices) return { candidates: taker.argChoices.map(toCompletion), files: false };
  const placeholder = 'flags' in taker ? (/[<[]([\w-]+)/.exec(taker.flags)?.[1] ?? '') : taker.name();
  if (['file', 'folder'].includes(placeholder)) return FILES;
  return { candidates: (await findNames(placeholder)).map(toCompletion), files: false };
}

const toCompletion = (value: string): CompletionCandidate => ({ value, description: '' });

const startingWith = ({ candidates, files }: CompletionResult, begun: string): CompletionResult => ({
  candidates: candidates.filter(({ value }) => value.startsWith(begun)),
  files,
});

const prefixed = ({ candidates, files }: CompletionResult, prefix: string): CompletionResult => ({
  candidates: candidates.map(({ value, description }) => ({ value: prefix + value, description })),
  files,
});

/** The supported shells. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

/**
 * The completion script of each shell. It calls `trellis complete` with the words
 * of the command line, without evaluating them, and reads a line
 * `value<TAB>description` for each word that may follow; `:files` stands for paths.
 */
const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  // macOS has bash 3.2, which lacks mapfile.
  bash: `# trellis completion for bash: source <(trellis completion bash)
_trellis() {
  local line current="\${COMP_WORDS[COMP_CWORD]}"
  [[ $current == = ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(trellis complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
}
complete -F _trellis trellis
`,
  zsh: `#compdef trellis
# trellis completion for zsh: source <(trellis completion zsh)
_trellis() {
  local line files
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
    else
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done < <(trellis complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe trellis found
  [[ -n $files ]] && { compset -P '--*='; _files; }
}
if [[ $funcstack[1] == _trellis ]]; then _trellis "$@"; else compdef _trellis trellis; fi
`,
  fish: `# trellis completion for fish: trellis completion fish | source
function __trellis_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (trellis complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ':files'
      set -l option (string match -r -- '^--[^=]*=' "$current")
      __fish_complete_path (string replace -- "$option" '' "$current") | string replace -r -- '^' "$option"
    else
      echo $line
    end
  end
end
complete -c trellis -f -a '(__trellis_complete)'
`,
};
