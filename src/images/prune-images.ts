import type { ImageFiles, StoredFile } from './image-files.js';
import type { DerivedImage } from './links.js';

export interface PruneResult {
  readonly files: number;
  readonly bytes: number;
}

export interface PruneOptions {
  /** The images that the stored queries of the site use. */
  readonly used: Iterable<DerivedImage>;
  /** Called for every image before it is removed. */
  readonly onRemove?: (file: StoredFile) => void;
  /** Reports the unused images without removing them. */
  readonly dryRun?: boolean;
}

/**
 * Removes the derived images that are not in `used`, and abandoned temporary files. Links to removed images stay
 * valid, as published pages may contain them: the next GET generates the file again. Can therefore run beside a server.
 */
export async function pruneImages(files: ImageFiles, { used, onRemove, dryRun }: PruneOptions): Promise<PruneResult> {
  const paths = new Set<string>();
  for (const image of used) paths.add(files.toPath(image));
  const removed = { files: 0, bytes: 0 };
  for await (const file of files.list()) {
    if (paths.has(file.path)) continue;
    onRemove?.(file);
    if (!dryRun) await files.remove(file.path);
    removed.files += 1;
    removed.bytes += file.bytes;
  }
  if (!dryRun) await files.removePartial();
  return removed;
}
