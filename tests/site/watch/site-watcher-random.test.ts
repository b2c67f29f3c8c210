import { setTimeout } from 'node:timers/promises';
import { RandomChanges } from '../../../bench/site/random-changes.js';
import { eventually } from '../../eventually.js';
import { WatchedFolder } from './watched-folder.js';

/** Longer runs find more: run this test with `LIVE_SECONDS=60`. */
const SECONDS = Number(process.env.LIVE_SECONDS ?? 6);

const SEED = Number(process.env.LIVE_SEED ?? 20_261_121);

test(
  'a watched site equals a fresh scan after random changes, field by field',
  async () => {
    const folder = new WatchedFolder(['a.md', 'sub/b.png', 'sub/inner/c.md']);
    try {
      await folder.watch();
      const random = new RandomChanges(folder.directory, SEED);
      const end = performance.now() + SECONDS * 1000;
      for (let count = 1; performance.now() < end; count += 1) {
        random.change();
        // Alternates between bursts and single changes.
        if (count % 2000 < 1000 || count % 50 === 0) await setTimeout(count % 7);
      }
      await folder.rest();
      await eventually(async () => {
        const { fresh, live } = await folder.compare();
        expect(live).toEqual(fresh);
      });
      expect(folder.changes.length).toBeGreaterThan(1);
      expect(folder.problems).toEqual([]);
    } finally {
      folder.remove();
    }
  },
  (SECONDS + 180) * 1000,
);
