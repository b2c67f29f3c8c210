import { open } from 'node:fs/promises';
import { CommandError } from '../../../config/startup-error.js';
import { toVariable } from '../../../sealing/env-names.js';
import { EXIT } from '../exit-codes.js';
import { parseMapCommands, type MapCommand } from './map-commands.js';

/** The secrets that commands of a repository may get. */
export interface SecretsMap {
  readonly file: string;
  readonly entries: readonly MapEntry[];
  /** The commands that agents may run. */
  readonly commands: readonly MapCommand[];
}

export interface MapEntry {
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
