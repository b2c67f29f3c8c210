import { open } from 'node:fs/promises';
import { CommandError } from '../../../config/startup-error.js';
import { toVariable } from '../../../sealing/env-names.js';
import { EXIT } from '../options.js';

/** The secrets that commands of a repository may get. */
export interface SecretsMap {
  readonly file: string;
  readonly entries: readonly MapEntry[];
  /** The commands that agents may run. */
  readonly commands: readonly MapCommand[];
}

interface MapEntry {
  readonly slug: string;
  /** The variable; the usual one for the name when absent. */
  readonly variable?: string;
}

/** The file in a repository with the allowed secrets. */
export const MAP_FILE = 'trellis.secrets.yaml';

/** Well above the size of any useful file. */
const MAX_BYTES = 65_536;

const SLUG = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

const VARIABLE = /^[A-Za-z_]\w*$/;

/**
 * Reads the map of a repository.
 *
 * @param named The file that the user names, which must exist; otherwise {@link MAP_FILE} is read, which may be absent.
 * @throws CommandError for a file that cannot be read or is invalid.
 */
export async function readSecretsMap(named: string | undefined): Promise<SecretsMap | undefined> {
  const file = named ?? MAP_FILE;
  const text = await read(file, named !== undefined);
  if (text === undefined) return undefined;
  // Loaded late, as most commands need no YAML.
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    const [line] = (error as Error).message.split('\n');
    throw new CommandError(`${file}: not valid YAML: ${line ?? ''}`, EXIT.usage);
  }
  const { secrets, commands, ...others } = Object(content) as Readonly<Record<string, unknown>>;
  const entries = Object.keys(others).length > 0 ? undefined : toEntries(secrets);
  if (entries === undefined) {
    const expected = 'expected "secrets" with a list of names, or with variables and their names';
    throw new CommandError(`${file}: ${expected}`, EXIT.usage);
  }
  const variables = entries.map(toEntryVariable);
  return { file, entries, commands: parseMapCommands(commands, { file, variables }) };
}

async function read(file: string, isRequired: boolean): Promise<string | undefined> {
  const handle = await open(file).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isRequired) return undefined;
    throw new CommandError(`${file}: the file can't be read: ${code ?? 'unknown error'}`, EXIT.usage);
  });
  try {
    const { bytesRead, buffer } = (await handle?.read(Buffer.alloc(MAX_BYTES + 1), 0)) ?? {};
    if (bytesRead === undefined || buffer === undefined) return undefined;
    if (bytesRead <= MAX_BYTES) return buffer.toString('utf8', 0, bytesRead);
    throw new CommandError(`${file}: expected at most ${MAX_BYTES} bytes`, EXIT.usage);
  } finally {
    await handle?.close();
  }
}

function toEntries(secrets: unknown): readonly MapEntry[] | undefined {
  if (typeof secrets !== 'object' || secrets === null) return undefined;
  const entries: readonly unknown[] = Array.isArray(secrets)
    ? secrets.map((slug) => ({ slug: slug as unknown }))
    : Object.entries(secrets).map(([variable, slug]) => ({ variable, slug: slug as unknown }));
  return entries.length > 0 && entries.every(isEntry) ? entries : undefined;
}

function isEntry(entry: unknown): entry is MapEntry {
  const { slug, variable } = entry as { readonly slug: unknown; readonly variable?: unknown };
  const hasVariable = variable === undefined || (typeof variable === 'string' && VARIABLE.test(variable));
  return typeof slug === 'string' && SLUG.test(slug) && hasVariable;
}

/** Returns the variable of an entry. */
export const toEntryVariable = ({ slug, variable }: MapEntry): string => variable ?? toVariable(slug);

/** A command that an agent may run. */
export interface MapCommand {
  readonly name: string;
  readonly description: string | undefined;
  /** The program and its arguments, with placeholders such as `{target}`. */
  readonly run: readonly string[];
  /** The variables that the command gets. */
  readonly variables: readonly string[];
  readonly parameters: readonly MapParameter[];
  readonly timeoutSeconds: number;
  /** Whether agents see the output, with the values masked, or only the exit code. */
  readonly hasOutput: boolean;
}

/** A value that agents may choose: one of a list, or a text that matches a pattern as a whole. */
export interface MapParameter {
  readonly name: string;
  readonly allowed: readonly string[] | RegExp;
}

/** The longest text that matches a pattern, in characters. */
export const MAX_PARAMETER_LENGTH = 256;

const DEFAULT_TIMEOUT_SECONDS = 300;

