import { createHash } from 'node:crypto';

import type { WalkResult } from './walk.js';

export interface Signatures {
  /** The signatures by relative path of the folder. */
  readonly signatures: ReadonlyMap<string, string>;
  /** Whether every folder has a signature. */
  readonly complete: boolean;
}

/**
 * Signs each folder by the names, sizes, times of change and inodes of the folder and of its direct entries. Equal
 * signatures let an unchanged site start without reading its records.
 *
 * @param trustedUntil A folder with an entry that changed at this time (in milliseconds since 1970) or later gets no
 * signature, because the entry may change again within the same tick of the file system's clock.
 */
export function signFolders({ entries, folders, gone }: WalkResult, trustedUntil: number): Signatures {
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
