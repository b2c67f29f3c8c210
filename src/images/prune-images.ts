import type { ImageFiles, StoredFile } from './image-files.js';
import type { DerivedImage } from './links.js';

export interface PruneResult {
  readonly files: number;
  readonly bytes: number;
}

export interface PruneOptions {
  /** What the site's queries ask for. */
  readonly asked: Iterable<DerivedImage>;
  /** Told of every image before it is removed. */
  readonly onRemove?: (file: StoredFile) => void;
  /** Only tells what would be removed. */
  readonly dryRun?: boolean;
}

/**
 * Removes the images that nothing asks for. Their links stay good, as pages
 * out there may have them: the next GET makes them again. That is also why
 * this may run beside a server.
 */
export async function pruneImages(files: ImageFiles, { asked, onRemove, dryRun }: PruneOptions): Promise<PruneResult> {
  const kept = new Set<string>();
  for (const image of asked) kept.add(files.pathOf(image));
  const removed = { files: 0, bytes: 0 };
  for await (const file of files.list()) {
    if (kept.has(file.path)) continue;
    onRemove?.(file);
    if (!dryRun) await files.remove(file.path);
    removed.files += 1;
    removed.bytes += file.bytes;
  }
  if (!dryRun) await files.removePartial();
  return removed;
}
