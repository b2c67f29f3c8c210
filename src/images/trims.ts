import type { Box } from './boxes.js';
import type { ImageDatabase } from './image-database.js';
import { onceAtATime } from '../in-turn.js';
import type { InTurn } from '../in-turn.js';
import type { ImageMetadata } from './metadata.js';
import { measureTrimmed, weightOf } from './pipeline.js';
import { requireUnchanged } from './source.js';
import type { ImageSource } from './source.js';

/** Where pictures are within their borders: finding that takes all their pixels, so it is done once. */
export interface TrimStore {
  /** As the picture lies in the file, if it was measured before. */
  find(contentDigest: string, amount: number): Box | undefined;
  measure(source: ImageSource, metadata: ImageMetadata, amount: number): Promise<Box>;
}

export function createTrimStore(database: ImageDatabase, pool: InTurn): TrimStore {
  const select = database.prepare('SELECT value FROM trims WHERE picture = ? AND amount = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO trims VALUES (?, ?, ?)');
  const once = onceAtATime<Box>();

  function find(contentDigest: string, amount: number): Box | undefined {
    const row = select.get(contentDigest, String(amount)) as { value: string } | undefined;
    return row && (JSON.parse(row.value) as Box);
  }

  async function measure(source: ImageSource, metadata: ImageMetadata, amount: number): Promise<Box> {
    await requireUnchanged(source);
    const size = await measureTrimmed(source, metadata, amount);
    await requireUnchanged(source);
    insert.run(source.contentDigest, String(amount), JSON.stringify(size));
    return size;
  }

  return {
    find,
    async measure(source, metadata, amount) {
      const key = `${source.contentDigest} ${amount}`;
      const run = () =>
        pool(() => measure(source, metadata, amount), weightOf(metadata, { ...metadata, trim: amount }));
      return find(source.contentDigest, amount) ?? once(key, run);
    },
  };
}
