import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../../config/startup-error.js';
import { EXIT } from '../options.js';
import { nonEmpty } from '../settings.js';
import type { Environment } from '../terminal.js';

/** The types of `tmpfs` and `ramfs` in `linux/magic.h`. */
const MEMORY_FILE_SYSTEMS = [0x01_02_19_94, 0x85_84_58_f6];

/** Values in files that only this user can read. */
export interface SecretFiles {
  /** The variables with the paths of the files: `DB_PASSWORD_FILE` for `DB_PASSWORD`. */
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/**
 * Writes values to files in a new folder in memory.
 *
 * @throws CommandError where there is no memory file system.
 */
export async function writeSecretFiles(
  values: ReadonlyMap<string, Uint8Array>,
  env: Environment,
): Promise<SecretFiles> {
  const memory = await createMemoryFolder(env);
  try {
    const paths = [...values.keys()].map((variable) => [`${variable}_FILE`, join(memory.folder, variable)] as const);
    for (const [variable, value] of values)
      await writeFile(join(memory.folder, variable), value, { mode: 0o400, flag: 'wx' });
    return { env: Object.fromEntries(paths), remove: () => memory.remove() };
  } catch (error) {
    await memory.remove();
    throw error;
  }
}

interface MemoryFolder {
  readonly folder: string;
  /** Deletes the folder, unless {@link MemoryFolder.keep} was called. */
  remove(): Promise<void>;
  /** Leaves the folder, also when this process ends. */
  keep(): void;
}

/**
 * Creates a folder with mode 0700 on a memory file system: in `XDG_RUNTIME_DIR`, or in `/dev/shm`. It is also removed
 * when this process is killed.
 *
 * @throws CommandError where there is no memory file system.
 */
export async function createMemoryFolder(env: Environment): Promise<MemoryFolder> {
  const folder = await mkdtemp(join(await findMemoryFolder(env), 'trellis-secrets-'));
  await chmod(folder, 0o700);
  // Its input ends with this process, also after SIGKILL.
  const guard = spawn('/bin/sh', ['-c', 'cat > /dev/null; rm -rf -- "$0"', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  let isKept = false;
  return {
    folder,
    async remove() {
      if (isKept) return;
      await rm(folder, { recursive: true, force: true });
      guard.stdin.end();
    },
    keep() {
      isKept = true;
      guard.kill('SIGKILL');
    },
  };
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
