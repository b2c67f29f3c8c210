import { mkdir, stat } from 'node:fs/promises';

/** What a folder's mode gives to other people of the machine. */
const OTHERS = 0o077;

/**
 * Makes the folder of keys and databases, in which nobody else has any
 * business. One that was there keeps its mode, for it may hold more than ours.
 *
 * @returns Whether other people of the machine may look into it.
 */
export async function openStateFolder(folder: string): Promise<{ readonly isShared: boolean }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  // Windows tells no such modes: there everything is open, or nothing.
  return { isShared: process.platform !== 'win32' && (mode & OTHERS) !== 0 };
}
