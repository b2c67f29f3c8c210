import type { Argument, Command, Option } from 'commander';

/** What may stand next on a command line. */
export interface Completion {
  readonly value: string;
  readonly description: string;
}

export interface Completions {
  readonly found: readonly Completion[];
  /** Whether a path may stand there as well. */
  readonly files: boolean;
}

/** Gives the names that the service knows of a placeholder, such as those of objects for `<object>`. */
export type FindNames = (placeholder: string) => Promise<readonly string[]>;

interface Place {
  readonly command: Command;
  /** How many arguments stand before. */
  readonly position: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
  /** Behind `--`, where another program's arguments are. */
  readonly isForeign: boolean;
}

const NOTHING: Completions = { found: [], files: false };
const FILES: Completions = { found: [], files: true };

/**
 * What may stand at the end of a command line, by what the program says of itself.
 *
 * @param words Those behind the program's name; the last is begun, or empty.
 */
export async function complete(program: Command, words: readonly string[], findNames: FindNames): Promise<Completions> {
  const current = words.at(-1) ?? '';
  const { command, position, option, isForeign } = findPlace(program, words.slice(0, -1));
  if (isForeign) return FILES;
  const [, flag, begun = ''] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  const joined = flag === undefined ? undefined : findOption(command, flag);
  if (joined) return prefixed(startingWith(await valuesOf(joined, findNames), begun), `${joined.long ?? ''}=`);
  if (option) return startingWith(await valuesOf(option, findNames), current);
  if (current.startsWith('-')) return startingWith({ found: optionsOf(command), files: false }, current);
  if (command.commands.length > 0) return startingWith({ found: commandsOf(command), files: false }, current);
  const argument = command.registeredArguments[position] ?? findVariadic(command);
  return argument ? startingWith(await valuesOf(argument, findNames), current) : NOTHING;
}

function findPlace(program: Command, words: readonly string[]): Place {
  let command = program;
  let position = 0;
  let option: Option | undefined;
  for (const word of words) {
    // bash takes --flag=value apart at the sign.
    if (word === '=') continue;
    if (option) option = undefined;
    else if (word === '--') return { command, position, option, isForeign: true };
    else if (word.startsWith('-')) option = word.includes('=') ? undefined : takesValue(findOption(command, word));
    else {
      const inner = command.commands.find((each) => each.name() === word);
      command = inner ?? command;
      position = inner ? 0 : position + 1;
    }
  }
  return { command, position, option, isForeign: false };
}

const findOption = (command: Command, word: string): Option | undefined =>
  command.options.find(({ long, short }) => long === word || short === word);

const takesValue = (option: Option | undefined): Option | undefined =>
  option && (option.required || option.optional) ? option : undefined;

const findVariadic = (command: Command): Argument | undefined => {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
};

const optionsOf = (command: Command): Completion[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));

const commandsOf = (command: Command): Completion[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), description: each.description() }));

/** By choices, or by what the placeholder says. */
async function valuesOf(taker: Argument | Option, findNames: FindNames): Promise<Completions> {
  if (taker.argChoices) return { found: taker.argChoices.map(toCompletion), files: false };
  const placeholder = 'flags' in taker ? (/[<[]([\w-]+)/.exec(taker.flags)?.[1] ?? '') : taker.name();
  if (['file', 'folder'].includes(placeholder)) return FILES;
  return { found: (await findNames(placeholder)).map(toCompletion), files: false };
}

const toCompletion = (value: string): Completion => ({ value, description: '' });

const startingWith = ({ found, files }: Completions, begun: string): Completions => ({
  found: found.filter(({ value }) => value.startsWith(begun)),
  files,
});

const prefixed = ({ found, files }: Completions, prefix: string): Completions => ({
  found: found.map(({ value, description }) => ({ value: prefix + value, description })),
  files,
});
