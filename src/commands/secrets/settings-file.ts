import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandError } from '../../config/startup-error.js';
import { EXIT } from './exit-codes.js';
import { nonEmpty } from './terminal.js';
import type { Environment } from './terminal.js';

/** The settings that `trellis secrets init` writes. */
export interface SettingsFile {
  readonly server?: string;
  readonly token?: string;
  readonly tokenCommand?: string;
  readonly caller?: string;
  readonly identityFile?: string;
  readonly identityCommand?: string;
}

const NAMES = ['server', 'token', 'tokenCommand', 'caller', 'identityFile', 'identityCommand'];

/** Well above the size of any valid file. */
const MAX_BYTES = 65_536;

/** Returns the folder of the user's settings and identity. */
export function settingsFolder(env: Environment): string {
  return join(nonEmpty(env.XDG_CONFIG_HOME) ?? join(nonEmpty(env.HOME) ?? homedir(), '.config'), 'trellis');
}

export function settingsPath(env: Environment): string {
  return nonEmpty(env.TRELLIS_SECRETS_CONFIG) ?? join(settingsFolder(env), 'secrets.json');
}

/** @throws CommandFailure when other users can read or change it, or when it is invalid; messages never contain its content. */
export async function readSettingsFile(file: string): Promise<SettingsFile | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => throwUnreadable(error, file));
  if (text === undefined) return undefined;
  await assertPrivate(file);
  const settings = parse(text);
  if (settings !== undefined) return settings;
  throw new CommandError(`${file}: expected a JSON object with string members ${NAMES.join(', ')}`, EXIT.usage);
}

function throwUnreadable(error: unknown, file: string): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return undefined;
  throw new CommandError(`${file}: the file can't be read: ${code ?? 'unknown error'}`, EXIT.usage);
}

/** Windows has no file modes. */
async function assertPrivate(file: string): Promise<void> {
  const { mode } = await stat(file);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  throw new CommandError(`${file}: other users can read this file. Run chmod 600 on it`, EXIT.usage);
}

function parse(text: string): SettingsFile | undefined {
  if (text.length > MAX_BYTES) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    const entries = Object.entries(content as object);
    return entries.every(([name, value]) => NAMES.includes(name) && typeof value === 'string')
      ? (content as SettingsFile)
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeSettingsFile(file: string, settings: SettingsFile): Promise<void> {
  return writePrivateFile(file, `${JSON.stringify(settings, undefined, 2)}\n`);
}

/** Writes a file with mode 0600 atomically, and never into a file that other users have open. */
export async function writePrivateFile(file: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
