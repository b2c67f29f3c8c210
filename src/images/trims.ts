import type { Box } from './boxes.js';
import { singleFlight } from '../core/concurrency.js';
import type { ImageMetadata } from './metadata.js';
import type { Quota } from './quota.js';
import type { Renderer } from './render/renderer.js';
import type { ImageSource } from './source.js';

/** The boxes of images within their borders. Measuring one decodes the whole image, so the results are stored. */
export interface TrimStore {
  /** Returns the box in the pixels as stored in the file. */
  measure(source: ImageSource, metadata: ImageMetadata, amount: number): Promise<Box>;
}

export function createTrimStore(values: Quota, renderer: Renderer): TrimStore {
  const once = singleFlight<Box>();
  return {
    async measure(source, header, amount) {
      const key = `${source.contentDigest} trim ${amount}`;
      const found = values.find(key);
      if (found !== undefined) return JSON.parse(found) as Box;
      return once(key, async () => {
        const box = await renderer.run('trim', { source, header, amount });
        const text = JSON.stringify(box);
        await values.put(key, text.length, text);
        return box;
      });
    },
  };
}
