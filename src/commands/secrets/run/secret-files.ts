import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../../config/startup-error.js';
import { EXIT } from '../exit-codes.js';
import { type Environment, nonEmpty } from '../settings.js';

/** The types of `tmpfs` and `ramfs` in `linux/magic.h`. */
const MEMORY_FILE_SYSTEMS = [0x01_02_19_94, 0x85_84_58_f6];

/** Values in files that only this user can read. */
export interface SecretFiles {
  /** The variables with the paths of the files: `DB_PASSWORD_FILE` for `DB_PASSWORD`. */
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/**
 * Writes values to files in a new folder of a memory file system: of `XDG_RUNTIME_DIR`, or of `/dev/shm`.
 *
 * @throws CommandError where there is no such file system.
 */
export async function writeSecretFiles(
  values: ReadonlyMap<string, Uint8Array>,
  env: Environment,
): Promise<SecretFiles> {
  const folder = await mkdtemp(join(await findMemoryFolder(env), 'trellis-secrets-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await chmod(folder, 0o700);
    const paths = [...values.keys()].map((variable) => [`${variable}_FILE`, join(folder, variable)] as const);
    for (const [variable, value] of values) await writeFile(join(folder, variable), value, { mode: 0o400, flag: 'wx' });
    return { env: Object.fromEntries(paths), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function findMemoryFolder(env: Environment): Promise<string> {
  for (const folder of [nonEmpty(env.XDG_RUNTIME_DIR), '/dev/shm']) {
    if (folder !== undefined && (await isInMemory(folder))) return folder;
  }
  throw new CommandError(
    'Values can be given as files in memory only, and neither XDG_RUNTIME_DIR nor /dev/shm is a memory file system',
    EXIT.failed,
  );
}

const isInMemory = (folder: string): Promise<boolean> =>
  statfs(folder).then(
    ({ type }) => MEMORY_FILE_SYSTEMS.includes(type),
    () => false,
  );