const MAX_TIMEOUT_SECONDS = 3600;

const NAME = /^[a-z][a-z0-9_-]{0,47}$/;

const PLACEHOLDER = /\{([a-z][a-z0-9_-]{0,47})\}/g;

const FIELDS = new Set(['arguments', 'description', 'output', 'run', 'secrets', 'timeoutSeconds']);

interface Place {
  readonly file: string;
  /** The variables of the map. */
  readonly variables: readonly string[];
}

/** @throws CommandError with the command and the field that is invalid. */
function parseMapCommands(content: unknown, place: Place): readonly MapCommand[] {
  if (content === undefined) return [];
  if (!isRecord(content)) throw invalid(place, 'commands', 'commands with their names');
  return Object.entries(content).map(([name, command]) => parseCommand(name, command, place));
}

function parseCommand(name: string, content: unknown, place: Place): MapCommand {
  const at = `commands.${name}`;
  if (!NAME.test(name)) throw invalid(place, at, 'a name of lower-case letters, digits, _ and -');
  if (!isRecord(content)) throw invalid(place, at, '"run" and other fields');
  const unknown = Object.keys(content).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) throw invalid(place, `${at}.${unknown}`, `only the fields ${[...FIELDS].join(', ')}`);
  const { description, run, secrets = place.variables, output = 'masked' } = content;
  const { arguments: parameters = {}, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = content;
  if (!isTexts(run) || !run[0]) throw invalid(place, `${at}.run`, 'a list with a program and its arguments');
  if (description !== undefined && typeof description !== 'string') throw invalid(place, `${at}.description`, 'a text');
  if (!isTexts(secrets) || !secrets.every((variable) => place.variables.includes(variable))) {
    throw invalid(place, `${at}.secrets`, 'a list of variables of the map');
  }
  if (output !== 'masked' && output !== 'none') throw invalid(place, `${at}.output`, '"masked" or "none"');
  if (!isTimeout(timeoutSeconds)) {
    throw invalid(place, `${at}.timeoutSeconds`, `a whole number from 1 to ${MAX_TIMEOUT_SECONDS}`);
  }
  const command = { name, description, run, variables: secrets, timeoutSeconds, hasOutput: output === 'masked' };
  return withParameters(command, parseParameters(parameters, { ...place, at: `${at}.arguments` }), place);
}

function parseParameters(content: unknown, place: Place & { readonly at: string }): readonly MapParameter[] {
  if (!isRecord(content)) throw invalid(place, place.at, 'names with lists of values, or with patterns');
  return Object.entries(content).map(([name, allowed]) => {
    const at = `${place.at}.${name}`;
    if (!NAME.test(name)) throw invalid(place, at, 'a name of lower-case letters, digits, _ and -');
    if (isTexts(allowed) && allowed.length > 0) return { name, allowed };
    const pattern = typeof allowed === 'string' ? toPattern(allowed) : undefined;
    if (pattern === undefined) throw invalid(place, at, 'a list of texts, or a regular expression');
    return { name, allowed: pattern };
  });
}

/** Placeholders and parameters must match. The program is fixed, so an agent can't choose it. */
function withParameters(
  command: Omit<MapCommand, 'parameters'>,
  parameters: readonly MapParameter[],
  place: Place,
): MapCommand {
  const [program = '', ...args] = command.run;
  const used = new Set(args.flatMap((arg) => [...arg.matchAll(PLACEHOLDER)].map(([, name = '']) => name)));
  const at = `commands.${command.name}`;
  if (program.search(PLACEHOLDER) !== -1) throw invalid(place, `${at}.run`, 'a program without placeholders');
  const names = parameters.map(({ name }) => name);
  if (![...used].every((name) => names.includes(name)) || !names.every((name) => used.has(name))) {
    throw invalid(place, `${at}.arguments`, 'one entry for each placeholder of "run"');
  }
  return { ...command, parameters };
}

/** Replaces the placeholders of a command by values that its parameters allow. */
export function fillCommand({ run }: MapCommand, values: Readonly<Record<string, unknown>>): readonly string[] {
  return run.map((part) => part.replace(PLACEHOLDER, (_all, name: string) => String(values[name])));
}

function toPattern(source: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${source})$`, 'u');
  } catch {
    return undefined;
  }
}

function isTimeout(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_TIMEOUT_SECONDS;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && !each.includes('\0'));

const invalid = ({ file }: Place, at: string, expected: string): CommandError =>
  new CommandError(`${file}: ${at}: expected ${expected}`, EXIT.usage);
