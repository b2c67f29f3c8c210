import { createHash } from 'node:crypto';

import type { Walk } from './walk.js';

export interface Signatures {
  /** By relative path. */
  readonly signatures: ReadonlyMap<string, string>;
  /** Whether every folder has one. */
  readonly complete: boolean;
}

/**
 * One text for each folder, by path: equal when no name, size, time of change
 * or inode of the folder and of what lies directly in it has changed. Comparing
 * them is how an unchanged site starts without reading its records.
 *
 * @param trustedUntil A folder with an entry changed at this time or later (in
 * milliseconds since 1970) gets none: the entry may change again within the
 * same tick of the file system's clock.
 */
export function signFolders({ entries, folders, gone }: Walk, trustedUntil: number): Signatures {
  const signatures = new Map<string, string>();
  for (const { index, from, to } of folders) {
    if (gone.has(index)) continue;
    let names = '';
    let latest = entries.changedMs(index);
    const base = entries.path(index).length + (index === 0 ? 0 : 1);
    for (let entry = from; entry < to; entry += 1) {
      names += `${entries.path(entry).slice(base)}/`;
      latest = Math.max(latest, entries.changedMs(entry));
    }
    const digest = createHash('md5').update(entries.witnesses(index)).update(entries.witnesses(from, to)).update(names);
    if (latest < trustedUntil) signatures.set(entries.path(index), digest.digest('base64url'));
  }
  return { signatures, complete: signatures.size === folders.length };
}
