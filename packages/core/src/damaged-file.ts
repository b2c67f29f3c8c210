/** SQLite files that turned out to be damaged. */
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Damaged files of derived data that remain for a diagnosis. Each may be as large as the file that replaces it. */
const MAX_KEPT = 2;

const MARK = '.damaged-';

/**
 * Moves a damaged SQLite file and its log aside, so that a new one can be created: `site.db` becomes
 * `site.db.damaged-2026-11-21T09-30-00.000Z`.
 *
 * @param kept The number of such files that remain, the newest ones.
 * @returns the new path; `undefined` if the file does not exist.
 */
export function moveDamagedAside(file: string, kept = MAX_KEPT): string | undefined {
  if (!exists(file)) return undefined;
  const target = `${file}${MARK}${new Date().toISOString().replaceAll(':', '-')}`;
  renameSync(file, target);
  if (exists(`${file}-wal`)) renameSync(`${file}-wal`, `${target}-wal`);
  rmSync(`${file}-shm`, { force: true });
  const all = listDamaged(dirname(file)).filter((name) => name.startsWith(basename(file) + MARK));
  for (const name of all.slice(0, Math.max(0, all.length - kept))) {
    for (const suffix of ['', '-wal']) rmSync(join(dirname(file), name + suffix), { force: true });
  }
  return target;
}

/** Lists the damaged files of a folder that were moved aside, without their logs, from the oldest. */
export const listDamaged = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.includes(MARK) && !name.endsWith('-wal'))
    .sort();

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;
